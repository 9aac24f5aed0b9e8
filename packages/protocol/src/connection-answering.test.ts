import { describe, expect, it } from 'vitest'
import { encode } from './codec.ts'
import { ask, bare, note, text, turn } from './connection.fixture.ts'
import { createDuplex } from './connection.ts'
import type { Exchange, Responder } from './exchange.ts'
import { createChannelPair } from './memory.ts'
import { type ResponseMessage, resultMessage } from './messages.ts'
import type { Channel } from './transport.ts'

describe('answering', () => {
  it('answers each request once, synchronously if the responder does', async () => {
    const { far, received, duplex } = bare({
      responder: { respond: (message) => ('id' in message ? resultMessage(message.id, { n: 1 }) : undefined) },
    })
    for (const id of [1, '1', 0, '', -5]) await far.send(ask(id, 'm'))
    await turn()
    expect(received).toEqual([1, '1', 0, '', -5].map((id) => ({ jsonrpc: '2.0', id, result: { n: 1 } })))
    expect(duplex.load).toEqual({ running: 0, pending: 0 })
  })

  it('rejects every method as unknown without a responder', async () => {
    const { far, received } = bare()
    await far.send(ask(1, 'tools/call'))
    await far.send(note('notifications/x'))
    await turn()
    expect(received).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found: "tools/call"' } },
    ])
  })

  it('masks a throw, a rejection and a missing response, and reports the error', async () => {
    const respond: Responder['respond'] = (message) => {
      if (message.method === 'throw') throw new Error('secret')
      if (message.method === 'reject') return Promise.reject(new TypeError('secret'))
      return undefined
    }
    const { far, received, problems } = bare({ responder: { respond } })
    for (const [id, method] of ['throw', 'reject', 'nothing'].entries()) await far.send(ask(id, method))
    await turn()
    expect(received).toHaveLength(3)
    for (const answer of received) expect(answer).toMatchObject({ error: { code: -32603, message: 'Internal error' } })
    expect(problems.map(({ message }) => message)).toEqual(['secret', 'secret'])
  })

  it('rejects an id that is in use, and accepts it again afterwards', async () => {
    let finish = (_: ResponseMessage): void => {}
    const { far, received } = bare({ responder: { respond: () => new Promise((resolve) => (finish = resolve)) } })
    await far.send(ask(7, 'm'))
    await far.send(ask(7, 'm'))
    await turn()
    expect(received).toMatchObject([{ id: 7, error: { code: -32600, message: expect.stringContaining('in flight') } }])
    finish(resultMessage(7, {}))
    await turn()
    await far.send(ask(7, 'm'))
    await turn()
    finish(resultMessage(7, { again: true }))
    await turn()
    expect(received.slice(1)).toEqual([resultMessage(7, {}), resultMessage(7, { again: true })])
  })

  it('rejects more concurrent requests than the limit, and answers the accepted ones', async () => {
    const finish: ((response: ResponseMessage) => void)[] = []
    const { far, received } = bare({
      responder: { respond: () => new Promise((resolve) => finish.push(resolve)) },
      limits: { running: 2 },
    })
    for (const id of [1, 2, 3]) await far.send(ask(id, 'm'))
    await turn()
    expect(received).toMatchObject([{ id: 3, error: { code: -32603, message: expect.stringContaining('at most 2') } }])
    for (const [n, resolve] of finish.entries()) resolve(resultMessage(n + 1, {}))
    await turn()
    expect(received.slice(1)).toEqual([resultMessage(1, {}), resultMessage(2, {})])
  })

  it('sends no response to a cancelled request, and aborts its signal with the reason', async () => {
    let exchange: Exchange | undefined
    let finish = (_: ResponseMessage): void => {}
    const { far, received, duplex } = bare({
      responder: {
        respond(_, given) {
          exchange = given
          return new Promise((resolve) => (finish = resolve))
        },
      },
    })
    await far.send(ask(1, 'm'))
    await far.send(note('notifications/cancelled', { requestId: 1, reason: 'enough' }))
    await turn()
    expect(exchange?.signal.aborted).toBe(true)
    expect(exchange?.signal.reason).toMatchObject({
      reason: 'cancelled',
      message: 'The peer cancelled the request: enough',
    })
    await exchange?.notify('notifications/progress', { progressToken: 1, progress: 1 })
    finish(resultMessage(1, {}))
    await turn()
    expect(received).toEqual([])
    expect(duplex.load.running).toBe(0)
  })

  it('ignores malformed cancellations, and those of unknown or finished requests', async () => {
    const { far, received, problems } = bare({
      responder: { respond: (message) => ('id' in message ? resultMessage(message.id, {}) : undefined) },
    })
    await far.send(ask(1, 'm'))
    for (const requestId of [1, 2, null, {}, undefined]) await far.send(note('notifications/cancelled', { requestId }))
    await far.send(note('notifications/cancelled'))
    await far.send(ask(2, 'm'))
    await turn()
    expect(received).toEqual([resultMessage(1, {}), resultMessage(2, {})])
    expect(problems).toEqual([])
  })

  it('sends no notifications of a request after its response', async () => {
    let kept: Exchange | undefined
    const { far, received } = bare({
      responder: {
        respond(message, exchange) {
          kept = exchange
          return 'id' in message ? resultMessage(message.id, {}) : undefined
        },
      },
    })
    await far.send(ask(1, 'm'))
    await turn()
    await kept?.notify('notifications/progress', { progressToken: 1, progress: 1 })
    await turn()
    expect(received).toEqual([resultMessage(1, {})])
  })

  it.each(['at once', 'late'])(
    'sends an error instead of a result that cannot be encoded, noticed %s',
    async (when) => {
      const [near, far] = createChannelPair()
      const problems: Error[] = []
      const writing: Channel = {
        ...near,
        send(message) {
          try {
            for (const each of [message].flat()) encode(each)
            return near.send(message)
          } catch (error) {
            if (when === 'late') return Promise.reject(error)
            throw error
          }
        },
      }
      createDuplex(writing, {
        supportsBatches: () => true,
        responder: {
          respond: (message) =>
            resultMessage((message as { id: number }).id, message.method === 'good' ? {} : { n: 1n }),
        },
        onWarning: (problem) => void problems.push(problem),
      })
      const received: unknown[] = []
      void far.receive((item) => void received.push(item))
      await far.send(ask(1, 'm'))
      await far.send([ask(2, 'good'), ask(3, 'm')])
      await turn()
      const error = { code: -32603, message: expect.stringContaining('cannot be written') }
      expect(received).toMatchObject([
        { id: 1, error },
        [
          { id: 2, result: {} },
          { id: 3, error },
        ],
      ])
      expect(problems).toHaveLength(2)
    },
  )
})

