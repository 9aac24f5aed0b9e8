/** Every error that may cross the wire: one class, and one function for each name that the protocol gives. */

import type { ErrorObject } from './message.ts'

export interface RpcErrorOptions {
  /** Extra facts for the peer; must be JSON. */
  data?: unknown
  /** What led here. Never crosses the wire. */
  cause?: unknown
}

/** An error of the protocol: thrown here it is answered there, answered there it is thrown here. */
export class RpcError extends Error implements ErrorObject {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data?: unknown

  constructor(code: number, message: string, { data, cause }: RpcErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    if (data !== undefined) this.data = data
  }
}

// Each by itself: a bundle has those that it uses, and of the table below all or nothing.
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603
const RESOURCE_NOT_FOUND = -32002
const HEADER_MISMATCH = -32020
const MISSING_REQUIRED_CLIENT_CAPABILITY = -32021
const UNSUPPORTED_PROTOCOL_VERSION = -32022
const URL_ELICITATION_REQUIRED = -32042
const INSUFFICIENT_SCOPE = 403
const USER_REJECTED = -1

export const ErrorCode = {
  ParseError: PARSE_ERROR,
  InvalidRequest: INVALID_REQUEST,
  MethodNotFound: METHOD_NOT_FOUND,
  InvalidParams: INVALID_PARAMS,
  InternalError: INTERNAL_ERROR,
  /** Legacy era only. */
  ResourceNotFound: RESOURCE_NOT_FOUND,
  HeaderMismatch: HEADER_MISMATCH,
  MissingRequiredClientCapability: MISSING_REQUIRED_CLIENT_CAPABILITY,
  UnsupportedProtocolVersion: UNSUPPORTED_PROTOCOL_VERSION,
  /** 2025-11-25 only. */
  UrlElicitationRequired: URL_ELICITATION_REQUIRED,
  /** The caller lacks scopes; see `insufficientScope`. */
  InsufficientScope: INSUFFICIENT_SCOPE,
  /** Legacy era only: the user said no to a sampling request. */
  UserRejected: USER_REJECTED,
} as const

const NAME_LIMIT = 100

/** A name that a peer sent, quoted and shortened so that it is safe to print. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > NAME_LIMIT ? `${name.slice(0, NAME_LIMIT)}…` : name)
}

/** The text is not JSON. */
export function parseError(message = 'The text is not valid JSON', options?: RpcErrorOptions): RpcError {
  return new RpcError(PARSE_ERROR, message, options)
}

/** The JSON is not a JSON-RPC message, or not one that may come now. */
export function invalidRequest(message: string, options?: RpcErrorOptions): RpcError {
  return new RpcError(INVALID_REQUEST, message, options)
}

/** No such method on this wire. */
export function methodNotFound(method: string): RpcError {
  return new RpcError(METHOD_NOT_FOUND, `Method not found: ${quoted(method)}`)
}

/** The parameters do not fit; the message says where and what was expected. */
export function invalidParams(message: string, options?: RpcErrorOptions): RpcError {
  return new RpcError(INVALID_PARAMS, message, options)
}

/** Something broke on the answering side. The message must be safe to show to the peer. */
export function internalError(message = 'Internal error', options?: RpcErrorOptions): RpcError {
  return new RpcError(INTERNAL_ERROR, message, options)
}

/** No such resource. Newer revisions answer with invalid parameters, older ones with a code of their own. */
export function resourceNotFound(uri: string, era: 'legacy' | 'modern'): RpcError {
  const code = era === 'legacy' ? RESOURCE_NOT_FOUND : INVALID_PARAMS
  return new RpcError(code, `Resource not found: ${quoted(uri)}`, { data: { uri } })
}

/** A header says something else than the body. */
export function headerMismatch(message: string): RpcError {
  return new RpcError(HEADER_MISMATCH, message)
}

/** The request needs something that the client did not declare, such as `{ elicitation: { url: {} } }`. */
export function missingClientCapability(
  required: object,
  message = `The client must declare: ${capabilityPaths(required).join(', ')}`,
): RpcError {
  return new RpcError(MISSING_REQUIRED_CLIENT_CAPABILITY, message, { data: { requiredCapabilities: required } })
}

/** The revision asked for is not served here; `supported` are those that are. */
export function unsupportedVersion(requested: string, supported: readonly string[]): RpcError {
  const message = `Unsupported protocol version ${quoted(requested)}; supported: ${supported.join(', ')}`
  return new RpcError(UNSUPPORTED_PROTOCOL_VERSION, message, { data: { supported: [...supported], requested } })
}

/**
 * The caller needs all of these scopes for what it asked; those that it holds are among them. A carrier that has a
 * challenge for it, such as HTTP with status 403, sends that along. The protocol gives it no code of its own, and keeps
 * -32768 to -32000 for codes that it gives, so this one stands outside, and is named like the HTTP status.
 */
export function insufficientScope(scopes: readonly string[]): RpcError {
  const text = `The caller needs the scope${scopes.length === 1 ? '' : 's'} ${scopes.map(quoted).join(', ')}`
  return new RpcError(INSUFFICIENT_SCOPE, text, { data: { requiredScopes: [...scopes] } })
}

/** The user must visit these URLs first; 2025-11-25 only. */
export function urlElicitationRequired(
  elicitations: readonly object[],
  message = 'The request needs the user to visit a URL first',
): RpcError {
  return new RpcError(URL_ELICITATION_REQUIRED, message, { data: { elicitations: [...elicitations] } })
}

/** The user declined a sampling request; legacy era only. */
export function userRejected(message = 'The user rejected the request'): RpcError {
  return new RpcError(USER_REJECTED, message)
}

/** The error of a response as something to throw. */
export function toRpcError(error: ErrorObject): RpcError {
  return new RpcError(error.code, error.message, { data: error.data })
}

function capabilityPaths(required: object): string[] {
  return Object.entries(required).flatMap(([key, value]) => {
    const inner = typeof value === 'object' && value !== null ? capabilityPaths(value) : []
    return inner.length === 0 ? [key] : inner.map((path) => `${key}.${path}`)
  })
}
