/** The errors of the protocol, which a peer sends, and the errors of a connection, which this side finds. */

import { quoted } from './json.ts'

/** The error member of a response. */
export interface ErrorObject {
  /** The JSON-RPC error code; those of the protocol are in `ErrorCode`. */
  code: number
  /** One sentence for people. */
  message: string
  /** Facts for the peer. */
  data?: unknown
}

/** Options of `RpcError`. */
export interface RpcErrorOptions {
  /** Facts for the peer; must be JSON. */
  data?: unknown
  /** The error behind this one. Never sent to the peer. */
  cause?: unknown
}

/**
 * An error of the protocol: thrown by a handler, it is sent to the peer; sent by the peer, it is thrown to the
 * caller.
 */
export class RpcError extends Error implements ErrorObject {
  override readonly name = 'RpcError'
  /** The JSON-RPC error code; those of the protocol are in `ErrorCode`. */
  readonly code: number
  /** Facts for the peer; JSON. */
  readonly data?: unknown

  constructor(code: number, message: string, { data, cause }: RpcErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    if (data !== undefined) this.data = data
  }
}

/** The JSON-RPC error codes of the protocol. */
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
  /** Legacy era only: the user declined a sampling request. */
  UserRejected: -1,
} as const

/** The text is not JSON. */
export function parseError(message = 'The text is not valid JSON', options?: RpcErrorOptions): RpcError {
  return new RpcError(ErrorCode.ParseError, message, options)
}

/** The JSON is not a JSON-RPC message, or the message must not be sent now. */
export function invalidRequest(message: string, options?: RpcErrorOptions): RpcError {
  return new RpcError(ErrorCode.InvalidRequest, message, options)
}

/** The revision has no such method. */
export function methodNotFound(method: string): RpcError {
  return new RpcError(ErrorCode.MethodNotFound, `Method not found: ${quoted(method)}`)
}

/** The parameters are invalid; the message names the place and what was expected. */
export function invalidParams(message: string, options?: RpcErrorOptions): RpcError {
  return new RpcError(ErrorCode.InvalidParams, message, options)
}

/** The answering side failed. The message must be safe to show to the peer. */
export function internalError(message = 'Internal error', options?: RpcErrorOptions): RpcError {
  return new RpcError(ErrorCode.InternalError, message, options)
}

/** No such resource. Modern revisions use the code of invalid parameters, legacy revisions a code of their own. */
export function resourceNotFound(uri: string, era: 'legacy' | 'modern'): RpcError {
  const code = era === 'legacy' ? ErrorCode.ResourceNotFound : ErrorCode.InvalidParams
  return new RpcError(code, `Resource not found: ${quoted(uri)}`, { data: { uri } })
}

/** A header differs from the body. */
export function headerMismatch(message: string): RpcError {
  return new RpcError(ErrorCode.HeaderMismatch, message)
}

/** The request needs a capability that the client did not declare, such as `{ elicitation: { url: {} } }`. */
export function missingClientCapability(
  required: object,
  message = `The client must declare: ${capabilityPaths(required).join(', ')}`,
): RpcError {
  return new RpcError(ErrorCode.MissingRequiredClientCapability, message, { data: { requiredCapabilities: required } })
}

/** The requested revision is not served here; `supported` lists those that are. */
export function unsupportedVersion(requested: string, supported: readonly string[]): RpcError {
  const message = `Unsupported protocol version ${quoted(requested)}; supported: ${supported.join(', ')}`
  return new RpcError(ErrorCode.UnsupportedProtocolVersion, message, {
    data: { supported: [...supported], requested },
  })
}

/**
 * The caller needs all of these scopes, those that it holds included. A transport that has a challenge for this, such as
 * HTTP with status 403, sends it. The protocol has no code for this error and reserves -32768 to -32000, so the code lies
 * outside and equals the HTTP status.
 */
export function insufficientScope(scopes: readonly string[]): RpcError {
  const text = `The caller needs the scope${scopes.length === 1 ? '' : 's'} ${scopes.map(quoted).join(', ')}`
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

/** The error of a response as an exception. */
export function toRpcError(error: ErrorObject): RpcError {
  return new RpcError(error.code, error.message, { data: error.data })
}

function capabilityPaths(required: object): string[] {
  return Object.entries(required).flatMap(([key, value]) => {
    const inner = typeof value === 'object' && value !== null ? capabilityPaths(value) : []
    return inner.length === 0 ? [key] : inner.map((path) => `${key}.${path}`)
  })
}

/**
 * Why a message was not sent or not answered.
 * - `closed`: the connection ended.
 * - `timeout`: no response in time.
 * - `cancelled`: the caller's signal fired.
 * - `invalid-message`: the peer sent something that is not the protocol.
 * - `unmatched`: the peer answered a request that is not waiting.
 * - `limit`: a limit of this side was reached.
 * - `unreachable`: no connection could be made, or it broke below the protocol.
 * - `refused`: the transport refused, for example with an HTTP status.
 * - `exited`: the process of the peer stopped.
 * - `unsupported`: the peer does not support it, or the revision does not have it; nothing was sent.
 */
export type ConnectionErrorReason =
  | 'closed'
  | 'timeout'
  | 'cancelled'
  | 'invalid-message'
  | 'unmatched'
  | 'limit'
  | 'unreachable'
  | 'refused'
  | 'exited'
  | 'unsupported'

/** Options of `ConnectionError`. */
export interface ConnectionErrorOptions {
  /** Whether the same call may succeed when it is repeated. Default: false. */
  retryable?: boolean
  /** One sentence that says what to do about it. */
  hint?: string
  /** The HTTP status, where the transport refused with one. */
  status?: number
  /** The error behind this one. */
  cause?: unknown
}

/** A failure of the connection, as opposed to `RpcError`, which the peer sent. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** Why the message was not sent or not answered. */
  readonly reason: ConnectionErrorReason
  /** Whether the same call may succeed when it is repeated. */
  readonly retryable: boolean
  /** One sentence that says what to do about it. */
  readonly hint: string | undefined
  /** The HTTP status, where the transport refused with one. */
  readonly status: number | undefined

  constructor(reason: ConnectionErrorReason, message: string, options: ConnectionErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.reason = reason
    this.retryable = options.retryable ?? false
    this.hint = options.hint
    this.status = options.status
  }
}
