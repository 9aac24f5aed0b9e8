/** What a legacy session is told unasked: that lists have changed, and resources that it watches. */

import type { Change, NotificationMessage, Session } from '@mcpx/protocol'
import type { Core } from '../core.ts'
import { toldOf } from './change-notifications.ts'

/** Changes of one kind that have not been told yet are told once: what waits has a bound. */
export async function* legacyChanges(
  session: Session,
  signal: AbortSignal,
  core: Core,
): AsyncGenerator<NotificationMessage> {
  // Most streams wait long for their first change: what holds changes is made with it.
  let waiting: Map<string, NotificationMessage> | undefined
  let wake = (): void => {}
  const stop = core.onChange((change) => {
    const key = change.kind === 'resource' ? `resource ${change.uri}` : change.kind
    if (!isWanted(change, session)) return
    waiting ??= new Map()
    waiting.set(key, { jsonrpc: '2.0', ...toldOf(change) })
    wake()
  })
  const onAbort = () => wake()
  signal.addEventListener('abort', onAbort)
  try {
    while (!signal.aborted) {
      for (const [key, notification] of waiting ?? []) {
        waiting?.delete(key)
        yield notification
      }
      if (waiting !== undefined && waiting.size > 0) continue
      await new Promise<void>((resolve) => {
        wake = resolve
        if (signal.aborted) resolve()
      })
    }
  } finally {
    stop()
    signal.removeEventListener('abort', onAbort)
  }
}

function isWanted(change: Change, { state }: Session): boolean {
  return change.kind !== 'resource' || state.subscriptions?.includes(change.uri) === true
}
