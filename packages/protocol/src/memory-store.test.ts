import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryCounterStore, createMemoryReplayStore } from './memory.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('createMemoryReplayStore', () => {
  it('finds stored ids, and throws when it is full', async () => {
    const store = createMemoryReplayStore({ maxIds: 2 })
    expect([store.add('a', 10), store.add('a', 10), store.add('b', 10)]).toEqual([true, false, true])
    expect(() => store.add('c', 10)).toThrow('maxIds')
    vi.advanceTimersByTime(10)
    expect(store.add('a', 10)).toBe(true)
  })

  it('finds expired ids behind others when it is full', async () => {
    const store = createMemoryReplayStore({ maxIds: 2 })
    expect([store.add('long', 100), store.add('short', 10)]).toEqual([true, true])
    vi.advanceTimersByTime(10)
    expect([store.add('new', 10), store.add('long', 10)]).toEqual([true, false])
  })
})

it('refuses options that do not exist', () => {
  expect(() => createMemoryCounterStore({ max: 1 } as object)).toThrow(
    'createMemoryCounterStore: there is no option "max"; expected one of maxKeys',
  )
  expect(() => createMemoryReplayStore({ ids: 1 } as object)).toThrow(
    'there is no option "ids"; expected one of maxIds',
  )
})
