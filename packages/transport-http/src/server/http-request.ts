/** A request by HTTP as the endpoint sees it, whichever kind of server it came to. */

import { type Awaitable, ConnectionError } from '@mcpx/protocol'
import type { HttpAnswer } from './http-answer.ts'
import type { OutgoingStream } from './outgoing.ts'

/** Looks after bodies that have to be waited for. */
export interface Arriving {
  /** Goes on with that body, or with the refusal when it is not here in time. */
  inTime<Done>(text: PromiseLike<Read>, isAlone: boolean, goOn: GoOn<Done>): PromiseLike<Done>
}

/** The text of a body, or the refusal of one. */
export type Read = string | HttpAnswer

/** What is done with a body as soon as it is there: a promise in between would cost each request. It never throws. */
export type GoOn<Done> = (read: Read) => Awaitable<Done>

export interface HttpRequest {
  readonly method: string
  /** The path and the query. */
  readonly target: string
  /** How large the headers are together, in bytes. */
  readonly headerSize: number
  /** The value of a header, by its name in lower case; null when it is not there. */
  header(name: string): string | null
  /**
   * Goes on with the body as text; or with the refusal, when there is more of it than this many bytes, or it is no text.
   * What has to be waited for is handed to `arrivals`.
   */
  readText<Done>(limit: number, arrivals: Arriving, goOn: GoOn<Done>): Awaitable<Done>
  /**
   * The same request for code of the user's, made when it is first wanted. Its body is not for reading.
   * Throws an `UnaddressedError` when the web has no such request.
   */
  readonly web: Request
  /** Has the runtime let work go on when the client has gone; absent where it does so anyway. */
  readonly outlive?: ((work: PromiseLike<unknown>) => void) | undefined
  /** Whether its timers end with it, and those of others may end before it. */
  readonly isAlone: boolean
  /** The response of Node's HTTP server that answers it, where one does that a stream can be written to. */
  readonly outgoing?: OutgoingStream | undefined
  /** Whether the client has gone away, as far as that is known. */
  readonly hasGone: boolean
  /**
   * Calls back once if the client goes away before it has its answer, until the returned function is called; at once if
   * it has gone.
   */
  onGone(listener: (reason: Error) => void): () => void
}

/** What stands between the name and the value of a header, and after them: a colon, a space and the end of the line. */
export const AROUND_HEADER = 4

/** @param cause what the runtime says of it, which is not the same on any two. */
export function goneError(cause?: unknown): ConnectionError {
  return new ConnectionError('closed', 'The client closed the connection', { cause })
}

/** The method, the target and the host are no request of the web: such a client is broken, or means harm. */
export class UnaddressedError extends Error {
  override readonly name = 'UnaddressedError'
}
