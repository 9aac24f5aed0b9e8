/** Receives spans as OTLP in JSON, and writes them in the format of files that the user interface of Jaeger opens. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string; readonly boolValue?: boolean }
}

interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes?: readonly Attribute[]
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status?: { readonly code?: number; readonly message?: string }
}

interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[]
  }[]
}

export interface CollectedSpan extends OtlpSpan {
  readonly service: string
}

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer']

/** Starts a collector on a free port. */
export async function startCollector() {
  const spans: CollectedSpan[] = []
  const http = createServer(async (request, response) => {
    const { resourceSpans } = (await json(request)) as Request
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? 'unknown'
      spans.push(...scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, service }))))
    }
    response.setHeader('content-type', 'application/json').end('{}')
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1/traces`, spans, close: () => http.close() }
}

/** Returns a trace as lines, indented by depth, with children in the order in which they started. */
export function treeOf(spans: readonly CollectedSpan[], parent?: string, depth = 0): string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const isChild = ({ parentSpanId = '' }: CollectedSpan) =>
    parent === undefined ? !ids.has(parentSpanId) : parentSpanId === parent
  return spans
    .filter(isChild)
    .sort((a, b) => (BigInt(a.startTimeUnixNano) < BigInt(b.startTimeUnixNano) ? -1 : 1))
    .flatMap((span) => [
      `${'  '.repeat(depth)}${span.service}: ${span.name} (${KINDS[span.kind]})`,
      ...treeOf(spans, span.spanId, depth + 1),
    ])
}

/** Converts spans to a file for "JSON file" in the search of Jaeger. */
export function toJaeger(spans: readonly CollectedSpan[]) {
  const services = [...new Set(spans.map(({ service }) => service))]
  const processes = services.map((serviceName, index) => [`p${index + 1}`, { serviceName, tags: [] }])
  const traceIds = [...new Set(spans.map(({ traceId }) => traceId))]
  const data = traceIds.map((traceID) => ({
    traceID,
    spans: spans.filter(({ traceId }) => traceId === traceID).map((span) => toJaegerSpan(span, services)),
    processes: Object.fromEntries(processes),
  }))
  return { data }
}

function toJaegerSpan(span: CollectedSpan, services: readonly string[]) {
  const { traceId, spanId, parentSpanId, name, kind, attributes = [], links = [], status } = span
  const parents = parentSpanId ? [{ refType: 'CHILD_OF', traceID: traceId, spanID: parentSpanId }] : []
  const others = links.map((link) => ({ refType: 'FOLLOWS_FROM', traceID: link.traceId, spanID: link.spanId }))
  const tags = attributes.map(({ key, value: { stringValue, intValue, boolValue } }) => {
    if (stringValue !== undefined) return { key, type: 'string', value: stringValue }
    return intValue === undefined
      ? { key, type: 'bool', value: boolValue }
      : { key, type: 'int64', value: Number(intValue) }
  })
  tags.push({ key: 'span.kind', type: 'string', value: KINDS[kind] ?? '' })
  if (status?.code === 2) tags.push({ key: 'error', type: 'bool', value: true })
  const startTime = Number(BigInt(span.startTimeUnixNano) / 1_000n)
  const duration = Number(BigInt(span.endTimeUnixNano) / 1_000n) - startTime
  return {
    traceID: traceId,
    spanID: spanId,
    operationName: name,
    references: [...parents, ...others],
    startTime,
    duration,
    tags,
    logs: [],
    processID: `p${services.indexOf(span.service) + 1}`,
  }
}
