import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it } from 'vitest'
import { createChannelPair } from './memory.ts'
import type { Message } from './messages.ts'

const context = new AsyncLocalStorage<number>()
const note = (n: number): Message => ({ jsonrpc: '2.0', method: 'n', params: { n } })
const numberIn = (item: unknown) => (item as { params: { n: number } }).params.n

describe('a pair in memory', () => {
  it.each([
    ['at once', () => undefined],
    ['later', () => Promise.resolve()],
    ['much later', () => new Promise<void>((resolve) => void setTimeout(resolve, 0))],
    ['sometimes later', () => (Math.random() < 0.5 ? undefined : Promise.resolve())],
  ])('delivers each message in the async context of its sender, to a receiver that accepts it %s', async (_, take) => {
    const [near, far] = createChannelPair()
    const seen: unknown[] = []
    const send = (n: number) => context.run(n, () => void near.send(note(n)))
    // Some are sent before there is a receiver, some together, and some while others wait.
    for (let n = 0; n < 20; n++) send(n)
    const received = far.receive((item) => {
      seen.push([numberIn(item), context.getStore()])
      return take()
    })
    for (let n = 20; n < 40; n++) send(n)
    await Promise.resolve()
    for (let n = 40; n < 60; n++) {
      send(n)
      await Promise.resolve()
    }
    while (seen.length < 60) await new Promise((resolve) => setTimeout(resolve, 1))
    expect(seen).toEqual(Array.from({ length: 60 }, (__, n) => [n, n]))
    await near.close()
    await received
  })

  it('delivers the messages that were sent before its end', async () => {
    const [near, far] = createChannelPair()
    for (let n = 0; n < 200; n++) void near.send(note(n))
    await near.close()
    let count = 0
    await far.receive(async () => {
      await Promise.resolve()
      count += 1
    })
    expect(count).toBe(200)
  })

  it('delivers nothing to a failed receiver, and releases waiting senders', async () => {
    const [near, far] = createChannelPair({ highWaterMark: 1 })
    const waits = [1, 2, 3, 4].map((n) => near.send(note(n)))
    let count = 0
    const received = far.receive(() => {
      count += 1
      throw new Error('no more')
    })
    await expect(received).rejects.toThrow('no more')
    await Promise.all(waits)
    expect(count).toBe(1)
    expect(() => near.send(note(5))).toThrow('The channel has ended')
  })

  it('accepts a hundred thousand messages from one task, in order', async () => {
    const [near, far] = createChannelPair({ maxQueued: 100_000 })
    for (let n = 0; n < 100_000; n++) void near.send(note(n))
    expect(() => near.send(note(0))).toThrow('100000 messages are already waiting in the channel')
    let next = 0
    const received = far.receive((item) => {
      expect(numberIn(item)).toBe(next++)
    })
    await near.close()
    await received
    expect(next).toBe(100_000)
  })
})
