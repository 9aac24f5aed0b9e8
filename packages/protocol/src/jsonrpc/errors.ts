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

export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  /** Legacy era only. */
  ResourceNotFound: -32002,
  HeaderMismatch: -32020,
  MissingRequiredClientCapability: -32021,
  UnsupportedProtocolVersion: -32022,
  /** 2025-11-25 only. */
  UrlElicitationRequired: -32042,
  /** The caller lacks scopes; see `insufficientScope`. */
  InsufficientScope: 403,
  /** Legacy era only: the user said no to a sampling request. */
  UserRejected: -1,
} as const

const NAME_LIMIT = 100

/** A name that a peer sent, quoted and shortened so that it is safe to print. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > NAME_LIMIT ? `${name.slice(0, NAME_LIMIT)}…` : name)
}

/** The text is not JSON. */
export function parseError(message = 'The text is not valid JSON', options?: RpcErrorOptions): RpcError {
  return new RpcError(ErrorCode.ParseError, message, options)
}

/** The JSON is not a JSON-RPC message, or not one that may come now. */
export function invalidRequest(message: string, options?: RpcErrorOptions): RpcError {
  return new RpcError(ErrorCode.InvalidRequest, message, options)
}

/** No such method on this wire. */
export function methodNotFound(method: string): RpcError {
  return new RpcError(ErrorCode.MethodNotFound, `Method not found: ${quoted(method)}`)
}

/** The parameters do not fit; the message says where and what was expected. */
export function invalidParams(message: string, options?: RpcErrorOptions): RpcError {
  return new RpcError(ErrorCode.InvalidParams, message, options)
}

/** Something broke on the answering side. The message must be safe to show to the peer. */
export function internalError(message = 'Internal error', options?: RpcErrorOptions): RpcError {
  return new RpcError(ErrorCode.InternalError, message, options)
}

/** No such resource. Newer revisions answer with invalid parameters, older ones with a code of their own. */
export function resourceNotFound(uri: string, era: 'legacy' | 'modern'): RpcError {
  const code = era === 'legacy' ? ErrorCode.ResourceNotFound : ErrorCode.InvalidParams
  return new RpcError(code, `Resource not found: ${quoted(uri)}`, { data: { uri } })
}

/** A header says something else than the body. */
export function headerMismatch(message: string): RpcError {
  return new RpcError(ErrorCode.HeaderMismatch, message)
}

/** The request needs something that the client did not declare, such as `{ elicitation: { url: {} } }`. */
export function missingClientCapability(
  required: object,
  message = `The client must declare: ${capabilityPaths(required).join(', ')}`,
): RpcError {
  return new RpcError(ErrorCode.MissingRequiredClientCapability, message, { data: { requiredCapabilities: required } })
}

/** The revision asked for is not served here; `supported` are those that are. */
export function unsupportedVersion(requested: string, supported: readonly string[]): RpcError {
  const message = `Unsupported protocol version ${quoted(requested)}; supported: ${supported.join(', ')}`
  return new RpcError(ErrorCode.UnsupportedProtocolVersion, message, { data: { supported: [...supported], requested } })
}

/**
 * The caller needs all of these scopes for what it asked; those that it holds are among them. A carrier that has a
 * challenge for it, such as HTTP with status 403, sends that along. The protocol gives it no code of its own, and keeps
 * -32768 to -32000 for codes that it gives, so this one stands outside, and is named like the HTTP status.
 */
export function insufficientScope(scopes: readonly string[]): RpcError {
  const text = `The caller needs ${scopes.length === 1 ? 'the scope' : 'the scopes'} ${scopes.map(quoted).join(', ')}`
  return new RpcError(ErrorCode.InsufficientScope, text, { data: { requiredScopes: [...scopes] } })
}

/** The user must visit these URLs first; 2025-11-25 only. */
export function urlElicitationRequired(
  elicitations: readonly object[],
  message = 'The request needs the user to visit a URL first',
): RpcError {
  return new RpcError(ErrorCode.UrlElicitationRequired, message, { data: { elicitations: [...elicitations] } })
}

/** The user declined a sampling request; legacy era only. */
export function userRejected(message = 'The user rejected the request'): RpcError {
  return new RpcError(ErrorCode.UserRejected, message)
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
