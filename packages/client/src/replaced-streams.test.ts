/** Streams that overtake each other: the last change of a wanted resource is reported, whatever happens in whatever order. */
import { type Change, ConnectionError, type SubscriptionFilter } from '@mcpx/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createChangeQueue } from './change-queue.ts'
import type { Listening } from './change-stream.ts'
import type { ListenOptions } from './options.ts'
import { Subscriptions } from './subscriptions.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const update = (uri: string): Change => ({ kind: 'resource', uri })
const after = (ms: number, run: () => void) => void setTimeout(run, ms)

interface Stream extends Listening {
  readonly uris: readonly string[]
  tell(uri: string): void
  /** The server ends it. */
  end(): void
}

/** A server whose streams have different delays, in ms. The messages of one stream arrive in order. */
function laggard(lagOf: () => number) {
  const open = new Set<Stream>()
  const heard: string[] = []
  const closing = new AbortController()
  function listen(filter: SubscriptionFilter, { signal }: ListenOptions): Listening {
    const queue = createChangeQueue(10_000)
    const lag = lagOf()
    const state = { isOpen: false, isOver: false, endedBy: undefined as Listening['endedBy'] }
    let [resolve, reject]: [(followed: SubscriptionFilter) => void, (error: Error) => void] = [() => {}, () => {}]
    const ready = new Promise<SubscriptionFilter>((...settle) => {
      ;[resolve, reject] = settle
    })
    ready.catch(() => {})
    const uris = filter.resourceSubscriptions ?? []
    const over = (endedBy: Listening['endedBy']) => {
      if (!state.isOver) Object.assign(state, { isOpen: false, isOver: true, endedBy })
      queue.end()
      reject(new ConnectionError('cancelled', 'over'))
    }
    const comes = (run: () => void) => after(lag, () => state.isOver || run())
    const stream: Stream = {
      uris,
      ready,
      followed: filter,
      isSeparate: true,
      get isOpen() {
        return state.isOpen
      },
      get endedBy() {
        return state.endedBy
      },
      tell: (uri) => comes(() => queue.push(update(uri))),
      end() {
        open.delete(stream)
        comes(() => over('server'))
      },
      close() {
        open.delete(stream)
        over('client')
      },
      next: () => queue.next(),
      [Symbol.asyncIterator]: () => stream,
    }
    signal?.addEventListener('abort', stream.close)
    after(5, () => {
      if (state.isOver) return
      open.add(stream)
      comes(() => {
        state.isOpen = true
        resolve(filter)
      })
    })
    return stream
  }
  const subscriptions = new Subscriptions({
    listen,
    capabilities: () => ({ resources: { subscribe: true } }),
    onChange: (change) => heard.push('uri' in change ? change.uri : change.kind),
    onWarning: () => {},
    timeout: 60_000,
    closing: closing.signal,
  })
  /** Announces a change on all streams that follow the resource. */
  const change = (uri: string) => {
    for (const stream of open) if (stream.uris.includes(uri)) stream.tell(uri)
  }
  return { subscriptions, open, heard, change, close: () => closing.abort() }
}

/** Returns a generator of numbers that depend only on the seed. */
function dice(seed: number) {
  let state = seed
  return (sides: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor(state / 256) % sides
  }
}

const pool = ['a:/1', 'b:/2', 'c:/3', 'd:/4']

/** Subscribes, changes, ends and waits at random. Returns the resources whose last change was not reported. */
async function play(seed: number, hasEnds: boolean): Promise<{ untold: string[]; open: number }> {
  const roll = dice(seed)
  const { subscriptions, open, heard, change, close } = laggard(() => (roll(4) === 0 ? roll(120) : roll(10)))
  const wanted = new Set<string>()
  /** The number of reported changes when each resource changed. */
  const changed = new Map<string, number>()
  const want = async (uri: string) => {
    await subscriptions.subscribe(uri, {})
    wanted.add(uri)
  }
  for (let turn = 0; turn < 60; turn++) {
    const uri = pool[roll(4)] as string
    const what = roll(12)
    if (what < 3) void want(uri)
    else if (what < 4 && wanted.delete(uri)) void subscriptions.unsubscribe(uri).then(() => wanted.delete(uri))
    else if (what < 10 && wanted.has(uri)) {
      changed.set(uri, heard.length)
      change(uri)
    } else if (what === 11 && hasEnds) [...open][roll(open.size || 1)]?.end()
    if (!wanted.has(uri)) changed.delete(uri)
    await vi.advanceTimersByTimeAsync(roll(30))
  }
  await vi.advanceTimersByTimeAsync(60_000)
  const untold = [...changed].filter(([uri, count]) => wanted.has(uri) && !heard.slice(count).includes(uri))
  const left = open.size
  close()
  return { untold: untold.map(([uri]) => uri), open: left }
}

describe('changes on streams that replace each other', () => {
  it.each([false, true])(
    'are reported in whatever order they arrive; some streams are ended by the server: %s',
    async (hasEnds) => {
      const lost: number[] = []
      for (let seed = 1; seed <= 150; seed++) {
        const { untold, open } = await play(seed, hasEnds)
        if (untold.length > 0 || open > 1) lost.push(seed)
      }
      expect(lost).toEqual([])
    },
  )

  it('are reported although they arrive only on streams that were replaced', async () => {
    const { subscriptions, open, heard, close } = laggard(() => 1)
    for (const uri of ['a:/1', 'b:/2', 'c:/3']) {
      const done = subscriptions.subscribe(uri, {})
      await vi.advanceTimersByTimeAsync(10)
      for (const stream of open) stream.tell('a:/1')
      await done
    }
    await vi.advanceTimersByTimeAsync(2_000)
    expect(heard).toContain('a:/1')
    close()
  })

  it('are not reported of a resource that was unsubscribed from before', async () => {
    const { subscriptions, open, heard, close } = laggard(() => 1)
    const wait = async (done: Promise<void>) => {
      await vi.advanceTimersByTimeAsync(10)
      await done
    }
    for (const uri of ['a:/1', 'b:/2']) await wait(subscriptions.subscribe(uri, {}))
    const last = [...open].at(-1)
    await wait(subscriptions.unsubscribe('a:/1'))
    heard.length = 0
    last?.tell('a:/1')
    await wait(subscriptions.subscribe('c:/3', {}))
    await vi.advanceTimersByTimeAsync(2_000)
    expect(heard).not.toContain('a:/1')
    close()
  })
})
