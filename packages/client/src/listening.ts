/** Changes as something to iterate over: it survives the connection, and a slow reader only misses repetitions. */

import { type Change, ConnectionError, pause, type SubscriptionFilter } from '@mcpx/protocol'
import { type ChangeQueue, createChangeQueue } from './change-queue.ts'
import { CONFIRM_TIMEOUT } from './confirmation.ts'
import type { Core } from './core.ts'
import type { ListenHooks } from './eras/era.ts'
import type { LinkKeeper } from './link-keeper.ts'

export interface ListenOptions {
  /** Ends it. */
  readonly signal?: AbortSignal | undefined
  /** How long the server may take to confirm, in ms. Default: 60,000. Over: `ConnectionError` `timeout`. */
  readonly timeout?: number | undefined
  /** Whether it goes on with what was listened to before: then all that it watches counts as changed. Default: false. */
  readonly isAgain?: boolean | undefined
}

/**
 * Changes as they come. Iterating ends when the server, the signal, `close` or the client ends it, and throws when it
 * cannot be carried on. After a gap, everything that is watched counts as changed.
 */
export interface Listening extends AsyncIterableIterator<Change> {
  /** Resolves when the server has confirmed, to the part of the filter that it follows. */
  readonly ready: Promise<SubscriptionFilter>
  /** Whether the server tells of changes now: not before it has confirmed, and not between one connection and the next. */
  readonly isOpen?: boolean | undefined
  /** What the server follows now: another connection may bring less. */
  readonly followed?: SubscriptionFilter | undefined
  /** Why it does not follow some of the resources, where it has said so. Servers of the modern era have no word for it. */
  readonly refused?: ReadonlyMap<string, Error> | undefined
  close(): void
}

/** How many different changes may wait to be read. */
const MOST_WAITING = 10_000
/** How often in a row a broken connection is made anew, and the waits between, in ms. */
const MOST_ATTEMPTS = 8
const FIRST_PAUSE = 250
const LONGEST_PAUSE = 30_000
/** A stream that lived longer than that, in ms, begins with the first pause again. */
const SOON = 5_000

/** Begins to listen at once. */
export function startListening(
  core: Core,
  keeper: LinkKeeper,
  filter: SubscriptionFilter,
  { signal, timeout, isAgain = false }: ListenOptions = {},
): Listening {
  const stop = new AbortController()
  const queue = createChangeQueue(MOST_WAITING)
  const ready = createReady()
  const close = () => stop.abort(new ConnectionError('cancelled', 'No more changes are wanted'))
  signal?.addEventListener('abort', close, { once: true })
  keeper.closing.addEventListener('abort', close, { once: true })
  if (signal?.aborted || keeper.closing.aborted) close()

  const tries = createTries()
  let isFirst = !isAgain
  const hooks = {
    signal: stop.signal,
    timeout: timeout ?? core.options.timeout ?? CONFIRM_TIMEOUT,
    onReady(followed: SubscriptionFilter, refused?: ReadonlyMap<string, Error>) {
      tries.confirmed()
      if (ready.followed !== undefined) tellLost(core, ready.followed, followed)
      Object.assign(ready, { followed, refused })
      ready.resolve(followed)
      // What was kept before may be from before a change that nobody told of.
      for (const change of changesOf(followed)) isFirst ? core.changed(change) : tell(change)
      isFirst = false
    },
    onChange: (change: Change) => tell(change),
  }

  function tell(change: Change): void {
    core.changed(change)
    if (!queue.push(change))
      stop.abort(new ConnectionError('limit', `More than ${MOST_WAITING} changes wait to be read`))
  }

  void listenOn(keeper, filter, hooks, tries)
    .then(
      () => queue.end(isLimit(stop.signal.reason) ? stop.signal.reason : undefined),
      (error: Error) => {
        ready.reject(error)
        queue.end(error)
      },
    )
    .then(() => {
      tries.over()
      const reason = stop.signal.aborted ? 'closed' : 'cancelled'
      ready.reject(new ConnectionError(reason, 'Listening ended before the server confirmed'))
      signal?.removeEventListener('abort', close)
      keeper.closing.removeEventListener('abort', close)
    })

  return listeningOf(ready, tries, queue, close)
}

