import { describe, expect, it } from 'vitest'
import { decode } from './codec.ts'
import { ask, pair, turn } from './connection.fixture.ts'
import { createDuplex } from './connection.ts'
import type { ConnectionError } from './errors.ts'
import type { Responder } from './exchange.ts'
import { createChannelPair } from './memory.ts'
import { type Message, resultMessage } from './messages.ts'
import type { Channel } from './transport.ts'

describe('a peer that does not read', () => {
  it('slows the sender, keeps memory bounded, and loses no accepted message', async () => {
    const [near, far] = createChannelPair({ highWaterMark: 8, maxQueued: 10_000 })
    let taken = 0
    const duplex = createDuplex(near, {
      responder: {
        respond(message) {
          taken += 1
          return 'id' in message ? resultMessage(message.id, {}) : undefined
        },
      },
      limits: { unsent: 16 },
    })
    for (let id = 0; id < 500; id++) void far.send(ask(id, 'm'))
    await turn()
    expect(taken).toBeLessThan(60)
    const received: unknown[] = []
    void far.receive((item) => void received.push(item))
    await turn(20)
    expect(received).toHaveLength(500)
    await duplex.close()
  })

  it('drops excess notifications with a warning, and still sends the response', async () => {
    const [near, far] = createChannelPair({ highWaterMark: 8, maxQueued: 10_000 })
    const problems: Error[] = []
    createDuplex(near, {
      limits: { unsent: 16 },
      onWarning: (problem) => void problems.push(problem),
      responder: {
        respond(message, exchange) {
          for (let progress = 0; progress < 1000; progress++)
            void exchange.notify('notifications/progress', { progressToken: 1, progress })
          return 'id' in message ? resultMessage(message.id, {}) : undefined
        },
      },
    })
    void far.send(ask(1, 'm'))
    await turn()
    const received: unknown[] = []
    void far.receive((item) => void received.push(item))
    await turn()
    expect(received.length).toBeLessThan(40)
    expect(received.at(-1)).toEqual(resultMessage(1, {}))
    expect(problems).toHaveLength(1000 - received.length + 1)
    expect(problems[0]).toMatchObject({ reason: 'limit' })
  })
})