describe('rejected messages', () => {
  it('answers a rejected request with its id, and an invalid message without one', async () => {
    const { far, received } = bare()
    for (const line of [
      '{',
      '[]',
      '5',
      '{"jsonrpc":"2.0","id":4,"method":5}',
      '{"jsonrpc":"2.0","id":null,"method":"m"}',
    ])
      await text(far, line)
    await turn()
    expect(received).toMatchObject([
      { error: { code: -32700 } },
      { error: { code: -32600 } },
      { error: { code: -32600 } },
      { id: 4, error: { code: -32600, message: 'Invalid message: method: expected string, got number' } },
      { error: { code: -32600, message: 'Invalid message: id: expected string or integer, got null' } },
    ])
    for (const index of [0, 1, 2, 4]) expect(received[index]).not.toHaveProperty('id')
  })

  it('does not answer rejected notifications and responses', async () => {
    const { far, received, problems } = bare()
    await text(far, '{"jsonrpc":"2.0","method":"n","params":[1]}')
    await text(far, '{"jsonrpc":"2.0","id":9,"result":5}')
    await turn()
    expect(received).toEqual([])
    expect(problems).toHaveLength(2)
  })

  it('fails the request whose response was rejected', async () => {
    const { duplex, far } = bare()
    const calls = [1, 2, 3].map(() => duplex.request('m').catch((error) => error))
    await text(far, '{"jsonrpc":"2.0","id":1,"result":[]}')
    await text(far, '{"jsonrpc":"2.0","id":2,"error":{"code":1.5,"message":"m"}}')
    await text(far, '{"jsonrpc":"2.0","id":3}')
    for (const error of await Promise.all(calls))
      expect(error).toMatchObject({ name: 'ConnectionError', reason: 'invalid-message' })
    expect(duplex.load.pending).toBe(0)
  })

  it('rejects an array unless the negotiated revision supports batches', async () => {
    const respond: Responder['respond'] = (message) => ('id' in message ? resultMessage(message.id, {}) : undefined)
    const closed = bare({ responder: { respond } })
    await text(closed.far, '[{"jsonrpc":"2.0","id":1,"method":"m"}]')
    await turn()
    expect(closed.received).toMatchObject([{ error: { code: -32600, message: expect.stringContaining('batches') } }])
    const open = bare({ responder: { respond } })
    await open.duplex.session.update((state) => void Object.assign(state, { revision: '2025-03-26' }))
    const lines = [
      '{"jsonrpc":"2.0","id":1,"method":"m"}',
      '{"jsonrpc":"2.0","method":"n"}',
      '{"jsonrpc":"2.0","id":2,"method":"m"}',
      '7',
    ]
    await text(open.far, `[${lines}]`)
    await text(open.far, '[{"jsonrpc":"2.0","method":"n"}]')
    await text(open.far, '[{"jsonrpc":"2.0","id":3,"method":"initialize"}]')
    await turn()
    expect(open.received).toMatchObject([
      [{ id: 1, result: {} }, { id: 2, result: {} }, { error: { code: -32600 } }],
      [{ id: 3, error: { code: -32600, message: expect.stringContaining('initialize') } }],
    ])
  })

  it('closes the connection when the callback for arrays throws', async () => {
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    const { far, duplex } = bare({
      supportsBatches() {
        throw new Error('no answer')
      },
    })
    await text(far, '[{"jsonrpc":"2.0","id":1,"method":"m"}]')
    expect(await duplex.closed).toMatchObject({ reason: 'closed', cause: { message: 'no answer' } })
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toEqual([])
  }, 2_000)
})
