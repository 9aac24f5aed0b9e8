/** `RpcError`: errors that are sent as JSON-RPC errors. `ConnectionError`: failures of the connection itself. */

import { quoted } from './json.ts'

/** The error member of a response. */
export interface ErrorObject {
  /** The JSON-RPC error code. `ErrorCode` lists the codes of the protocol. */
  code: number
  /** One sentence for humans. */
  message: string
  /** Additional facts for the peer. */
  data?: unknown
}

/** Options of `RpcError`. */
export interface RpcErrorOptions {
  /** Additional facts for the peer. Must be JSON. */
  data?: unknown
  /** The error behind this one. Never sent to the peer. */
  cause?: unknown
}

/**
 * A JSON-RPC error. If a handler throws it, it is sent to the peer. If a peer sends it, it is thrown to the caller of the
 * request.
 */
export class RpcError extends Error implements ErrorObject {
  override readonly name = 'RpcError'
  /** The JSON-RPC error code. `ErrorCode` lists the codes of the protocol. */
  readonly code: number
  /** Additional facts for the peer, as JSON values. */
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
  /** The caller lacks scopes. See `insufficientScope`. */
  InsufficientScope: 403,
  /** Legacy era only: the user declined a sampling request. */
  UserRejected: -1,
} as const

/** Creates the error for a string that is not JSON. */
export function parseError(message = 'The text is not valid JSON', options?: RpcErrorOptions): RpcError {
  return new RpcError(ErrorCode.ParseError, message, options)
}

/** Creates the error for JSON that is not a JSON-RPC message, or a message that is not allowed at this time. */
export function invalidRequest(message: string, options?: RpcErrorOptions): RpcError {
  return new RpcError(ErrorCode.InvalidRequest, message, options)
}

/** Creates the error for a method that the revision does not have. */
export function methodNotFound(method: string): RpcError {
  return new RpcError(ErrorCode.MethodNotFound, `Method not found: ${quoted(method)}`)
}

/** Creates the error for invalid parameters. The message should name the place and the expected value. */
export function invalidParams(message: string, options?: RpcErrorOptions): RpcError {
  return new RpcError(ErrorCode.InvalidParams, message, options)
}

/** Creates the error for a failure of the receiver of a request. The message must be safe to show to the peer. */
export function internalError(message = 'Internal error', options?: RpcErrorOptions): RpcError {
  return new RpcError(ErrorCode.InternalError, message, options)
}

/** Creates the error for an unknown resource. Modern revisions use the code `InvalidParams`, legacy ones `ResourceNotFound`. */
export function resourceNotFound(uri: string, era: 'legacy' | 'modern'): RpcError {
  const code = era === 'legacy' ? ErrorCode.ResourceNotFound : ErrorCode.InvalidParams
  return new RpcError(code, `Resource not found: ${quoted(uri)}`, { data: { uri } })
}

/** Creates the error for a header that differs from the body. */
export function headerMismatch(message: string): RpcError {
  return new RpcError(ErrorCode.HeaderMismatch, message)
}

/** Creates the error for a request that needs a capability the client did not declare, such as `{ elicitation: { url: {} } }`. */
export function missingClientCapability(
  required: object,
  message = `The client must declare: ${capabilityPaths(required).join(', ')}`,
): RpcError {
  return new RpcError(ErrorCode.MissingRequiredClientCapability, message, { data: { requiredCapabilities: required } })
}

/** Creates the error for a revision that is not supported. `supported` lists the supported revisions. */
export function unsupportedVersion(requested: string, supported: readonly string[]): RpcError {
  const message = `Unsupported protocol version ${quoted(requested)}; supported: ${supported.join(', ')}`
  const data = { supported: [...supported], requested }
  return new RpcError(ErrorCode.UnsupportedProtocolVersion, message, { data })
}

/**
 * Creates the error for a caller who lacks scopes. `scopes` lists all required scopes, including those that the caller
 * has. HTTP transports send a challenge with status 403. The protocol has no code for this error, so its code is the
 * HTTP status, outside of the reserved range from -32768 to -32000.
 */
export function insufficientScope(scopes: readonly string[]): RpcError {
  const text = `The caller needs the scope${scopes.length === 1 ? '' : 's'} ${scopes.map(quoted).join(', ')}`
  return new RpcError(ErrorCode.InsufficientScope, text, { data: { requiredScopes: [...scopes] } })
}

/** Creates the error for a request that needs the user to visit URLs first. 2025-11-25 only. */
export function urlElicitationRequired(
  elicitations: readonly object[],
  message = 'The request needs the user to visit a URL first',
): RpcError {
  return new RpcError(ErrorCode.UrlElicitationRequired, message, { data: { elicitations: [...elicitations] } })
}

/** Creates the error for a sampling request that the user declined. Legacy era only. */
export function userRejected(message = 'The user rejected the request'): RpcError {
  return new RpcError(ErrorCode.UserRejected, message)
}

/** Converts the error of a response to an exception. */
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
 * The reason why a message was not sent or a request has no response.
 * - `closed`: the connection has ended.
 * - `timeout`: no response arrived in time.
 * - `cancelled`: the signal of the caller was aborted, or the peer cancelled the request.
 * - `invalid-message`: the peer sent an invalid message.
 * - `unmatched`: the peer sent a response or a notification for a request that is not pending.
 * - `limit`: a local limit was reached.
 * - `unreachable`: the connection could not be opened, or it failed on the network level.
 * - `refused`: the transport refused the request, for example with an HTTP status.
 * - `exited`: the server process has exited.
 * - `unsupported`: the peer or the revision does not support the request; it was not sent.
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
  /** Whether the same call may succeed if it is repeated. Default: false. */
  retryable?: boolean
  /** One sentence with the remedy. */
  hint?: string
  /** The HTTP status of a refused request. */
  status?: number
  /** The error behind this one. */
  cause?: unknown
}

/** A failure of the connection. In contrast, an `RpcError` was sent by the peer. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** The reason why the message was not sent or has no response. */
  readonly reason: ConnectionErrorReason
  /** Whether the same call may succeed if it is repeated. */
  readonly retryable: boolean
  /** One sentence with the remedy. */
  readonly hint: string | undefined
  /** The HTTP status of a refused request. */
  readonly status: number | undefined

  constructor(reason: ConnectionErrorReason, message: string, options: ConnectionErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.reason = reason
    this.retryable = options.retryable ?? false
    this.hint = options.hint
    this.status = options.status
  }
}