describe('floods', () => {
  const echo: Responder = { respond: (message) => ('id' in message ? resultMessage(message.id, {}) : undefined) }

  it('answers thousands of concurrent requests', async () => {
    const { client } = pair(echo)
    const results = await Promise.all(Array.from({ length: 5_000 }, () => client.request('m')))
    expect(results).toHaveLength(5_000)
    await client.close()
  })

  it('answers thousands of concurrent requests of both sides', async () => {
    const [near, far] = createChannelPair()
    const sides = [createDuplex(near, { responder: echo }), createDuplex(far, { responder: echo })]
    const calls = sides.flatMap((side) => Array.from({ length: 3_000 }, () => side.request('m')))
    expect(await Promise.all(calls)).toHaveLength(6_000)
    await Promise.all(sides.map((side) => side.close()))
  })

  it('refuse requests and drop notifications when those that are handled use too much memory', async () => {
    const [near, far] = createChannelPair()
    const problems: Error[] = []
    const received: Message[] = []
    let handled = 0
    const responder: Responder = {
      respond() {
        handled += 1
        return new Promise(() => {})
      },
    }
    const onWarning = (problem: Error) => void problems.push(problem)
    const duplex = createDuplex(decoding(near), { responder, limits: { receivedBytes: 1_000_000 }, onWarning })
    void far.receive((item) => void received.push(item as Message))
    const objects = { list: Array.from({ length: 2_000 }, () => ({})) }
    void far.send({ ...ask(1, 'm'), params: { text: 'x'.repeat(2_000_000) } })
    void far.send({ ...ask(2, 'm'), params: objects })
    void far.send({ jsonrpc: '2.0', method: 'n', params: objects })
    void far.send(ask(3, 'm'))
    await turn()
    expect(handled).toBe(2)
    const message = 'Too many bytes at once: at most 1000000 (limits.receivedBytes)'
    expect(received).toMatchObject([{ id: 2, error: { message } }])
    expect(problems).toMatchObject([{ reason: 'limit', message: expect.stringContaining('limits.receivedBytes') }])
    await duplex.close()
  })

  it('of many objects count with the memory of the objects', async () => {
    const [near, far] = createChannelPair()
    const received: Message[] = []
    const responder: Responder = { respond: () => new Promise(() => {}) }
    const duplex = createDuplex(decoding(near), { responder, limits: { receivedBytes: 1_000_000 } })
    void far.receive((item) => void received.push(item as Message))
    const params = { list: Array.from({ length: 2_000 }, () => ({})) }
    for (let id = 1; id <= 20; id++) void far.send({ ...ask(id, 'm'), params })
    await turn()
    expect(received.length).toBeGreaterThan(10)
    await duplex.close()
  })

  it('disconnects a peer that sends requests and reads no responses', async () => {
    const [near, far] = createChannelPair({ highWaterMark: 2 })
    const duplex = createDuplex(near, { responder: echo, limits: { unsent: 4, stallTimeout: 30 } })
    for (let id = 0; id < 50; id++) void far.send(ask(id, 'm'))
    expect(await duplex.closed).toMatchObject({
      reason: 'limit',
      message: expect.stringContaining('4 responses are unsent'),
    })
  })

  it('never disconnects a peer if the timeout is Infinity', async () => {
    const [near, far] = createChannelPair({ highWaterMark: 2 })
    const limits = { unsent: 4, stallTimeout: Number.POSITIVE_INFINITY }
    const duplex = createDuplex(near, { responder: echo, limits })
    for (let id = 0; id < 50; id++) void far.send(ask(id, 'm'))
    await turn(20)
    const read: unknown[] = []
    void far.receive((item) => void read.push(item))
    await turn(20)
    expect(read).toHaveLength(50)
    await duplex.close()
  })

  it('does not disconnect a slow peer that reads', async () => {
    const [near, far] = createChannelPair({ highWaterMark: 1 })
    const duplex = createDuplex(near, { responder: echo, limits: { unsent: 2, stallTimeout: 1_000 } })
    for (let id = 0; id < 12; id++) void far.send(ask(id, 'm'))
    let read = 0
    void far.receive(async () => {
      read += 1
      await turn(120)
    })
    // Long enough for a busy machine; a disconnected peer is not read to the end.
    for (let waited = 0; read < 12 && waited < 15_000; waited += 20) await turn(20)
    expect(read).toBe(12)
    await duplex.close()
  })

  it('counts cancelled requests until the channel has accepted them', async () => {
    const [near] = createChannelPair({ highWaterMark: 2 })
    const duplex = createDuplex(near, { limits: { pending: 10 } })
    let refused = 0
    for (let n = 0; n < 100; n++) {
      const controller = new AbortController()
      const call = duplex.request('m', {}, { signal: controller.signal }).catch((error) => error)
      controller.abort()
      if (((await call) as ConnectionError).reason === 'limit') refused += 1
    }
    expect(refused).toBeGreaterThan(80)
    await duplex.close()
  })

  it('uses the default for an undefined limit, and rejects an invalid one', async () => {
    const { client } = pair(echo, { limits: { unsent: undefined as never } })
    expect(await client.request('m')).toEqual({})
    expect(await client.request('m')).toEqual({})
    await client.close()
    expect(() => createDuplex(createChannelPair()[0], { limits: { running: Number.NaN } })).toThrow(RangeError)
  })

  it('delivers queued messages in linear time', async () => {
    const [near, far] = createChannelPair({ maxQueued: 100_000 })
    for (let n = 0; n < 60_000; n++) void near.send({ jsonrpc: '2.0', method: 'n' })
    let read = 0
    const started = performance.now()
    void far.receive(async () => void read++)
    await near.close()
    while (read < 60_000) await turn()
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

/** Encodes and decodes received messages, as channels over streams do. */
function decoding(channel: Channel): Channel {
  return {
    send: (message) => channel.send(message),
    close: () => channel.close(),
    receive: (receiver) => channel.receive((item) => receiver(decode(JSON.stringify(item)))),
  }
}
