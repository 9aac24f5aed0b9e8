/** What goes wrong on this side of the wire: the peer never said it, so it is never mistaken for an answer. */

/**
 * Why a message was not carried or not answered.
 * - `closed`: the connection ended.
 * - `timeout`: no answer in time.
 * - `cancelled`: the caller's signal fired.
 * - `invalid-message`: the peer sent something that is not the protocol.
 * - `unmatched`: the peer answered a request that is not waiting.
 * - `limit`: a bound of this side was reached.
 * - `unreachable`: no connection could be made, or it broke below the protocol.
 * - `refused`: the carrier said no, such as an HTTP status.
 * - `exited`: the process at the other end stopped.
 * - `unsupported`: the peer does not offer it, or the revision spoken has no such thing; nothing was sent.
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

export interface ConnectionErrorOptions {
  /** Whether the same call may succeed when it is made again. Default: false. */
  retryable?: boolean
  /** One sentence that says what to do about it. */
  hint?: string
  /** The HTTP status, where the carrier refused with one. */
  status?: number
  cause?: unknown
}

/** A failure of the connection, as opposed to `RpcError`, which the peer sent. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly reason: ConnectionErrorReason
  readonly retryable: boolean
  readonly hint: string | undefined
  readonly status: number | undefined

  constructor(reason: ConnectionErrorReason, message: string, options: ConnectionErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.reason = reason
    this.retryable = options.retryable ?? false
    this.hint = options.hint
    this.status = options.status
  }
}
