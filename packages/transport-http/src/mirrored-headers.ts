/**
 * The headers of a modern request that repeat parts of its body, so that routers need not read the body. The client
 * writes these headers; the server compares them with the body.
 */

import {
  type Envelope,
  eraOf,
  headerMismatch,
  invalidParams,
  isObject,
  isRevision,
  type JsonObject,
  type JsonSchema,
  type NotificationMessage,
  PROTOCOL_VERSION_KEY,
  quoted,
  type RequestMessage,
  type RpcError,
  readEnvelope,
  revisionsOf,
  unsupportedVersion,
} from '@mcpx/protocol'
import { METHOD_HEADER, NAME_HEADER, NAME_PARAMETERS, PARAM_HEADER_PREFIX, VERSION_HEADER } from './headers.ts'

/** The member of a property's schema that names the header for its value. */
export const ANNOTATION = 'x-mcp-header'

/** An argument of a tool that is repeated in a header. */
export interface MirroredArgument {
  /** The header's name after `Mcp-Param-`, as the schema writes it. */
  readonly header: string
  /** The path of the value in the arguments: a list of member names. */
  readonly path: readonly string[]
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const MIRRORED_TYPES: readonly unknown[] = ['string', 'integer', 'boolean']
/** The deepest nesting of schemas that the client accepts. */
const MAX_LEVELS = 64
/** The deepest level at which the server reads annotations. It is limited because a schema in memory may be cyclic. */
const MAX_SERVER_LEVELS = 32

/** Returns the mirrored arguments of a tool's input schema, or a sentence that describes the error in the schema. */
export function checkAnnotations(schema: JsonObject): readonly MirroredArgument[] | string {
  const found = new Map<string, MirroredArgument>()
  for (const { node, path, level } of subschemasOf(schema, [], 0)) {
    if (level > MAX_LEVELS) return `Its input schema nests deeper than ${MAX_LEVELS} levels`
    if (!Object.hasOwn(node, ANNOTATION)) continue
    const header = node[ANNOTATION]
    const where = path?.length ? `Its argument ${quoted(path.join('.'))}` : 'A part of its input schema'
    if (!path?.length) return `${where} has ${ANNOTATION}, which is allowed only on properties`
    if (typeof header !== 'string' || !HEADER_NAME.test(header)) {
      return `${where} has an ${ANNOTATION} that is not a valid header name`
    }
    if (!MIRRORED_TYPES.includes(node.type)) {
      return `${where} has ${ANNOTATION}, for which its type must be string, integer or boolean`
    }
    if (found.has(header.toLowerCase())) return `${where} has the same ${ANNOTATION} as another argument`
    found.set(header.toLowerCase(), { header, path })
  }
  return [...found.values()]
}

/** The results of `mirroredArguments` by schema. */
const mirroredBySchema = new WeakMap<object, readonly MirroredArgument[]>()

/** Returns the mirrored arguments of a tool's input schema. Ignores annotations that are not valid. */
function mirroredArguments(schema: JsonSchema | undefined): readonly MirroredArgument[] {
  if (typeof schema !== 'object') return []
  let found = mirroredBySchema.get(schema)
  if (found === undefined) {
    found = annotatedProperties(schema, [])
    mirroredBySchema.set(schema, found)
  }
  return found
}

function annotatedProperties({ properties }: JsonObject, path: readonly string[]): MirroredArgument[] {
  if (!isObject(properties) || path.length >= MAX_SERVER_LEVELS) return []
  return Object.entries(properties).flatMap(([name, property]) => {
    if (!isObject(property)) return []
    const header = property[ANNOTATION]
    const childPath = [...path, name]
    const inner = annotatedProperties(property, childPath)
    return typeof header === 'string' ? [{ header, path: childPath }, ...inner] : inner
  })
}

interface Subschema {
  readonly node: JsonObject
  /** The path of the value: a list of member names. Undefined if the path contains other keywords than `properties`. */
  readonly path: readonly string[] | undefined
  readonly level: number
}

/** Keywords whose value is an object of schemas. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])
/** Keywords whose value is one schema or a list of schemas. The values of all other keywords contain no schemas. */
const DIRECT = new Set(
  (
    'items prefixItems additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties ' +
    'propertyNames not if then else contentSchema allOf anyOf oneOf'
  ).split(' '),
)

/** Yields a schema and the schemas below it, parents before children. Stops at the first level that is too deep. */
function* subschemasOf(node: unknown, path: Subschema['path'], level: number): Generator<Subschema> {
  if (!isObject(node) || level > MAX_LEVELS + 1) return
  yield { node, path, level }
  for (const [keyword, value] of Object.entries(node)) {
    if (NAMED.has(keyword) && isObject(value)) {
      for (const [name, child] of Object.entries(value)) {
        const childPath = keyword === 'properties' && path !== undefined ? [...path, name] : undefined
        yield* subschemasOf(child, childPath, level + 1)
      }
    } else if (DIRECT.has(keyword)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        yield* subschemasOf(child, undefined, level + 1)
      }
    }
  }
}

/** Returns the headers of a modern message. Arguments without a value have no header. */
export function mirroredHeaders(
  message: RequestMessage | NotificationMessage,
  revision: string | undefined,
  mirrored: readonly MirroredArgument[] = [],
): Record<string, string> {
  const { method, params = {} } = message
  const headers: Record<string, string> = { [METHOD_HEADER]: method }
  if (revision !== undefined) headers[VERSION_HEADER] = revision
  const parameter = NAME_PARAMETERS.get(method)
  const name = parameter === undefined ? undefined : params[parameter]
  if (typeof name === 'string') headers[NAME_HEADER] = encodeValue(name)
  for (const { header, path } of mirrored) {
    const value = valueAt(params.arguments, path)
    if (value !== undefined) headers[PARAM_HEADER_PREFIX + header] = encodeValue(value)
  }
  return headers
}

