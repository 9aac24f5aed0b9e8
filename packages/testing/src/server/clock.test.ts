import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@mcpx/client'
import { createMemoryCounterStore } from '@mcpx/protocol/memory'
import { expect, it } from 'vitest'
import { catchError } from '../timing.ts'
import { fakeClock } from './clock.ts'
import { createTravelServer } from './travel.fixture.ts'

it.each(['modern', 'legacy'] as const)('drives the timeout of a call (%s)', async (era) => {
  await using client = await connect(createTravelServer(), { era })
  using clock = fakeClock()
  let error: unknown
  const call = catchError(() => client.callTool('slow')).then((thrown) => (error = thrown))
  await clock.advance(59_000)
  expect(error).toBeUndefined()
  await clock.advance(2_000)
  await call
  expect(error).toMatchObject({ reason: 'timeout' })
})

it('drives stores in memory, and is restored', async () => {
  const store = createMemoryCounterStore()
  {
    using clock = fakeClock({ now: 0 })
    expect(await store.increment('key', 1_000)).toEqual({ count: 1, resetsAt: 1_000 })
    await clock.advance(999)
    expect(clock.now).toBe(999)
    expect(await store.increment('key', 1_000)).toMatchObject({ count: 2 })
    await clock.advance(1)
    expect(await store.increment('key', 1_000)).toMatchObject({ count: 1 })
    expect(Date.now()).toBe(1_000)
  }
  expect(Date.now()).toBeGreaterThan(1_000_000)
})

it('drives AbortSignal.timeout, until it is restored', async () => {
  const real = AbortSignal.timeout
  {
    using clock = fakeClock()
    const signal = AbortSignal.timeout(60_000)
    await clock.advance(59_000)
    expect(signal.aborted).toBe(false)
    await clock.advance(1_000)
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' })
  }
  expect(AbortSignal.timeout).toBe(real)
})

it('stands still while WebCrypto works, until it is restored', async () => {
  const { digest } = Object.getPrototypeOf(crypto.subtle) as { digest: unknown }
  {
    using clock = fakeClock({ now: 0 })
    let time: number | undefined
    const hash = async () => {
      for (let round = 0; round < 20; round++) await crypto.subtle.digest('SHA-512', new Uint8Array(1_000_000))
      time = clock.now
    }
    setTimeout(() => void hash(), 1_000)
    await clock.advance(60_000)
    expect(time).toBe(1_000)
  }
  expect(Object.getPrototypeOf(crypto.subtle).digest).toBe(digest)
})

it('drives timers that are imported from node:timers/promises, until it is restored', async () => {
  const real = Date.now()
  {
    using clock = fakeClock()
    let woke = false
    void sleep(3_600_000).then(() => (woke = true))
    await clock.advance(3_599_000)
    expect(woke).toBe(false)
    await clock.advance(1_000)
    expect(woke).toBe(true)
  }
  await sleep(5)
  expect(Date.now() - real).toBeLessThan(60_000)
})

it('advances by 90 days in seconds of real time, and runs the timers in order', async () => {
  const start = performance.now()
  {
    using clock = fakeClock({ now: 0 })
    const times: number[] = []
    for (const days of [1, 20, 24]) setTimeout(() => times.push(clock.now), days * 86_400_000)
    await clock.advance(90 * 86_400_000)
    expect(times).toEqual([1, 20, 24].map((days) => days * 86_400_000))
    expect(clock.now).toBe(90 * 86_400_000)
  }
  expect(performance.now() - start).toBeLessThan(20_000)
})

it.each([
  [{ now: Number.NaN }, 'fakeClock, now: expected a date or ms since 1970, got NaN'],
  [{ time: 0 }, 'fakeClock: there is no option "time"; expected one of now'],
  [0, 'fakeClock: expected an object of options, got number'],
])('refuses the options %j', (options, problem) => {
  expect(() => fakeClock(options as never)).toThrow(problem)
})

it('refuses to replace another fake clock', () => {
  using _clock = fakeClock()
  expect(() => fakeClock()).toThrow('fakeClock: expected the real clock, got a fake one; restore it first')
})

it.each([
  [-1, '-1'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
  ['1000', 'string'],
])('refuses to advance by %j', async (ms, got) => {
  using clock = fakeClock()
  await expect(clock.advance(ms as never)).rejects.toThrow(`advance: expected a number of ms from 0, got ${got}`)
})