function listeningOf(ready: Ready, tries: Tries, queue: ChangeQueue, close: () => void): Listening {
  return {
    ready: ready.promise,
    get isOpen() {
      return tries.isConfirmed
    },
    get followed() {
      return ready.followed
    },
    get refused() {
      return ready.refused
    },
    close,
    next: () => queue.next(),
    async return() {
      close()
      queue.end()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Listens over one connection after the other. Resolves when it is over, rejects when it cannot go on. */
async function listenOn(keeper: LinkKeeper, filter: SubscriptionFilter, hooks: ListenHooks, tries: Tries) {
  const { signal } = hooks
  while (!signal.aborted) {
    try {
      const link = await keeper.link()
      await link.listen(filter, hooks)
      return
    } catch (error) {
      if (signal.aborted) return
      const wait = tries.failed(error)
      if (wait === undefined) throw error
      await pause(wait * (0.5 + Math.random() / 2), signal).catch(() => {})
    }
  }
}

type Tries = ReturnType<typeof createTries>

/** How often in a row it went wrong, and how long to wait before the next try. */
function createTries() {
  let attempts = 0
  let pauses = 0
  let begun: number | undefined
  let isKnown = false

  return {
    get isConfirmed() {
      return begun !== undefined
    },
    confirmed(): void {
      begun = Date.now()
      isKnown = true
    },
    over(): void {
      begun = undefined
    },
    /** In ms. Nothing: there is to be no other try. */
    failed(error: unknown): number | undefined {
      // A stream that breaks as soon as it is confirmed is no reason to give up, nor to hurry.
      if (begun !== undefined) attempts = 0
      if (begun !== undefined && Date.now() - begun > SOON) pauses = 0
      begun = undefined
      if (!isBroken(error, isKnown) || attempts++ === MOST_ATTEMPTS) return undefined
      return Math.min(FIRST_PAUSE * 2 ** pauses++, LONGEST_PAUSE)
    },
  }
}

type Ready = ReturnType<typeof createReady>

/** A promise that may go unheard. */
function createReady() {
  let resolve: (followed: SubscriptionFilter) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<SubscriptionFilter>((...settle) => {
    ;[resolve, reject] = settle
  })
  promise.catch(() => {})
  const said: Pick<Listening, 'followed' | 'refused'> = {}
  return Object.assign(said as { -readonly [K in keyof typeof said]: (typeof said)[K] }, { promise, resolve, reject })
}

/** Over another connection the server may follow less than before. */
function tellLost(core: Core, before: SubscriptionFilter, now: SubscriptionFilter): void {
  const left = new Set(now.resourceSubscriptions)
  const lost = (before.resourceSubscriptions ?? []).filter((uri) => !left.has(uri)).slice(0, 10)
  if (lost.length === 0) return
  core.report(new ConnectionError('unsupported', `The server does not tell of updates any more of ${lost.join(', ')}`))
}

/** The connection is gone, or one that has confirmed before does not in time, as opposed to: the server said no. */
function isBroken(error: unknown, isKnown: boolean): boolean {
  if (!(error instanceof ConnectionError)) return false
  return error.retryable || broken.has(error.reason) || (isKnown && error.reason === 'timeout')
}

const broken = new Set<ConnectionError['reason']>(['closed', 'exited', 'unreachable'])

function isLimit(reason: unknown): boolean {
  return reason instanceof ConnectionError && reason.reason === 'limit'
}

/** All that may have changed while nobody listened. */
function changesOf(filter: SubscriptionFilter): Change[] {
  const changes: Change[] = (filter.resourceSubscriptions ?? []).map((uri) => ({ kind: 'resource', uri }))
  if (filter.toolsListChanged) changes.push({ kind: 'tools' })
  if (filter.promptsListChanged) changes.push({ kind: 'prompts' })
  if (filter.resourcesListChanged) changes.push({ kind: 'resources' })
  return changes
}
