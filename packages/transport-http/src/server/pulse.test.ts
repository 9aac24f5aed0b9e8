import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Beating, Pulse } from './pulse.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function joining(ms: number) {
  const pulse = new Pulse(ms)
  const called: string[] = []
  const join = (name: string, isAlone = false, onBeat?: () => void) => {
    const item: Beating = {
      beat() {
        called.push(name)
        onBeat?.()
      },
    }
    pulse.join(item, isAlone)
    return item
  }
  return { pulse, called, join }
}

describe('a pulse', () => {
  it('calls each once in its time, by one timer however many there are', () => {
    const { called, join } = joining(1_600)
    const names = Array.from({ length: 100 }, (_, n) => `n${n}`)
    for (const name of names) join(name)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(1_600)
    expect([...called].sort()).toEqual([...names].sort())
    vi.advanceTimersByTime(3 * 1_600)
    expect(called).toHaveLength(400)
  })

  it('calls few at a time of many that come at once', () => {
    const { called, join } = joining(15_000)
    for (let n = 0; n < 160; n++) join(`n${n}`)
    let most = 0
    for (let ms = 0; ms < 15_000; ms += 50) {
      const before = called.length
      vi.advanceTimersByTime(50)
      most = Math.max(most, called.length - before)
    }
    expect([called.length, most]).toEqual([160, 10])
  })

  it('keeps a short time, too', () => {
    const { called, join } = joining(20)
    join('a')
    join('b')
    vi.advanceTimersByTime(60)
    expect(called).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
  })

  it('does not call who has left, be it while others are called, and stops with the last', () => {
    const { pulse, called, join } = joining(20)
    join('a', false, () => pulse.leave(b))
    const b = join('b')
    vi.advanceTimersByTime(20)
    expect(called).toEqual(['a'])
    pulse.leave(b)
    const c = join('c')
    pulse.leave(c)
    pulse.leave(c)
    vi.advanceTimersByTime(20)
    expect(called).toEqual(['a', 'a'])
  })

  it('has no timer while nobody is there', () => {
    const { pulse, join } = joining(20)
    const items = [join('a'), join('b', true), join('c')]
    expect(vi.getTimerCount()).toBe(2)
    for (const item of items) pulse.leave(item)
    expect(vi.getTimerCount()).toBe(0)
    pulse.leave(join('d'))
    expect(vi.getTimerCount()).toBe(0)
  })

  it('gives a timer of its own to who cannot share one', () => {
    const { called, join } = joining(1_000)
    join('alone', true)
    vi.advanceTimersByTime(999)
    expect(called).toEqual([])
    vi.advanceTimersByTime(1)
    expect(called).toEqual(['alone'])
  })

  it('never calls where no time is set', () => {
    for (const ms of [Number.POSITIVE_INFINITY, 2 ** 31]) {
      const { pulse, called, join } = joining(ms)
      const items = [join('a'), join('b', true)]
      expect(vi.getTimerCount()).toBe(0)
      vi.advanceTimersByTime(2 ** 31 - 1)
      for (const item of items) pulse.leave(item)
      expect(called).toEqual([])
    }
  })
})
