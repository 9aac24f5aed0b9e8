/** The session of a pipe: it lives and dies with its connection, so its record is a plain object. */

import type { RequestOptions } from '../ports/requester.ts'
import type { Session, SessionState } from '../ports/session.ts'

export function createConnectionSession(
  id: string,
  request: (method: string, params?: object, options?: RequestOptions) => Promise<unknown>,
): Session {
  const state: SessionState = {}
  return {
    id,
    state,
    update: (change) => change(state),
    request,
  }
}
