/** The session of a pipe: it lives and dies with its connection, so its record is a plain object, replaced with each change. */

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
