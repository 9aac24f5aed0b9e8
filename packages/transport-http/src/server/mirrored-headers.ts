/**
 * Holds the headers of a modern request against its body. Routers act on the headers and servers on the body: the two
 * must say the same. The one file of the server that looks inside `params`.
 */

import {
  eraOf,
  headerMismatch,
  invalidParams,
  isRevision,
  type JsonObject,
  PROTOCOL_VERSION_KEY,
  quoted,
  type RequestMessage,
  type RpcError,
  readEnvelope,
  revisionsOf,
  unsupportedVersion,
} from '@mcpx/protocol'
import { METHOD_HEADER, NAME_HEADER, NAME_PARAMETERS, PARAM_HEADER_PREFIX, VERSION_HEADER } from '../headers.ts'
import type { HttpRequest } from './http-request.ts'
import type { MirroredArgument } from './mirrored-arguments.ts'

/** What is wrong with the envelope of a request, its revision, or the headers that say the same. */
export function envelopeProblem({ method, params = {} }: RequestMessage, from: HttpRequest): RpcError | undefined {
  const envelope = readEnvelope(params)
  if (typeof envelope === 'string') return invalidParams(envelope)
  const { protocolVersion } = envelope
  const version = from.header(VERSION_HEADER)
  if (version === null) return missing('MCP-Protocol-Version', `params._meta["${PROTOCOL_VERSION_KEY}"]`)
  if (version !== protocolVersion) return differs('MCP-Protocol-Version', version, protocolVersion)
  if (!isRevision(protocolVersion) || eraOf(protocolVersion) !== 'modern') {
    return unsupportedVersion(protocolVersion, revisionsOf('modern'))
  }
  return methodProblem(method, from) ?? nameProblem(method, params, from)
}

function methodProblem(method: string, from: HttpRequest): RpcError | undefined {
  const header = from.header(METHOD_HEADER)
  if (header === null) return missing('Mcp-Method', 'method')
  return header === method ? undefined : differs('Mcp-Method', header, method)
}

function nameProblem(method: string, params: JsonObject, from: HttpRequest): RpcError | undefined {
  const parameter = NAME_PARAMETERS.get(method)
  const name = parameter === undefined ? undefined : params[parameter]
  // A name that is no string is for the server to refuse.
  if (parameter === undefined || typeof name !== 'string') return undefined
  const header = from.header(NAME_HEADER)
  if (header === null) return missing('Mcp-Name', `params.${parameter}`)
  const said = decodeHeaderValue(header)
  if (said === undefined) return headerMismatch('Header mismatch: Mcp-Name is not valid base64 of UTF-8')
  return said === name ? undefined : differs('Mcp-Name', said, name)
}

/** The tool whose arguments may travel as headers; nothing when the request calls none. */
export function calledTool({ method, params }: RequestMessage): string | undefined {
  return method === 'tools/call' && typeof params?.name === 'string' ? params.name : undefined
}

/** What is wrong with the headers that say the same as arguments. Arguments that are absent need no header. */
export function argumentsProblem(
  { params }: RequestMessage,
  from: HttpRequest,
  mirrored: readonly MirroredArgument[],
): RpcError | undefined {
  for (const argument of mirrored) {
    const value = argument.path.reduce<unknown>(memberOf, params?.arguments)
    const problem = argumentProblem(argument, value, from)
    if (problem !== undefined) return problem
  }
  return undefined
}

function argumentProblem({ header, path }: MirroredArgument, value: unknown, from: HttpRequest): RpcError | undefined {
  // What is no scalar does not fit the schema either: that is for the server to say.
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
  const name = `Mcp-Param-${header}`
  const sent = from.header(PARAM_HEADER_PREFIX + header.toLowerCase())
  if (sent === null) return missing(name, `params.arguments.${path.join('.')}`)
  const said = decodeHeaderValue(sent)
  if (said === undefined) return headerMismatch(`Header mismatch: ${name} is not valid base64 of UTF-8`)
  return isSame(said, value) ? undefined : differs(name, said, String(value))
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Numbers are the same by value: `42.0` is 42. */
function isSame(said: string, value: string | number | boolean): boolean {
  if (typeof value === 'number') return NUMBER.test(said) && Number(said) === value
  return said === String(value)
}

function memberOf(value: unknown, key: string): unknown {
  const isHolder = typeof value === 'object' && value !== null && Object.hasOwn(value, key)
  return isHolder ? (value as JsonObject)[key] : undefined
}

function missing(header: string, member: string): RpcError {
  return headerMismatch(`Header mismatch: ${header} is missing; it must say the same as ${member}`)
}

function differs(header: string, said: string, expected: string): RpcError {
  return headerMismatch(`Header mismatch: ${header} says ${quoted(said)}, the body says ${quoted(expected)}`)
}

/** What a value is put between that is base64 of UTF-8. */
const PREFIX = '=?base64?'
const SUFFIX = '?='

/** The text that a header value stands for; nothing when it is marked as base64 and is none. */
function decodeHeaderValue(value: string): string | undefined {
  const isMarked = value.length >= PREFIX.length + SUFFIX.length && value.startsWith(PREFIX) && value.endsWith(SUFFIX)
  if (!isMarked) return value
  const payload = value.slice(PREFIX.length, -SUFFIX.length)
  try {
    const binary = atob(payload)
    // `atob` also takes white space and missing padding; what it gives must be written as it was sent.
    if (btoa(binary) !== payload) return undefined
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
