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

it('refuses another start', () => {
  expect(() => fakeClock({ now: Number.NaN })).toThrow('fakeClock, now: expected a date or ms since 1970, got NaN')
})

it('refuses to go back', async () => {
  using clock = fakeClock()
  await expect(clock.advance(-1)).rejects.toThrow('advance: expected a number of ms from 0, got -1')
})
