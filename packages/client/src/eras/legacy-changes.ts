/** Hears of changes in the legacy era: the server tells the session, and resources are subscribed to one by one. */

import {
  type Change,
  type Connection,
  ConnectionError,
  type NotificationMessage,
  pause,
  RpcError,
  type ServerCapabilities,
  type SubscriptionFilter,
} from '@mcpx/protocol'
import { withSignal } from '../cancellation.ts'
import { type Core, changeOf } from '../core.ts'
import { allowedFilter, type ListenHooks, nothingToListenTo } from './era.ts'

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
  const watched = createWatched(core, connection)

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
      const uris = new Set<string>()
      listeners.add(listener)
      try {
        await fewAtOnce(filter.resourceSubscriptions ?? [], async (uri) => {
          uris.add(uri)
          if (!watched.has(uri)) fresh.add(uri)
          await watched.watch(uri, hooks).catch((error) => {
            if (!(error instanceof RpcError)) throw error
            uris.delete(uri)
            refused.set(uri, error)
          })
        })
        for (const [, error] of refused) if (Object.keys(without(filter, refused)).length === 0) throw error
        ready()
        repeats.add(ready)
        await aborted(hooks.signal, connection)
      } finally {
        listeners.delete(listener)
        repeats.delete(ready)
        void fewAtOnce([...uris], watched.release)
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
async function fewAtOnce(uris: readonly string[], change: (uri: string) => Promise<void>): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < uris.length) await change(uris[next++] as string)
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  } finally {
    next = uris.length
  }
}

function isWanted(filter: SubscriptionFilter, change: Change): boolean {
  if (change.kind !== 'resource') return filter[`${change.kind}ListChanged`] === true
  return filter.resourceSubscriptions?.some((uri) => change.uri.startsWith(uri)) === true
}

/** Resolves when the signal fires; rejects when the connection ends before. */
async function aborted(signal: AbortSignal, connection: Connection): Promise<void> {
  let stop: () => void = () => {}
  const wanted = new Promise<'stopped'>((resolve) => {
    stop = () => resolve('stopped')
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
  const end = await Promise.race([wanted, connection.closed])
  signal.removeEventListener('abort', stop)
  if (end !== 'stopped') throw end ?? new ConnectionError('closed', 'The connection was closed')
}

/** How long, in ms, a server may take to let go of a resource before it is asked for that again. */
const LETTING_GO = 1_000
const LONGEST_TIMER = 2 ** 31 - 1

/** Subscribes to a resource for the first who wants it, and gives it up after the last. */
function createWatched(core: Core, connection: Connection) {
  const { timeout: patience = 60_000 } = core.options
  const counts = new Map<string, { count: number; ready: Promise<unknown> }>()
  /** What is being given up: who wants it again asks after that, or would lose it to that. */
  const leaving = new Map<string, Promise<unknown>>()

  /** For all who want it: it ends with none of them. */
  async function subscribe(uri: string): Promise<void> {
    const left = leaving.get(uri)
    if (left !== undefined)
      await withSignal(SUBSCRIBE, undefined, (done) => Promise.race([left, pause(LETTING_GO, done)]))
    await connection.request(SUBSCRIBE, { uri }, { timeout: patience })
  }

  return {
    has: (uri: string) => counts.has(uri),
    async watch(uri: string, { signal, timeout = patience }: ListenHooks): Promise<void> {
      const entry = counts.get(uri) ?? { count: 0, ready: subscribe(uri) }
      entry.count += 1
      counts.set(uri, entry)
      // Nothing to give up: who wants it again asks again.
      const forget = () => void (counts.get(uri) === entry && counts.delete(uri))
      entry.ready.catch(forget)
      await withSignal(SUBSCRIBE, signal, (done) => {
        if (timeout >= patience || timeout > LONGEST_TIMER) return entry.ready
        return Promise.race([entry.ready, pause(timeout, done).then(() => Promise.reject(tookTooLong(timeout)))])
      })
    },
    /** Never rejects. */
    async release(uri: string): Promise<void> {
      const entry = counts.get(uri)
      if (entry === undefined) return
      entry.count -= 1
      if (entry.count > 0) return
      counts.delete(uri)
      const giveUp = () => connection.request('resources/unsubscribe', { uri }, { timeout: patience })
      const left = entry.ready
        .then(giveUp, () => {})
        .catch((error: Error) => {
          if (!(error instanceof ConnectionError)) core.report(error)
        })
      leaving.set(uri, left)
      await left
      if (leaving.get(uri) === left) leaving.delete(uri)
    },
  }
}

const SUBSCRIBE = 'resources/subscribe'

function tookTooLong(timeout: number): ConnectionError {
  return new ConnectionError('timeout', `No answer to ${SUBSCRIBE} within ${timeout} ms`)
}
