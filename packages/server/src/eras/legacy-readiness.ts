/** Whether a session may be asked yet: a client that has shaken hands says when it is ready. */

import { invalidRequest, type Session } from '@mcpx/protocol'

/** When the record is looked at again, in ms; about two seconds in all. The word may come by another way than the call. */
const LOOKS = [5, 15, 30, 50, 100, 200, 400, 600, 600]

/** Resolves when the client has said that it is ready; rejects when it does not. Gives up waiting with the signal. */
export async function untilReady(session: Session, signal: AbortSignal): Promise<void> {
  for (const ms of LOOKS) {
    await new Promise((resolve) => setTimeout(resolve, ms))
    if (isReady(session) || signal.aborted) return
    // Another process may have heard it: the record is read where it is kept.
    await session.update(() => {})
    if (isReady(session)) return
  }
  throw invalidRequest('The client cannot be asked: it has not sent "notifications/initialized"')
}

export function isReady({ state }: Session): boolean {
  return state.initialized === true
}
