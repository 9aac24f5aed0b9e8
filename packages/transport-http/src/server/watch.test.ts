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

describe('what is watched again whenever it was called', () => {
  function beating(ms: number, looks: number) {
    const called: string[] = []
    const watch: Watch<Watched & { name: string }> = new Watch({
      ms,
      looks,
      onLate(item) {
        called.push(item.name)
        watch.again(item, item.name === 'alone')
      },
    })
    return { watch, called, join: (name: string) => watch.again({ name }, name === 'alone') }
  }

  it('is called once within each stretch of its time and one look, by one timer', () => {
    const { called, join } = beating(1_600, 16)
    const names = Array.from({ length: 100 }, (_, n) => `n${n}`)
    for (const name of names) {
      join(name)
      vi.advanceTimersByTime(15)
    }
    expect([called, vi.getTimerCount()]).toEqual([[], 1])
    for (let times = 1; times <= 3; times++) {
      vi.advanceTimersByTime(1_700)
      expect([...called].sort()).toEqual(names.flatMap((name) => Array(times).fill(name)).sort())
    }
  })

  it('is called few at a time, when they came one after the other', () => {
    const { called, join } = beating(1_600, 16)
    for (let n = 0; n < 160; n++) {
      join(`n${n}`)
      vi.advanceTimersByTime(10)
    }
    let most = 0
    for (let ms = 0; ms < 1_700; ms += 10) {
      const before = called.length
      vi.advanceTimersByTime(10)
      most = Math.max(most, called.length - before)
    }
    expect([called.length, most]).toEqual([160, 10])
  })

  it('is called on time by a timer of its own, where it stands alone', () => {
    const { watch, called, join } = beating(1_600, 16)
    join('alone')
    vi.advanceTimersByTime(1_599)
    expect(called).toEqual([])
    vi.advanceTimersByTime(1 + 1_600)
    expect(called).toEqual(['alone', 'alone'])
    for (const each of watch) watch.delete(each)
    expect(vi.getTimerCount()).toBe(0)
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
