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

it('refuses to go back', async () => {
  using clock = fakeClock()
  await expect(clock.advance(-1)).rejects.toThrow('advance: expected a number of ms from 0, got -1')
})
