/** The interface that both eras implement. `endpoint.ts` chooses between them. */

import type { Message, Refusal } from '@mcpx/protocol'
import type { HttpRequest } from './http-request.ts'

/** What the body of a POST holds: one message, or a batch, whose items may be invalid. */
export type Posted = Message | (Message | Refusal)[]

export interface HttpEra {
  post(posted: Posted, request: HttpRequest): Promise<Response>
  /** Answers GET and DELETE. */
  other(request: HttpRequest): Promise<Response>
  /** Ends the streams that carry no answer, and opens no more of them. */
  closeStreams(): void
  /** Ends everything that outlives single requests. */
  close(reason: Error): void
}
