/** The contract of channels: ordered messages in both directions. */

import type { Channel, Decoded, JsonObject, Message } from '@mcpx/protocol'
import { check, checkEqual, checkError } from './check.ts'
import { type ContractCase, type ContractOptions, defineContract, type WaitFor } from './contract.ts'
import { catchError, waitForTasks } from './timing.ts'

/** Options of `channelContract`. */
export interface ChannelContractOptions extends ContractOptions {
  /**
   * The largest number of small messages that a channel may buffer while its other end does not read. Default: 200,000.
   */
  readonly capacity?: number | undefined
}

/** Creates a notification with a number. */
function note(n: number, extra: JsonObject = {}): Message {
  return { jsonrpc: '2.0', method: 'n', params: { n, ...extra } }
}

/** Returns the params of a notification that `note` has created. */
function paramsOf(item: Decoded | undefined): { n?: number; text?: string } {
  return item !== undefined && 'params' in item ? (item.params as { n?: number; text?: string }) : {}
}

/** Collects the received items. `ended` is the promise of `receive`. */
function collect(channel: Channel): { items: Decoded[]; ended: Promise<void> } {
  const items: Decoded[] = []
  return { items, ended: channel.receive((item) => void items.push(item)) }
}

const kinds: readonly Message[] = [
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

/**
 * The cases that every channel must pass.
 *
 * @param create Called for each try of a case; returns the two ends of a new channel.
 */
export function channelContract(
  create: () => Promise<[Channel, Channel]> | [Channel, Channel],
  options: ChannelContractOptions = {},
): readonly ContractCase[] {
  const { capacity = 200_000 } = options
  const received = 'receive() of the other end to resolve after close()'

  /**
   * Sends messages until `send` returns a promise. Returns the number of messages, and the promise, which resolves when
   * there is room again.
   */
  function fill(channel: Channel): { sent: number; room: PromiseLike<void> } {
    for (let sent = 1; sent <= capacity; sent++) {
      const room = channel.send(note(sent)) as PromiseLike<void> | undefined
      if (room !== undefined) return { sent, room }
    }
    throw new Error(`send() to an end that nobody reads: expected a promise, got undefined ${capacity} times`)
  }

  async function closeAndWait(end: Channel, ended: Promise<void>, waitFor: WaitFor): Promise<void> {
    await waitFor('close() to resolve', end.close())
    await waitFor(received, ended)
  }

  return defineContract('A channel', options, {
    async 'carries messages of every kind in both directions, in order and unchanged'(waitFor) {
      const [a, b] = await create()
      const atB = collect(b)
      const atA = collect(a)
      for (const message of kinds) {
        await a.send(message)
        await b.send(message)
      }
      await closeAndWait(a, atB.ended, waitFor)
      await closeAndWait(b, atA.ended, waitFor)
      for (const [n, message] of kinds.entries()) {
        checkEqual(`message ${n + 1} at the second end`, atB.items[n], message)
        checkEqual(`message ${n + 1} at the first end`, atA.items[n], message)
      }
      const counts = { first: atA.items.length, second: atB.items.length }
      checkEqual('the number of messages at both ends', counts, { first: kinds.length, second: kinds.length })
    },

    async 'keeps messages that were sent before the other end called receive()'(waitFor) {
      const [a, b] = await create()
      await a.send(note(1))
      await a.send(note(2))
      await waitForTasks()
      const { items, ended } = collect(b)
      await closeAndWait(a, ended, waitFor)
      checkEqual('the messages', items, [note(1), note(2)])
    },

    async 'carries an array of responses as one item'(waitFor) {
      const [a, b] = await create()
      const { items, ended } = collect(b)
      const responses: Message[] = [
        { jsonrpc: '2.0', id: 1, result: {} },
        { jsonrpc: '2.0', id: 2, result: {} },
      ]
      await a.send(responses)
      await closeAndWait(a, ended, waitFor)
      checkEqual('the items', items, [responses])
    },

    async 'carries a message of 2 MB'(waitFor) {
      const [a, b] = await create()
      const { items, ended } = collect(b)
      await waitFor('send() to resolve', a.send(note(1, { text: 'é'.repeat(1_000_000) })))
      await closeAndWait(a, ended, waitFor)
      checkEqual('the length of the received string', paramsOf(items[0]).text?.length, 1_000_000)
    },

    async 'reads nothing while the receiver is busy, and loses nothing'(waitFor) {
      const [a, b] = await create()
      const seen: (number | undefined)[] = []
      let finish = (): void => {}
      let start = (): void => {}
      const started = new Promise<void>((resolve) => {
        start = resolve
      })
      const ended = b.receive((item) => {
        seen.push(paramsOf(item).n)
        if (seen.length > 1) return undefined
        start()
        return new Promise<void>((resolve) => {
          finish = resolve
        })
      })
      for (let n = 0; n < 10; n++) void a.send(note(n))
      await waitFor('the receiver to be called', started)
      await waitForTasks()
      checkEqual('the messages before the promise of the receiver resolved', seen, [0])
      finish()
      await closeAndWait(a, ended, waitFor)
      checkEqual('all messages', seen, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    },

    async 'makes a sender wait when nobody reads, until somebody does'(waitFor) {
      const [a, b] = await create()
      const { sent, room } = fill(a)
      const { items, ended } = collect(b)
      await waitFor('the promise of send() to resolve when the other end reads', room)
      await closeAndWait(a, ended, waitFor)
      checkEqual('the number of messages', items.length, sent)
    },

    async 'ends both ends when one is closed; closing again has no effect'(waitFor) {
      const [a, b] = await create()
      const ended = [collect(a).ended, collect(b).ended]
      await waitFor('close() to resolve', a.close())
      await waitFor('the second close() to resolve', a.close())
      await waitFor('receive() of both ends to resolve after close()', Promise.all(ended))
      await waitFor('close() of the other end to resolve', b.close())
      await checkError('send() after close()', () => a.send(note(1)), { name: 'ConnectionError', reason: 'closed' })
    },

    async 'releases a sender that waits for room when it is closed'(waitFor) {
      const [a, b] = await create()
      const { room } = fill(a)
      const released = Promise.all([catchError(() => room), a.close(), b.close()])
      await waitFor('the promise of send() to settle after close()', released)
    },

    async 'refuses a second call of receive() with a TypeError'(waitFor) {
      const [a, b] = await create()
      const { ended } = collect(b)
      const second = catchError(() => b.receive(() => {}))
      const error = await waitFor('the second receive() to fail', second)
      check('the second receive()', error instanceof TypeError, 'a TypeError', error)
      await closeAndWait(a, ended, waitFor)
    },

    async 'rejects receive() when the receiver throws'(waitFor) {
      const [a, b] = await create()
      const receiving = catchError(() =>
        b.receive(() => {
          throw new Error('thrown by the receiver')
        }),
      )
      await a.send(note(1))
      const error = await waitFor('receive() to reject', receiving)
      check('receive()', error instanceof Error, 'an Error', error)
      await a.close()
      await b.close()
    },
  })
}