/** Reads one header of a request; the name is in lower case. */
export interface HeaderSource {
  header(name: string): string | null | undefined
}

/** Returns the envelope of a request, or an error if the envelope, its revision or the repeated headers are invalid. */
export function checkEnvelope({ method, params = {} }: RequestMessage, from: HeaderSource): Envelope | RpcError {
  const envelope = readEnvelope(params)
  if (typeof envelope === 'string') return invalidParams(envelope)
  const { protocolVersion } = envelope
  const version = from.header(VERSION_HEADER)
  if (typeof version !== 'string') return missing('MCP-Protocol-Version', `params._meta["${PROTOCOL_VERSION_KEY}"]`)
  if (version !== protocolVersion) return differs('MCP-Protocol-Version', version, protocolVersion)
  if (!isRevision(protocolVersion) || eraOf(protocolVersion) !== 'modern') {
    return unsupportedVersion(protocolVersion, revisionsOf('modern'))
  }
  const sentMethod = from.header(METHOD_HEADER)
  if (typeof sentMethod !== 'string') return missing('Mcp-Method', 'method')
  if (sentMethod !== method) return differs('Mcp-Method', sentMethod, method)
  const parameter = NAME_PARAMETERS.get(method)
  const name = parameter === undefined ? undefined : params[parameter]
  // The server rejects a name that is not a string when it checks the parameters.
  if (typeof name !== 'string') return envelope
  return valueProblem('Mcp-Name', from.header(NAME_HEADER), name, `params.${parameter}`) ?? envelope
}

/** Returns the name of the tool that a request calls; undefined for all other requests. */
export function calledTool({ method, params }: RequestMessage | NotificationMessage): string | undefined {
  return method === 'tools/call' && typeof params?.name === 'string' ? params.name : undefined
}

/** Returns an error if a header does not match its argument; otherwise undefined. Absent arguments need no header. */
export function argumentsProblem(
  { params }: RequestMessage,
  from: HeaderSource,
  inputSchema: JsonSchema | undefined,
): RpcError | undefined {
  for (const { header, path } of mirroredArguments(inputSchema)) {
    const value = valueAt(params?.arguments, path)
    if (value === undefined) continue
    const sent = from.header(PARAM_HEADER_PREFIX + header.toLowerCase())
    const problem = valueProblem(`Mcp-Param-${header}`, sent, value, `params.arguments.${path.join('.')}`)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Returns an error if a header does not have the expected value. `member` is the place of that value in the body. */
function valueProblem(
  header: string,
  sent: string | null | undefined,
  expected: MirroredValue,
  member: string,
): RpcError | undefined {
  if (typeof sent !== 'string') return missing(header, member)
  const decoded = decodeValue(sent)
  if (decoded === undefined) return headerMismatch(`Header mismatch: ${header} is not valid base64 of UTF-8`)
  // Numbers are compared by value: `42.0` is 42.
  const isSame = typeof expected === 'number' ? toNumber(decoded) === expected : decoded === String(expected)
  return isSame ? undefined : differs(header, decoded, String(expected))
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function toNumber(text: string): number | undefined {
  return NUMBER.test(text) ? Number(text) : undefined
}

function missing(header: string, member: string): RpcError {
  return headerMismatch(`Header mismatch: ${header} is missing; it must equal ${member}`)
}

function differs(header: string, sent: string, expected: string): RpcError {
  return headerMismatch(`Header mismatch: ${header} is ${quoted(sent)}, but the body has ${quoted(expected)}`)
}

type MirroredValue = string | number | boolean

/** Returns the scalar at a path of own properties. Returns undefined if it is missing or not a scalar. */
function valueAt(holder: unknown, path: readonly string[]): MirroredValue | undefined {
  let value = holder
  for (const key of path) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}

/** The beginning of a header value that is Base64 of UTF-8. */
const BASE64_START = '=?base64?'
const BASE64_END = '?='
/** Visible characters, with spaces only between them. */
const PLAIN = /^(?:[!-~](?:[ -~]*[!-~])?)?$/

/** Encodes a value for a header. Uses Base64 if the plain string would be changed in transit or misread. */
export function encodeValue(value: MirroredValue): string {
  // Large integers are written without an exponent.
  const text = typeof value === 'number' && Number.isInteger(value) ? BigInt(value).toString() : String(value)
  if (PLAIN.test(text) && !(text.startsWith(BASE64_START) && text.endsWith(BASE64_END))) return text
  const binary = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('')
  return `${BASE64_START}${btoa(binary)}${BASE64_END}`
}

/** Decodes a header value; returns undefined when it is marked as Base64 and is not valid Base64 of UTF-8. */
function decodeValue(value: string): string | undefined {
  const isMarked =
    value.length >= BASE64_START.length + BASE64_END.length &&
    value.startsWith(BASE64_START) &&
    value.endsWith(BASE64_END)
  if (!isMarked) return value
  const payload = value.slice(BASE64_START.length, -BASE64_END.length)
  try {
    const binary = atob(payload)
    // `atob` also accepts white space and missing padding.
    if (btoa(binary) !== payload) return undefined
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
