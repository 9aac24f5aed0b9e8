/** Hears of changes in the legacy era: the server tells the session, and resources are subscribed to one by one. */

import {
  type Change,
  type Connection,
  ConnectionError,
  type NotificationMessage,
  RpcError,
  type ServerCapabilities,
  type SubscriptionFilter,
} from '@mcpx/protocol'
import { type Core, changeOf } from '../core.ts'
import { allowedFilter, type ListenHooks, nothingToListenTo } from './era.ts'
import { WatchedResources } from './legacy-watched.ts'

export interface LegacyChanges {
  /** False when a notification tells of no change. */
  hear(notification: NotificationMessage): boolean
  /** Something may have changed that nobody told of. */
  missed(): void
  listen(filter: SubscriptionFilter, capabilities: ServerCapabilities, hooks: ListenHooks): Promise<void>
}

export function createLegacyChanges(core: Core, connection: Connection): LegacyChanges {
  const listeners = new Set<(change: Change) => void>()
  const repeats = new Set<() => void>()
  const watched = new WatchedResources(core, connection)

  return {
    hear(notification) {
      const change = changeOf(notification)
      if (change === undefined) return false
      core.changed(change)
      for (const listener of listeners) listener(change)
      return true
    },
    missed() {
      for (const repeat of repeats) repeat()
    },
    async listen(asked, capabilities, hooks) {
      const filter = allowedFilter(asked, capabilities)
      if (Object.keys(filter).length === 0) throw nothingToListenTo()
      let isReady = false
      const fresh = new Set<string>()
      // What came before it was ready is told by those who listened then, but for what nobody had subscribed to.
      const listener = (change: Change) => {
        const isHeard = isReady || (change.kind === 'resource' && [...fresh].some((uri) => change.uri.startsWith(uri)))
        if (isHeard && isWanted(filter, change)) hooks.onChange(change)
      }
      /** After the first time, all that is followed counts as changed. */
      const ready = () => {
        isReady = true
        hooks.onReady(without(filter, refused), refused)
      }
      const refused = new Map<string, Error>()
      let isOver = false
      let lose = () => {}
      const lost = new Promise<void>((resolve) => {
        lose = resolve
      })
      const releases: (() => Promise<void>)[] = []
      listeners.add(listener)
      try {
        await fewAtOnce(filter.resourceSubscriptions ?? [], async (uri) => {
          if (!watched.has(uri)) fresh.add(uri)
          try {
            const release = await watched.watch(uri, hooks, lose)
            if (isOver) void release()
            else releases.push(release)
          } catch (error) {
            if (!(error instanceof RpcError)) throw error
            refused.set(uri, error)
          }
        })
        const [error] = refused.values()
        if (error !== undefined && Object.keys(without(filter, refused)).length === 0) throw error
        ready()
        repeats.add(ready)
        await aborted(hooks.signal, connection, lost)
      } finally {
        listeners.delete(listener)
        repeats.delete(ready)
        isOver = true
        void fewAtOnce(releases, (release) => release())
      }
    },
  }
}

/** One that is gone keeps nobody from hearing of the others. */
function without(filter: SubscriptionFilter, refused: ReadonlyMap<string, Error>): SubscriptionFilter {
  const { resourceSubscriptions = [], ...lists } = filter
  const left = resourceSubscriptions.filter((uri) => !refused.has(uri))
  return left.length === 0 ? lists : { ...lists, resourceSubscriptions: left }
}

/** How many resources are subscribed to at once: servers bound what one session may ask of them at a time. */
const AT_ONCE = 10

/** After the first that fails, no others are begun. */
async function fewAtOnce<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < items.length) await run(items[next++] as Item)
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  } finally {
    next = items.length
  }
}

function isWanted(filter: SubscriptionFilter, change: Change): boolean {
  if (change.kind !== 'resource') return filter[`${change.kind}ListChanged`] === true
  return filter.resourceSubscriptions?.some((uri) => change.uri.startsWith(uri)) === true
}

/** Resolves when the signal fires; rejects when the connection ends before, or one of the resources is lost. */
async function aborted(signal: AbortSignal, connection: Connection, lost: Promise<void>): Promise<void> {
  let stop: () => void = () => {}
  const wanted = new Promise<'stopped'>((resolve) => {
    stop = () => resolve('stopped')
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
  const end = await Promise.race([wanted, connection.closed, lost.then(() => letGo())])
  signal.removeEventListener('abort', stop)
  if (end !== 'stopped') throw end ?? new ConnectionError('closed', 'The connection was closed')
}

/** Whoever listens begins again, and finds out what there still is. */
function letGo(): ConnectionError {
  return new ConnectionError('closed', 'The server has let go of a resource', { retryable: true })
}
