/** What a server does for the peers of the eras that it serves. */

import type { Awaitable, Exchange, NotificationMessage, RequestMessage, ResponseMessage, Session } from '@mcpx/protocol'
import type { Core } from '../core.ts'

export interface Wire {
  answer(message: RequestMessage, exchange: Exchange, core: Core): Awaitable<ResponseMessage | undefined>
  /** Takes a notification. Absent where none means anything. */
  hear?(message: NotificationMessage, exchange: Exchange, core: Core): Awaitable<undefined>
  /** What a session is told unasked. Absent in an era without sessions, as is the next. */
  changes?(session: Session, tell: (message: NotificationMessage) => Awaitable<void>, core: Core): () => void
  /** Undoes what a session has had the handler do. */
  ended?(session: Session, core: Core): Awaitable<void>
}
