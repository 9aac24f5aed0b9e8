/** What an era does with what has passed the guards and was read. */

import type { Message, Refusal } from '@mcpx/protocol'
import type { Inbound } from '../host.ts'
import type { HttpAnswer } from '../http-answer.ts'

/** An era with sessions: more than single POSTs, and something that outlives them. */
export interface SessionEra {
  post(arrived: Message | (Message | Refusal)[], inbound: Inbound): Promise<HttpAnswer>
  /** Answers GET and DELETE. */
  other(inbound: Inbound): Promise<HttpAnswer>
  /** Ends the streams that carry no answer. */
  endFeeds(): void
  /** Ends what outlives single requests. */
  close(reason: Error): void
}
