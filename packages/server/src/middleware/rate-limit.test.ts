import type { Context, CounterStore, JsonObject } from '@mcpx/protocol'
import { createMemoryCounterStore } from '@mcpx/protocol/memory'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Endpoint, wrap } from '../middleware.ts'
import { RATE_LIMITED, type RateLimitOptions, rateLimit } from './rate-limit.ts'

const ctxOf = (subject?: string) =>
  ({ auth: subject === undefined ? undefined : { subject, scopes: [] } }) as unknown as Context
const ok: Endpoint = () => ({ ok: true })

function limited(options: RateLimitOptions) {
  const run = wrap([rateLimit(options)], ok)
  return (subject?: string, method = 'tools/list', params: JsonObject = {}): Promise<unknown> =>
    (async () => run({ method, params }, ctxOf(subject)))().catch((error: unknown) => error)
}

afterEach(() => void vi.useRealTimers())

describe('a rate limit', () => {
  it('limits each caller per window [S-168]', async () => {
    vi.useFakeTimers({ now: 1_000_000 })
    const ask = limited({ limit: 2, window: 10_000 })
    expect(await ask('ann')).toEqual({ ok: true })
    vi.setSystemTime(1_004_000)
    expect(await ask('ann')).toEqual({ ok: true })
    expect(await ask('ann')).toMatchObject({ code: RATE_LIMITED, data: { retryAfterMs: 6_000 } })
    expect(await ask('bob')).toEqual({ ok: true })
    vi.setSystemTime(1_010_000)
    expect(await ask('ann')).toEqual({ ok: true })
  })

  it('counts all anonymous callers as one, and none of them as a principal', async () => {
    const ask = limited({ limit: 1, window: 10_000 })
    await ask()
    expect(await ask()).toMatchObject({
      name: 'RpcError',
      code: 429,
      message: 'Too many requests: at most 1 in 10 s. Try again in 10 s.',
    })
    expect(await ask('anonymous')).toEqual({ ok: true })
  })

  it('returns an error result for tool calls', async () => {
    const ask = limited({ limit: 1, window: 500 })
    await ask('ann', 'tools/call', { name: 't' })
    const refused = await ask('ann', 'tools/call', { name: 't' })
    expect(refused).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('at most 1 in 500 ms') }],
    })
  })

  it('uses an application-defined error code [S-008]', () => {
    expect(RATE_LIMITED < -32_768 || RATE_LIMITED > -32_000).toBe(true)
  })

  it('counts by a custom key, and not without one', async () => {
    const ask = limited({
      limit: 1,
      window: 10_000,
      key: ({ method }) => (method === 'tools/call' ? 'calls' : undefined),
    })
    for (let count = 0; count < 5; count++) expect(await ask('ann', 'tools/list')).toEqual({ ok: true })
    expect(await ask('ann', 'tools/call')).toEqual({ ok: true })
    expect(await ask('bob', 'tools/call')).toMatchObject({ isError: true })
  })

  it('may share a store with other limits, without sharing counts', async () => {
    const store = createMemoryCounterStore()
    const hourly = limited({ limit: 2, window: 3_600_000, store })
    const burst = limited({ limit: 1, window: 1_000, store })
    await burst('ann')
    expect(await hourly('ann')).toEqual({ ok: true })
    expect(await hourly('ann')).toEqual({ ok: true })
    expect(await burst('ann')).toMatchObject({ code: 429 })
    const sameAgain = limited({ limit: 2, window: 3_600_000, store })
    expect(await sameAgain('ann')).toMatchObject({ code: 429 })
  })

  it('awaits the store, and fails if the store fails', async () => {
    const counts = createMemoryCounterStore()
    const slow: CounterStore = { increment: async (key, window) => counts.increment(key, window) }
    const ask = limited({ limit: 1, window: 10_000, store: slow })
    expect(await ask('ann')).toEqual({ ok: true })
    expect(await ask('ann', 'tools/call')).toMatchObject({ isError: true })
    expect(await ask('ann')).toMatchObject({ code: 429 })
    const broken = limited({ limit: 1, window: 1, store: { increment: () => Promise.reject(new Error('down')) } })
    expect(await broken('ann')).toMatchObject({ message: 'down' })
    const thrown: CounterStore = {
      increment: () => {
        throw new Error('down')
      },
    }
    expect(await limited({ limit: 1, window: 1, store: thrown })('ann')).toMatchObject({ message: 'down' })
  })

  it.each([
    [0, 1_000, 'limit'],
    [1.5, 1_000, 'limit'],
    [Number.NaN, 1_000, 'limit'],
    [1, 0, 'window'],
    [1, Number.POSITIVE_INFINITY, 'window'],
    [1, Number.NaN, 'window'],
  ])('of %d in %d ms is rejected', (limit, window, name) => {
    expect(() => rateLimit({ limit, window })).toThrow(new RegExp(`^${name}: expected`))
  })
})

describe('counts in memory', () => {
  it('have a limited number of keys, and evict the oldest window', () => {
    const store = createMemoryCounterStore({ maxKeys: 2 })
    const count = (key: string) => (store.increment(key, 10_000) as { count: number }).count
    expect([count('a'), count('b'), count('a'), count('c'), count('b'), count('a')]).toEqual([1, 1, 2, 1, 2, 1])
  })

  it('remove expired windows', () => {
    vi.useFakeTimers({ now: 0 })
    const store = createMemoryCounterStore({ maxKeys: 2 })
    store.increment('a', 10)
    store.increment('b', 1_000)
    vi.setSystemTime(20)
    store.increment('c', 1_000)
    expect(store.increment('b', 1_000)).toEqual({ count: 2, resetsAt: 1_000 })
  })

  it('need a capacity of at least one key', () => {
    expect(() => createMemoryCounterStore({ maxKeys: 0 })).toThrow('maxKeys: expected 1 or more')
  })
})
