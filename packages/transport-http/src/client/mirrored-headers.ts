/** The headers that repeat parts of a request, so that what stands between can route it without reading its body. */

import { ConnectionError, type JsonObject, type NotificationMessage, quoted, type RequestMessage } from '@mcpx/protocol'
import { METHOD_HEADER, NAME_HEADER, PARAM_HEADER_PREFIX, VERSION_HEADER } from '../headers.ts'

export type MirroredHeaders = Record<string, string>

export interface Mirror {
  /** The headers of a message of this revision; those of a tool's arguments by the newest list that named the tool. */
  headersOf(message: RequestMessage | NotificationMessage, revision: string | undefined): MirroredHeaders
  /** Remembers the tools of a list; gives the list without those whose annotations cannot be kept to. */
  learn(result: JsonObject): JsonObject
}

/** How many tools may have annotations that are remembered; of more the oldest are forgotten. */
const MOST_TOOLS = 10_000

/** What names the thing that a request is about. */
const names: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

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
      const key = Object.hasOwn(names, method) ? names[method] : undefined
      const name = key === undefined ? undefined : params[key]
      if (typeof name === 'string') headers[NAME_HEADER] = encodeValue(name)
      const found = method === 'tools/call' ? tools.get(name as string) : undefined
      for (const { header, path } of found ?? []) {
        const value = valueAt(params.arguments, path)
        if (value !== undefined) headers[PARAM_HEADER_PREFIX + header] = encodeValue(value)
      }
      return headers
    },
    learn(result) {
      if (!Array.isArray(result.tools)) return result
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

/** An argument that travels as a header too. */
interface Annotation {
  readonly header: string
  readonly path: readonly string[]
}

const ANNOTATION = 'x-mcp-header'
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean']
/** A schema may nest this deep. */
const MOST_LEVELS = 64

/** Keywords that hold schemas by name, and those that hold one schema or a list. All others hold data. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])
const DIRECT = new Set(
  (
    'items prefixItems additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties ' +
    'propertyNames not if then else contentSchema allOf anyOf oneOf'
  ).split(' '),
)

/** The annotations of a tool's input, or what is wrong with one of them. */
export function readAnnotations(schema: JsonObject): readonly Annotation[] | string {
  const found = new Map<string, Annotation>()

  /** `path` is absent where a value cannot be told from the arguments alone. */
  function visit(node: unknown, path: readonly string[] | undefined, level: number): string | undefined {
    if (!isObject(node)) return undefined
    if (level > MOST_LEVELS) return `Its input schema nests deeper than ${MOST_LEVELS} levels`
    const problem = Object.hasOwn(node, ANNOTATION) ? add(node, path) : undefined
    return problem ?? firstProblem(childrenOf(node, path), (child) => visit(child.node, child.path, level + 1))
  }

  function add(node: JsonObject, path: readonly string[] | undefined): string | undefined {
    const header = node[ANNOTATION]
    const where = path?.length ? `Its argument ${quoted(path.join('.'))}` : 'A part of its input schema'
    if (!path?.length) return `${where} has ${ANNOTATION}, which belongs to properties within properties alone`
    if (typeof header !== 'string' || !TOKEN.test(header)) return `${where} has an ${ANNOTATION} that names no header`
    if (!TYPES.includes(node.type)) {
      return `${where} has ${ANNOTATION}, for which its type must be string, integer or boolean`
    }
    if (found.has(header.toLowerCase())) return `${where} has the ${ANNOTATION} of another argument`
    found.set(header.toLowerCase(), { header, path })
    return undefined
  }

  return visit(schema, [], 0) ?? [...found.values()]
}

interface Child {
  readonly node: unknown
  readonly path: readonly string[] | undefined
}

function childrenOf(node: JsonObject, path: readonly string[] | undefined): Child[] {
  return Object.entries(node).flatMap(([keyword, value]): Child[] => {
    if (NAMED.has(keyword) && isObject(value)) {
      const isPlain = keyword === 'properties' && path !== undefined
      return Object.entries(value).map(([name, each]) => ({ node: each, path: isPlain ? [...path, name] : undefined }))
    }
    if (!DIRECT.has(keyword)) return []
    return (Array.isArray(value) ? value : [value]).map((each) => ({ node: each, path: undefined }))
  })
}

function firstProblem<T>(items: readonly T[], look: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = look(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
