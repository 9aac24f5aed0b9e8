/** A legacy session as one exchange sees it: the record, and the way to ask the client. */

import type { Awaitable, RequestOptions, Session, SessionState } from '@mcpx/protocol'
import type { Host } from '../host.ts'
import type { AskingStream } from './legacy-asking.ts'
import type { LiveSession } from './legacy-live.ts'

/** Changes a record where it is kept. */
export type UpdateSession = (live: LiveSession, change: (state: SessionState) => void) => Awaitable<void>

export class HttpSession implements Session {
  readonly #live: LiveSession
  readonly #update: UpdateSession
  readonly #stream: AskingStream | undefined

  constructor(live: LiveSession, update: UpdateSession, stream?: AskingStream) {
    this.#live = live
    this.#update = update
    this.#stream = stream
  }

  get id(): string {
    return this.#live.id
  }

  get state(): Readonly<SessionState> {
    return this.#live.state
  }

  update(change: (state: SessionState) => void): Awaitable<void> {
    return this.#update(this.#live, change)
  }

  request(method: string, params?: object, options: RequestOptions = {}): Promise<unknown> {
    return this.#live.asks.ask(this.#stream, method, params, options)
  }
}

/** For a session that no store knows: it lasts as long as its request, and nobody else has its record. */
export function updateHere(live: LiveSession, change: (state: SessionState) => void): void {
  const state: SessionState = { ...live.state }
  change(state)
  live.state = state
}

/** Tells the responder. What it makes of it is none of the client's business. */
export async function sessionEnded({ responder, report }: Host, session: HttpSession): Promise<void> {
  try {
    await responder.sessionEnded?.(session)
  } catch (problem) {
    report(problem as Error)
  }
}
