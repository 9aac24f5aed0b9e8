import { describe, expect, it } from 'vitest'
import { createRunningRequests, type ExchangeHost, RunningExchange } from './message-processor.ts'

const host = {} as ExchangeHost
const exchanges = (count: number) => Array.from({ length: count }, () => new RunningExchange(host))

describe('running requests', () => {
  it('are found by their key, in any order', () => {
    for (const order of ['123', '132', '213', '231', '312', '321']) {
      const running = createRunningRequests()
      const left = new Set([1, 2, 3])
      for (const [index, exchange] of exchanges(3).entries()) running.add(index + 1, exchange)
      for (const id of order) {
        running.delete(Number(id))
        left.delete(Number(id))
        expect(running.size).toBe(left.size)
        expect([1, 2, 3].filter((each) => running.has(each))).toEqual([...left])
      }
    }
  })

  it('are distinguished by the type of their id', () => {
    const running = createRunningRequests()
    running.add(1, new RunningExchange(host))
    expect(running.has('1')).toBe(false)
    running.delete('1')
    running.add('1', new RunningExchange(host))
    running.delete(1)
    expect([running.has(1), running.has('1'), running.size]).toEqual([false, true, 1])
  })

  it('are aborted by their key or all together', () => {
    const running = createRunningRequests()
    const [first, second, third] = exchanges(3) as [RunningExchange, RunningExchange, RunningExchange]
    running.add('a', first)
    running.add('b', second)
    running.add(third, third)
    expect(running.abort('b', 'enough')).toBe(true)
    expect(running.abort('c', 'enough')).toBe(false)
    expect([first, second, third].map(({ isOpen }) => isOpen)).toEqual([true, false, true])
    running.abortAll('the end')
    expect([first.signal.reason, second.signal.reason, third.signal.reason]).toEqual(['the end', 'enough', 'the end'])
  })

  it('can be awaited until the last one has ended', async () => {
    const running = createRunningRequests()
    await running.idle()
    const [first, second] = exchanges(2) as [RunningExchange, RunningExchange]
    running.add(1, first)
    running.add(2, second)
    let isIdle = false
    const idle = running.idle().then(() => {
      isIdle = true
    })
    running.delete(2)
    await Promise.resolve()
    expect(isIdle).toBe(false)
    running.delete(1)
    await idle
  })
})
