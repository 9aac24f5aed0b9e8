import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Watch, type Watched } from './watch.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function watching(ms: number) {
  const late: string[] = []
  const watch = new Watch<Watched & { name: string }>({ ms, onLate: ({ name }) => late.push(name) })
  const follow = (name: string, isAlone = false) => {
    const item = { name }
    watch.add(item)
    watch.follow(item, isAlone)
    return item
  }
  return { watch, late, follow }
}

describe('what is watched', () => {
  it('is called late once, after its time and at most a quarter more', () => {
    const { late, follow } = watching(1_000)
    follow('a')
    vi.advanceTimersByTime(300)
    follow('b')
    vi.advanceTimersByTime(700)
    expect(late).toEqual([])
    vi.advanceTimersByTime(250)
    expect(late).toEqual(['a'])
    vi.advanceTimersByTime(50)
    expect(late).toEqual(['a'])
    vi.advanceTimersByTime(250)
    expect(late).toEqual(['a', 'b'])
    vi.advanceTimersByTime(10_000)
    expect(late).toEqual(['a', 'b'])
  })

  it('is not called late when it ends in time', () => {
    const { watch, late, follow } = watching(1_000)
    const items = ['a', 'b'].map((name) => follow(name, name === 'b'))
    vi.advanceTimersByTime(900)
    for (const item of items) watch.delete(item)
    vi.advanceTimersByTime(5_000)
    expect([late, watch.size]).toEqual([[], 0])
  })

  it('is called late though what is called before ends others', () => {
    const late: string[] = []
    const items = ['a', 'b', 'c', 'd'].map((name) => ({ name }) as Watched & { name: string })
    const watch = new Watch<Watched & { name: string }>({
      ms: 1_000,
      onLate({ name }) {
        late.push(name)
        if (name === 'a') for (const each of items.slice(0, 3)) watch.delete(each)
      },
    })
    for (const item of items) {
      watch.add(item)
      watch.follow(item, false)
    }
    vi.advanceTimersByTime(1_250)
    expect([late, [...watch]]).toEqual([['a', 'd'], [items[3]]])
  })

  it('is known in the order in which it came, whatever ended in between', () => {
    const { watch, follow } = watching(1_000)
    const items = ['a', 'b', 'c', 'd', 'e'].map((name) => follow(name))
    for (const at of [2, 0, 4, 2]) watch.delete(items[at] as Watched & { name: string })
    follow('f')
    expect([[...watch].map(({ name }) => name), watch.size]).toEqual([['b', 'd', 'f'], 3])
    for (const each of watch) watch.delete(each)
    expect([[...watch], watch.size]).toEqual([[], 0])
  })

  it('has a timer of its own where it stands alone, and is called on time', () => {
    const { late, follow } = watching(1_000)
    follow('a', true)
    follow('b', true)
    expect(vi.getTimerCount()).toBe(2)
    vi.advanceTimersByTime(1_000)
    expect([late, vi.getTimerCount()]).toEqual([['a', 'b'], 0])
  })

  it('may take as long as it likes where there is no limit', () => {
    const { watch, late, follow } = watching(Number.POSITIVE_INFINITY)
    follow('a')
    follow('b', true)
    vi.advanceTimersByTime(10_000_000)
    expect([late, watch.size, vi.getTimerCount()]).toEqual([[], 2, 0])
  })
})

describe('the timer', () => {
  it('is one for all, runs while something is watched, and begins again', () => {
    const { watch, late, follow } = watching(1_000)
    expect(vi.getTimerCount()).toBe(0)
    for (let n = 0; n < 100; n++) watch.delete(follow(String(n)))
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(250)
    expect(vi.getTimerCount()).toBe(0)
    follow('later')
    vi.advanceTimersByTime(1_250)
    expect(late).toEqual(['later'])
  })

  it('ends when it is stopped', () => {
    const { watch, follow } = watching(1_000)
    follow('a')
    watch.stop()
    expect(vi.getTimerCount()).toBe(0)
  })
})
