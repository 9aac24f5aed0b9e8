/** An opened request of the modern wire. */

import type {
  Envelope,
  Exchange,
  InputRequiredResult,
  JsonObject,
  MethodEntry,
  RequestMessage,
  ResponseMessage,
  Revision,
} from '@mcpx/protocol'
import type { Asker } from '../asker.ts'
import type { Core } from '../core.ts'

export type ModernCore = Core<{ readonly modern: ModernWay }>

export interface ModernCall {
  readonly message: RequestMessage
  readonly params: JsonObject
  readonly envelope: Envelope
  readonly revision: Revision
  /** What the revision says of the method. */
  readonly entry: MethodEntry
  readonly exchange: Exchange
  readonly core: ModernCore
}

/** How requests of this era ask: by an answer that is none yet. */
export interface ModernWay {
  /** What earlier rounds of the call have sealed. */
  open(call: ModernCall): Promise<JsonObject>
  createAsker(call: ModernCall, opened: JsonObject | undefined): Asker
  /** Answers an unfinished call: its questions, and all that it has learned so far, sealed. */
  seal(call: ModernCall, result: InputRequiredResult, asker: Asker | undefined): Promise<ResponseMessage>
}
