/** What an era does with what has passed the guards and was read. */

import type { Message, Refusal } from '@mcpx/protocol'
import type { Inbound } from '../host.ts'

/** An era with sessions: more than single POSTs, and something that outlives them. */
export interface SessionEra {
  post(arrived: Message | (Message | Refusal)[], inbound: Inbound): Promise<Response>
  /** Answers GET and DELETE. */
  other(inbound: Inbound): Promise<Response>
  /** Ends the streams that carry no answer. */
  endFeeds(): void
  /** Ends what outlives single requests. */
  close(reason: Error): void
}
