/** What every Channel must do, whatever carries it. */

import type { Channel, Decoded, JsonObject, Message } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { caught, settled } from './timing.ts'

export interface ChannelContractOptions {
  /** Two ends of one pipe, new for each test. */
  create: () => Promise<[Channel, Channel]> | [Channel, Channel]
  /** How many small messages fit at most between two ends when nobody reads. Default: 200,000. */
  capacity?: number
}

interface Noted {
  params: { n: number; text?: string }
}

function note(n: number, extra: JsonObject = {}): Message {
  return { jsonrpc: '2.0', method: 'n', params: { n, ...extra } }
}

/** Collects what arrives; `ended` settles with the channel. */
function collect(channel: Channel): { items: Decoded[]; ended: Promise<void> } {
  const items: Decoded[] = []
  return { items, ended: channel.receive((item) => void items.push(item)) }
}

export function channelContract(name: string, { create, capacity = 200_000 }: ChannelContractOptions): void {
  describe(`${name} as a channel`, () => {
    it('carries messages of every kind both ways, in order, as they are', async () => {
      const [a, b] = await create()
      const there = collect(b)
      const back = collect(a)
      const messages: Message[] = [
        {
          jsonrpc: '2.0',
          id: 1,
          method: 'm',
          params: { text: 'line\nbreak  é 日本語 \u{1f600} \0', n: -0.5, nested: { a: [null, true, []] } },
        },
        { jsonrpc: '2.0', id: 'x', method: 'm' },
        { jsonrpc: '2.0', method: 'n' },
        { jsonrpc: '2.0', id: 0, result: {} },
        { jsonrpc: '2.0', id: '', error: { code: -1, message: '', data: [1] } },
        { jsonrpc: '2.0', error: { code: -32700, message: 'no id' } },
      ]
      for (const message of messages) {
        await a.send(message)
        await b.send(message)
      }
      await a.close()
      await there.ended
      await b.close()
      await back.ended
      expect(there.items).toEqual(messages)
      expect(back.items).toEqual(messages)
    })

    it('keeps what was sent before the other end began to receive', async () => {
      const [a, b] = await create()
      await a.send(note(1))
      await a.send(note(2))
      await settled()
      const { items, ended } = collect(b)
      await a.close()
      await ended
      expect(items).toEqual([note(1), note(2)])
    })

    it('carries an array of answers as one item', async () => {
      const [a, b] = await create()
      const { items, ended } = collect(b)
      await a.send([
        { jsonrpc: '2.0', id: 1, result: {} },
        { jsonrpc: '2.0', id: 2, result: {} },
      ])
      await a.close()
      await ended
      expect(items).toHaveLength(1)
      expect(items[0]).toHaveLength(2)
    })

    it('carries one large message', async () => {
      const [a, b] = await create()
      const { items, ended } = collect(b)
      await a.send(note(1, { text: 'é'.repeat(1_000_000) }))
      await a.close()
      await ended
      expect((items[0] as unknown as Noted).params.text?.length).toBe(1_000_000)
    })

    it('reads nothing more while the receiver is busy, and loses nothing', async () => {
      const [a, b] = await create()
      const seen: number[] = []
      let release = (): void => {}
      const ended = b.receive((item) => {
        seen.push((item as unknown as Noted).params.n)
        if (seen.length > 1) return undefined
        return new Promise<void>((resolve) => {
          release = resolve
        })
      })
      for (let n = 0; n < 10; n++) void a.send(note(n))
      // Another process may take its time with the first.
      while (seen.length === 0) await settled()
      await settled()
      expect(seen).toEqual([0])
      release()
      await a.close()
      await ended
      expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    })

    it('tells the sender to wait when nobody reads, and goes on when somebody does', async () => {
      const [a, b] = await create()
      let sent = 0
      let waiting: PromiseLike<void> | undefined
      while (waiting === undefined && sent < capacity) waiting = a.send(note(sent++)) as PromiseLike<void> | undefined
      expect(waiting).toBeDefined()
      const { items, ended } = collect(b)
      await waiting
      await a.close()
      await ended
      expect(items).toHaveLength(sent)
    })

    it('ends the receiving of both ends when one is closed, once and for all', async () => {
      const [a, b] = await create()
      const ends = [collect(a).ended, collect(b).ended]
      await a.close()
      await a.close()
      await Promise.all(ends)
      await b.close()
      expect(await caught(() => a.send(note(1)))).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    })

    it('releases a sender that waits for room when it is closed', async () => {
      const [a, b] = await create()
      let sent = 0
      let waiting: PromiseLike<void> | undefined
      while (waiting === undefined && sent < capacity) waiting = a.send(note(sent++)) as PromiseLike<void> | undefined
      expect(waiting).toBeDefined()
      await Promise.all([caught(() => waiting), a.close(), b.close()])
    })

    it('can be received from once only', async () => {
      const [a, b] = await create()
      const { ended } = collect(b)
      expect(await caught(() => b.receive(() => {}))).toBeInstanceOf(TypeError)
      await a.close()
      await ended
    })

    it('breaks, and says so, when the receiver fails', async () => {
      const [a, b] = await create()
      const receiving = caught(() =>
        b.receive(() => {
          throw new Error('receiver')
        }),
      )
      await a.send(note(1))
      expect(await receiving).toBeInstanceOf(Error)
      await a.close()
      await b.close()
    })
  })
}
