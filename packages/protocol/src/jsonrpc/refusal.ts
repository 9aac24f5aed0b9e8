/** A message that was not let in: what was wrong, and whom to tell. */

import type { RpcError } from './errors.ts'
import { type ErrorMessage, errorMessage, type RequestId } from './message.ts'

/** What a refused message was meant to be, as far as one can tell. */
export type RefusedKind = 'request' | 'notification' | 'response' | 'unknown'

export class Refusal {
  readonly error: RpcError
  readonly kind: RefusedKind
  /** The id of the refused message, where it could be read. */
  readonly id: RequestId | undefined

  constructor(error: RpcError, kind: RefusedKind = 'unknown', id?: RequestId) {
    this.error = error
    this.kind = kind
    this.id = id
  }

  /** The error response for the peer, without `id` when none could be read. Notifications and responses get none. */
  get answer(): ErrorMessage | undefined {
    return this.kind === 'notification' || this.kind === 'response' ? undefined : errorMessage(this.id, this.error)
  }
}
