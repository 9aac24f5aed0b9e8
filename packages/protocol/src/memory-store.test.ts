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

  it('always has room for some ids of each caller, however many ids another caller adds', () => {
    const store = createMemoryReplayStore({ maxIds: 100 })
    const addAll = (caller: string) => {
      let count = 0
      try {
        while (store.add(`${caller} ${count}`, 1_000, caller) === true) count += 1
        return [count]
      } catch (error) {
        return [count, String(error)]
      }
    }
    expect(addAll('a')).toEqual([75, expect.stringContaining('more than 25 proofs of one caller at once (perCaller)')])
    expect(addAll('b')).toEqual([25, expect.stringContaining('more than 100 proofs at once')])
    vi.advanceTimersByTime(1_000)
    expect(addAll('c')[0]).toBe(75)
    expect(store.add('a 0', 1_000, 'a')).toBe(true)
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
