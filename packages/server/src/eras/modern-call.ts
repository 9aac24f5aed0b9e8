/** An opened request of the modern wire. */

import type { Envelope, Exchange, JsonObject, MethodEntry, RequestMessage, Revision } from '@mcpx/protocol'
import type { Core } from '../core.ts'

export interface ModernCall {
  readonly message: RequestMessage
  readonly params: JsonObject
  readonly envelope: Envelope
  readonly revision: Revision
  /** What the revision says of the method. */
  readonly entry: MethodEntry
  readonly exchange: Exchange
  readonly core: Core
}
