/** What a legacy session is told unasked: that lists have changed, and resources that it watches. */

import type { Awaitable, Change, NotificationMessage, Session } from '@mcpx/protocol'
import type { Listener } from '../audience.ts'
import type { Core } from '../core.ts'
import { toldOf } from './change-notifications.ts'

type Tell = (message: NotificationMessage) => Awaitable<void>

export function legacyChanges(session: Session, tell: Tell, { audience }: Core): () => void {
  const listener = new SessionListener(session, tell)
  audience.join(listener)
  return audience.leave.bind(undefined, listener)
}

class SessionListener implements Listener {
  isBusy = false
  waiting: Listener['waiting']
  readonly #session: Session
  readonly #tell: Tell

  constructor(session: Session, tell: Tell) {
    this.#session = session
    this.#tell = tell
  }

  wants(change: Change): boolean {
    return change.kind !== 'resource' || this.#session.state.subscriptions?.includes(change.uri) === true
  }

  tell(change: Change): Awaitable<void> {
    return this.#tell({ jsonrpc: '2.0', ...toldOf(change) })
  }
}
