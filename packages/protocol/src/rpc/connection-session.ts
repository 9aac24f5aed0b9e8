/** The session of a pipe: it lives and dies with its connection, so its record is a plain object, replaced with each change. */

import type { Responder } from '../ports/exchange.ts'
import type { RequestOptions } from '../ports/requester.ts'
import type { Session, SessionState } from '../ports/session.ts'

export function createConnectionSession(
  id: string,
  request: (method: string, params?: object, options?: RequestOptions) => Promise<unknown>,
): Session {
  let state: SessionState = {}
  return {
    id,
    get state() {
      return state
    },
    update(change) {
      const next = structuredClone(state)
      change(next)
      state = next
    },
    request,
  }
}

/** Tells the responder that the session is over, if there was one. */
export async function endSession(
  session: Session | undefined,
  responder: Responder | undefined,
  report: (problem: Error) => void,
): Promise<void> {
  if (session === undefined) return
  try {
    await responder?.sessionEnded?.(session)
  } catch (problem) {
    report(problem as Error)
  }
}
