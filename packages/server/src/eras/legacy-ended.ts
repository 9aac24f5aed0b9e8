/** What is left to do when a session of the legacy era has ended: nobody watches for it any more. */

import type { Session } from '@mcpx/protocol'
import type { Core } from '../core.ts'
import { listingContext } from '../schema-search.ts'

export async function endLegacy(session: Session, { handler, faults, closing }: Core): Promise<void> {
  const { subscriptions = [] } = session.state
  if (subscriptions.length === 0) return
  const signal = closing()
  const ctx = listingContext({ signal, auth: undefined, session, requestInfo: undefined, notify() {} }, signal)
  for (const uri of subscriptions) {
    try {
      await handler.unsubscribe?.({ uri }, ctx)
    } catch (error) {
      faults.report(error, ctx)
    }
  }
}
