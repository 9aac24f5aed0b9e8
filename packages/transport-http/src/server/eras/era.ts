/** What an era does with what has passed the guards and was read. */

import type { Awaitable, Message, Refusal } from '@mcpx/protocol'
import type { Inbound } from '../host.ts'
import type { HttpAnswer } from '../http-answer.ts'

/** The eras that an endpoint serves. */
export interface Eras {
  post(arrived: Message | (Message | Refusal)[], inbound: Inbound): Awaitable<HttpAnswer>
  /** Answers a method other than POST; absent where POST is the only one. */
  readonly other: ((inbound: Inbound) => Awaitable<HttpAnswer>) | undefined
  endFeeds(): void
  close(reason: Error): void
}

/** An era with sessions: more than single POSTs, and something that outlives them. */
export interface SessionEra {
  post(arrived: Message | (Message | Refusal)[], inbound: Inbound): Awaitable<HttpAnswer>
  /** Answers GET and DELETE. */
  other(inbound: Inbound): Promise<HttpAnswer>
  /** Ends the streams that carry no answer. */
  endFeeds(): void
  /** Ends what outlives single requests. */
  close(reason: Error): void
}
