/** The headers that repeat parts of a request, so that what stands between can route it without reading its body. */

import { ConnectionError, type JsonObject, type NotificationMessage, quoted, type RequestMessage } from '@mcpx/protocol'
import { METHOD_HEADER, NAME_HEADER, NAME_PARAMETERS, PARAM_HEADER_PREFIX, VERSION_HEADER } from '../headers.ts'
import type { Annotation } from './annotations.ts'

export type MirroredHeaders = Record<string, string>

export interface Mirror {
  /** The headers of a message of this revision; those of a tool's arguments by the newest list that named the tool. */
  headersOf(message: RequestMessage | NotificationMessage, revision: string | undefined): MirroredHeaders
  /** Remembers the tools of a list; gives the list without those whose annotations cannot be kept to. */
  learn(result: JsonObject): Promise<JsonObject>
}

/** How many tools may have annotations that are remembered; of more the oldest are forgotten. */
const MOST_TOOLS = 10_000

export function createMirror(report: (problem: Error) => void): Mirror {
  const tools = new Map<string, readonly Annotation[]>()

  function remember(name: string, found: readonly Annotation[]): void {
    tools.delete(name)
    if (found.length === 0) return
    if (tools.size >= MOST_TOOLS) tools.delete(tools.keys().next().value as string)
    tools.set(name, found)
  }

  return {
    headersOf({ method, params = {} }, revision) {
      const headers: MirroredHeaders = { [METHOD_HEADER]: method }
      if (revision !== undefined) headers[VERSION_HEADER] = revision
      const key = NAME_PARAMETERS.get(method)
      const name = key === undefined ? undefined : params[key]
      if (typeof name === 'string') headers[NAME_HEADER] = encodeValue(name)
      const found = method === 'tools/call' ? tools.get(name as string) : undefined
      for (const { header, path } of found ?? []) {
        const value = valueAt(params.arguments, path)
        if (value !== undefined) headers[PARAM_HEADER_PREFIX + header] = encodeValue(value)
      }
      return headers
    },
    async learn(result) {
      if (!Array.isArray(result.tools)) return result
      if (tools.size === 0 && !JSON.stringify(result.tools).includes(ANNOTATION)) return result
      const { readAnnotations } = await import('./annotations.ts')
      const kept = result.tools.filter((tool) => {
        const { name, inputSchema } = isObject(tool) ? tool : {}
        if (typeof name !== 'string' || !isObject(inputSchema)) return true
        const found = readAnnotations(inputSchema)
        remember(name, typeof found === 'string' ? [] : found)
        if (typeof found === 'string') report(leftOut(name, found))
        return typeof found !== 'string'
      })
      return kept.length === result.tools.length ? result : { ...result, tools: kept }
    },
  }
}

/** Whether a list has the tool that is called. */
export function isCalledIn({ tools }: JsonObject, { params }: RequestMessage): boolean {
  return Array.isArray(tools) && tools.some((tool) => isObject(tool) && tool.name === params?.name)
}

function leftOut(name: string, problem: string): ConnectionError {
  const hint = 'Its author has to correct the schema; until then the tool cannot be called over HTTP.'
  return new ConnectionError('invalid-message', `The tool ${quoted(name)} was left out. ${problem}`, { hint })
}

type Mirrored = string | number | boolean

/** The value at exactly this path of own properties; nothing where it is absent, null, or of no kind that is mirrored. */
function valueAt(holder: unknown, path: readonly string[]): Mirrored | undefined {
  let value = holder
  for (const key of path) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return isMirrored(value) ? value : undefined
}

function isMirrored(value: unknown): value is Mirrored {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** Few servers have it, so that what reads it is loaded by the first that does. */
const ANNOTATION = 'x-mcp-header'

const START = '=?base64?'
const END = '?='
/** Visible characters, with spaces inside only. */
const PLAIN = /^(?:[!-~](?:[ -~]*[!-~])?)?$/

/** A value as a header can hold it: as it is, or in Base64 where that would be changed or misread on the way. */
export function encodeValue(value: Mirrored): string {
  // Large integers are written out: a header has no exponents.
  const text = typeof value === 'number' && Number.isInteger(value) ? BigInt(value).toString() : String(value)
  if (PLAIN.test(text) && !(text.startsWith(START) && text.endsWith(END))) return text
  let bytes = ''
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte)
  return `${START}${btoa(bytes)}${END}`
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
