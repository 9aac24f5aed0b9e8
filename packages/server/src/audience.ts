/** Those who are told of what changes in a server: however many they are, they share one subscription to each part of it. */

import { type Awaitable, type Change, type Handler, isPromise } from '@mcpx/protocol'
import { capabilitiesOf, LISTED } from './capabilities.ts'

/** One who is told. It is all that an open stream costs here, so what it waits for is kept in it. */
export interface Listener {
  /** Whether nothing can be told just now. */
  isBusy: boolean
  /** What is to be told then, each once: what waits has a bound. Absent where nothing waits. */
  waiting: Map<string, Change> | undefined
  /** Whether it is to be told of this, when the time has come. */
  wants(change: Change): boolean
  /** A promise means that there is no room for more until it resolves. */
  tell(change: Change): Awaitable<void>
  /** Is told at once of whatever changes: that is how it is passed on. */
  pass?: ((change: Change) => void) | undefined
  /** The server is closed. */
  end?(): void
}

export interface Audience {
  /** How many of it are streams that clients have open; they count themselves. */
  streams: number
  /** Throws what a part throws when it is subscribed to, if there is no other. */
  join(listener: Listener): void
  leave(listener: Listener): void
  /** Passes on each change, at once, until the returned function is called. Throws as `join` does. */
  onChange(listener: (change: Change) => void): () => void
  /** This part has come to the others: what lists that changes is told, once a task. */
  grow(part: Handler): void
  /** Ends those that end with the server. */
  close(): void
}

/**
 * @param parts are looked through again when the first joins, and when they grow
 * @param report hears of what parts and listeners throw
 */
export function createAudience(parts: readonly Handler[], report: (error: unknown) => void): Audience {
  const listeners = new Set<Listener>()
  /** What has changed since the last task: who changes one thing often says so once. */
  const changed = new Map<string, Change>()
  /** How to have enough of each part that is listened to. */
  const followed = new Map<Handler, () => void>()

  function attempt(step: () => void): void {
    try {
      step()
    } catch (error) {
      report(error)
    }
  }

  function spread(): void {
    const changes = [...changed.values()]
    changed.clear()
    for (const listener of listeners)
      attempt(() => {
        for (const change of changes) hear(listener, change)
      })
  }

  function note(change: Change): void {
    if (changed.size === 0) queueMicrotask(spread)
    changed.set(keyOf(change), change)
    for (const listener of listeners) if (listener.pass !== undefined) attempt(() => listener.pass?.(change))
  }

  /** Each by itself, and once as long as anybody listens: a part may have room for one listener. */
  function follow(): void {
    for (const part of parts) {
      if (followed.has(part) || part.changes === undefined) continue
      // Never the same function twice: parts may keep those in one `Set`.
      const start = () => void followed.set(part, part.changes?.((change) => note(change)) ?? (() => {}))
      if (parts.length === 1) start()
      else attempt(start)
    }
  }

  function join(listener: Listener): void {
    if (listeners.size === 0) follow()
    listeners.add(listener)
  }

  function leave(listener: Listener): void {
    if (!listeners.delete(listener) || listeners.size > 0) return
    for (const stop of followed.values()) attempt(stop)
    followed.clear()
  }

  return {
    streams: 0,
    join,
    leave,
    onChange(pass) {
      // It wants nothing, so all else is never asked of it.
      const listener = { wants: () => false, pass } as Partial<Listener> as Listener
      join(listener)
      return () => leave(listener)
    },
    grow(part) {
      if (listeners.size === 0) return
      attempt(follow)
      // Not at once, as what is registered is told of: so that what comes in one task is told once.
      queueMicrotask(() => {
        const added = capabilitiesOf(part, false)
        for (const kind of LISTED) if (added[kind]) note({ kind })
      })
    },
    close() {
      for (const listener of listeners) attempt(() => listener.end?.())
    },
  }
}

function hear(listener: Listener, change: Change): void {
  if (!listener.wants(change)) return
  if (!listener.isBusy) occupy(listener, listener.tell(change))
  else {
    listener.waiting ??= new Map()
    listener.waiting.set(keyOf(change), change)
  }
}

/** Tells a listener what has waited for it. */
export function resume(listener: Listener): void {
  listener.isBusy = false
  for (const [key, change] of listener.waiting ?? []) {
    listener.waiting?.delete(key)
    if (listener.wants(change)) occupy(listener, listener.tell(change))
    if (listener.isBusy) return
  }
  listener.waiting = undefined
}

function occupy(listener: Listener, room: Awaitable<void>): void {
  if (!isPromise(room)) return
  listener.isBusy = true
  const go = () => resume(listener)
  room.then(go, go)
}

function keyOf(change: Change): string {
  return change.kind === 'resource' ? `resource ${change.uri}` : change.kind
}
