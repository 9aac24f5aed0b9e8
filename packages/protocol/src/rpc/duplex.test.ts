import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { decode } from '../jsonrpc/codec.ts'
import type { ConnectionError } from '../jsonrpc/connection-error.ts'
import { methodNotFound } from '../jsonrpc/errors.ts'
import { type Message, type ResponseMessage, resultMessage } from '../jsonrpc/message.ts'
import { createChannelPair } from '../memory/channel.ts'
import type { Channel } from '../ports/channel.ts'
import type { Exchange, Responder } from '../ports/exchange.ts'
import { createDuplex, type Duplex, type DuplexOptions } from './duplex.ts'

const turn = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms))

/** Counts the timers that are armed, also those that do not keep the process alive. */
function watchTimers() {
  const armed = new Set<unknown>()
  const { setTimeout: set, clearTimeout: clear } = globalThis
  globalThis.setTimeout = ((run: () => void, ms?: number) => {
    const timer = set(() => {
      armed.delete(timer)
      run()
    }, ms)
    armed.add(timer)
    return timer
  }) as typeof setTimeout
  globalThis.clearTimeout = ((timer: NodeJS.Timeout) => {
    armed.delete(timer)
    clear(timer)
  }) as typeof clearTimeout
  const restore = () => Object.assign(globalThis, { setTimeout: set, clearTimeout: clear })
  return { armed, restore }
}

/** A duplex with a bare channel at the other end, to say what no duplex would say. */
function bare(options: DuplexOptions = {}) {
  const [near, far] = createChannelPair()
  const problems: Error[] = []
  const received: (Message | Message[])[] = []
  const duplex = createDuplex(near, { report: (problem) => void problems.push(problem), ...options })
  const ended = far.receive((item) => void received.push(item as Message))
  return { duplex, far, problems, received, ended }
}

/** Two duplexes, connected. */
function pair(responder: Responder, options: DuplexOptions = {}) {
  const [near, far] = createChannelPair()
  const problems: Error[] = []
  const server = createDuplex(far, { responder, report: (problem) => void problems.push(problem), ...options })
  const client = createDuplex(near, { report: (problem) => void problems.push(problem) })
  return { client, server, problems }
}

const ask = (id: unknown, method: string, params?: object) => ({ jsonrpc: '2.0', id, method, params }) as Message
const note = (method: string, params?: object) => ({ jsonrpc: '2.0', method, params }) as Message
const text = (channel: Channel, line: string) => channel.send(decode(line) as Message)

describe('answering', () => {
  it('answers each request once, at once where the responder does', async () => {
    const { far, received, duplex } = bare({
      responder: { respond: (message) => ('id' in message ? resultMessage(message.id, { n: 1 }) : undefined) },
    })
    for (const id of [1, '1', 0, '', -5]) await far.send(ask(id, 'm'))
    await turn()
    expect(received).toEqual([1, '1', 0, '', -5].map((id) => ({ jsonrpc: '2.0', id, result: { n: 1 } })))
    expect(duplex.load).toEqual({ running: 0, pending: 0 })
  })

  it('says of every method that it is unknown when nothing answers here', async () => {
    const { far, received } = bare()
    await far.send(ask(1, 'tools/call'))
    await far.send(note('notifications/x'))
    await turn()
    expect(received).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found: "tools/call"' } },
    ])
  })

  it('masks a throw, a rejection and a missing answer, and reports what was thrown', async () => {
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

  it('refuses an id that is still in flight, and takes it again afterwards', async () => {
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

  it('refuses more requests at once than it may run, naming the number, and loses none that it took', async () => {
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

  it('sends no answer to a request that was cancelled, and gives the reason to its signal', async () => {
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

  it('ignores a cancellation of what is unknown, finished, or malformed', async () => {
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

  it('lets nothing be said about a request once it is answered', async () => {
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

  it('puts an error in the place of a result that cannot be written', async () => {
    const [near, far] = createChannelPair()
    const written: Channel = {
      ...near,
      send(message) {
        JSON.stringify(message)
        return near.send(message)
      },
    }
    const problems: Error[] = []
    const strict: Channel = {
      ...written,
      send(message) {
        try {
          return written.send(message)
        } catch {
          throw methodNotFound('written')
        }
      },
    }
    createDuplex(strict, {
      responder: { respond: () => resultMessage(1, { n: 1n }) },
      report: (problem) => void problems.push(problem),
    })
    const received: unknown[] = []
    void far.receive((item) => void received.push(item))
    await far.send(ask(1, 'm'))
    await turn()
    expect(received).toMatchObject([{ id: 1, error: { code: -32601 } }])
    expect(problems).toHaveLength(1)
  })
})

describe('messages that were not let in', () => {
  it('answers a refused request under its id, and a text that is no message without one', async () => {
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

  it('answers no refused notification and no refused response', async () => {
    const { far, received, problems } = bare()
    await text(far, '{"jsonrpc":"2.0","method":"n","params":[1]}')
    await text(far, '{"jsonrpc":"2.0","id":9,"result":5}')
    await turn()
    expect(received).toEqual([])
    expect(problems).toHaveLength(2)
  })

  it('ends the request whose answer was refused, instead of letting it wait', async () => {
    const { duplex, far } = bare()
    const calls = [1, 2, 3].map(() => duplex.request('m').catch((error) => error))
    await text(far, '{"jsonrpc":"2.0","id":1,"result":[]}')
    await text(far, '{"jsonrpc":"2.0","id":2,"error":{"code":1.5,"message":"m"}}')
    await text(far, '{"jsonrpc":"2.0","id":3}')
    for (const error of await Promise.all(calls))
      expect(error).toMatchObject({ name: 'ConnectionError', reason: 'invalid-message' })
    expect(duplex.load.pending).toBe(0)
  })

  it('refuses an array unless the revision that has them was negotiated', async () => {
    const respond: Responder['respond'] = (message) => ('id' in message ? resultMessage(message.id, {}) : undefined)
    const closed = bare({ responder: { respond } })
    await text(closed.far, '[{"jsonrpc":"2.0","id":1,"method":"m"}]')
    await turn()
    expect(closed.received).toMatchObject([{ error: { code: -32600, message: expect.stringContaining('array') } }])
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
})

describe('asking', () => {
  it('reports an answer that nobody waits for once, and gives it to nobody', async () => {
    const { duplex, far, problems } = bare()
    const call = duplex.request('m')
    await far.send(resultMessage(1, { first: true }))
    await far.send(resultMessage(1, { second: true }))
    await far.send(resultMessage(99, {}))
    await far.send(resultMessage('1', {}))
    await far.send({ jsonrpc: '2.0', error: { code: -32700, message: 'what?' } })
    expect(await call).toEqual({ first: true })
    await turn()
    expect(problems.map((problem) => (problem as ConnectionError).reason)).toEqual([
      'unmatched',
      'unmatched',
      'unmatched',
      'unmatched',
    ])
  })

  it('tells the peer when it gives up, once, and never for a request that must not be cancelled', async () => {
    const { duplex, far, received, problems } = bare()
    const controller = new AbortController()
    const cancelled = duplex.request('m', {}, { signal: controller.signal }).catch((error) => error)
    const timedOut = duplex.request('m', {}, { timeout: 20 }).catch((error) => error)
    const quiet = duplex.request('initialize', {}, { timeout: 20, announceCancel: false }).catch((error) => error)
    controller.abort('enough')
    expect(await cancelled).toMatchObject({ reason: 'cancelled', cause: 'enough' })
    expect(await timedOut).toMatchObject({ reason: 'timeout', message: 'No answer to m within 20 ms' })
    expect(await quiet).toMatchObject({ reason: 'timeout' })
    await turn()
    expect(received.slice(3)).toEqual([
      note('notifications/cancelled', { requestId: 1, reason: 'enough' }),
      note('notifications/cancelled', { requestId: 2, reason: 'The request timed out' }),
    ])
    await far.send(resultMessage(1, {}))
    await turn()
    expect(problems).toMatchObject([{ reason: 'unmatched' }])
  })

  it('waits on while progress is made, but never longer than the hard maximum', async () => {
    const { duplex, far } = bare()
    const started = performance.now()
    const call = duplex
      .request('m', {}, { timeout: 60, maxTimeout: 200, onNotification: () => {} })
      .catch((error) => error)
    const ticking = setInterval(
      () => void far.send(note('notifications/progress', { progressToken: 1, progress: performance.now() })),
      20,
    )
    const error = await call
    clearInterval(ticking)
    expect(error).toMatchObject({ reason: 'timeout', message: expect.stringContaining('longest') })
    expect(performance.now() - started).toBeGreaterThan(150)
  })

  it('never times out when told to wait for ever, and refuses a time that is none', async () => {
    const { duplex, far } = bare()
    const call = duplex.request('m', {}, { timeout: Number.POSITIVE_INFINITY })
    for (const timeout of [0, -1, Number.NaN])
      await expect(duplex.request('m', {}, { timeout })).rejects.toThrow(RangeError)
    await far.send(resultMessage(1, { ok: true }))
    expect(await call).toEqual({ ok: true })
    expect(duplex.load.pending).toBe(0)
  })

  it('keeps the caller’s own metadata beside the progress token, and changes nothing that it was given', async () => {
    const { duplex, received } = bare()
    const params = { a: 1, _meta: { 'x/y': 1 } }
    duplex.request('m', params, { onNotification: () => {} }).catch(() => {})
    await turn()
    expect(received).toMatchObject([{ params: { a: 1, _meta: { 'x/y': 1, progressToken: 1 } } }])
    expect(params).toEqual({ a: 1, _meta: { 'x/y': 1 } })
    await duplex.close()
  })

  it('gives a tagged notification to the subscription it belongs to, and its end too', async () => {
    const heard: string[] = []
    const { duplex, far } = bare({ responder: { respond: (message) => void heard.push(`other ${message.method}`) } })
    const own = (name: string) => ({
      onNotification: ({ method }: { method: string }) => void heard.push(`${name} ${method}`),
    })
    const calls = [
      duplex.request('subscriptions/listen', {}, own('a')),
      duplex.request('subscriptions/listen', {}, own('b')),
    ]
    const tagged = (id: number) => ({ _meta: { 'io.modelcontextprotocol/subscriptionId': id } })
    await far.send(note('notifications/x', tagged(2)))
    await far.send(note('notifications/x', tagged(1)))
    await far.send(note('notifications/x', tagged(3)))
    await far.send(note('notifications/cancelled', { requestId: 2 }))
    await turn()
    expect(heard).toEqual([
      'b notifications/x',
      'a notifications/x',
      'other notifications/x',
      'b notifications/cancelled',
    ])
    await duplex.close()
    await Promise.allSettled(calls)
  })

  it('survives a listener that throws, and reports it', async () => {
    const { duplex, far, problems } = bare()
    const throwing = {
      onNotification: () => {
        throw new Error('listener')
      },
    }
    const call = duplex.request('m', {}, throwing)
    await far.send(note('notifications/progress', { progressToken: 1, progress: 1 }))
    await far.send(resultMessage(1, { ok: true }))
    expect(await call).toEqual({ ok: true })
    expect(problems.map(({ message }) => message)).toEqual(['listener'])
  })

  it('refuses more requests than may wait at once', async () => {
    const { duplex } = bare({ limits: { pending: 2 } })
    const waiting = [duplex.request('m'), duplex.request('m')]
    await expect(duplex.request('m')).rejects.toMatchObject({ reason: 'limit', retryable: true })
    await duplex.close()
    await Promise.allSettled(waiting)
  })
})

describe('both directions at once', () => {
  it('lets a responder ask back in the middle of its answer', async () => {
    const [near, far] = createChannelPair()
    createDuplex(far, {
      responder: {
        async respond(message, { session }) {
          const answer = await session?.request('roots/list')
          return 'id' in message ? resultMessage(message.id, { answer }) : undefined
        },
      },
    })
    const client = createDuplex(near, {
      responder: { respond: (message) => ('id' in message ? resultMessage(message.id, { roots: [] }) : undefined) },
    })
    expect(await client.request('tools/call')).toEqual({ answer: { roots: [] } })
    await client.close()
  })

  it('feeds a session that is ready with what the responder says unasked, until it closes', async () => {
    let stopped = false
    const responder: Responder = {
      respond(message, { session }) {
        if (message.method === 'notifications/initialized')
          void session?.update((state) => void Object.assign(state, { initialized: true }))
        return undefined
      },
      async *changes(_, signal) {
        yield { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        stopped = true
      },
    }
    const { far, received, duplex } = bare({ responder })
    await far.send(note('notifications/x'))
    await turn()
    expect(received).toEqual([])
    await far.send(note('notifications/initialized'))
    await turn()
    expect(received).toEqual(
      [note('notifications/tools/list_changed')].map((message) => ({
        jsonrpc: '2.0',
        method: message && 'method' in message && message.method,
      })),
    )
    await duplex.close()
    await turn()
    expect(stopped).toBe(true)
  })
})

describe('a peer that does not read', () => {
  it('slows the sender, keeps memory bounded, and loses nothing that was taken', async () => {
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

  it('drops what can be done without, reports it, and still sends the answer', async () => {
    const [near, far] = createChannelPair({ highWaterMark: 8, maxQueued: 10_000 })
    const problems: Error[] = []
    createDuplex(near, {
      limits: { unsent: 16 },
      report: (problem) => void problems.push(problem),
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

describe('closing', () => {
  let timers: ReturnType<typeof watchTimers>
  beforeEach(() => {
    timers = watchTimers()
  })
  afterEach(() => {
    timers.restore()
    expect(timers.armed.size).toBe(0)
  })

  it('rejects everything that waits with one error, aborts what runs, and leaves no timer', async () => {
    let signal: AbortSignal | undefined
    const { client, server } = pair({
      respond(_, exchange) {
        signal = exchange.signal
        return new Promise(() => {})
      },
    })
    const calls = Array.from({ length: 50 }, () =>
      client.request('m', {}, { onNotification: () => {} }).catch((error) => error),
    )
    await turn()
    expect(client.load.pending).toBe(50)
    await client.close()
    const errors = await Promise.all(calls)
    expect(new Set(errors).size).toBe(1)
    expect(errors[0]).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    await server.closed
    expect(signal?.aborted).toBe(true)
    expect(client.load.pending + server.load.pending).toBe(0)
  })

  it('takes its listener back from every signal it was given', async () => {
    const { client } = pair({ respond: (message) => ('id' in message ? resultMessage(message.id, {}) : undefined) })
    let listeners = 0
    const { signal } = new AbortController()
    const counting = new Proxy(signal, {
      get(target, key) {
        if (key === 'addEventListener') listeners += 1
        if (key === 'removeEventListener') listeners -= 1
        const value = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    for (let n = 0; n < 20; n++) await client.request('m', {}, { signal: counting })
    expect(listeners).toBe(0)
    await client.close()
  })

  it('lets running calls end when it drains, takes no new ones, and aborts those that take too long', async () => {
    const respond: Responder['respond'] = async (message, { signal }) => {
      if (message.method === 'quick') await turn(30)
      else await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return 'id' in message ? resultMessage(message.id, {}) : undefined
    }
    const { client, server } = pair({ respond })
    const quick = client.request('quick')
    const stuck = client.request('stuck').catch((error) => error)
    await turn()
    const drained = server.drain(60)
    await turn()
    await expect(client.request('quick')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('Shutting down'),
    })
    expect(await quick).toEqual({})
    await drained
    expect(await stuck).toMatchObject({ reason: 'closed' })
    expect(server.load.running).toBe(0)
  })

  it('answers what runs after the peer has ended its side, within the time given', async () => {
    const received: unknown[] = []
    let endInput = (): void => {}
    const channel: Channel = {
      send: (message) => void received.push(message),
      receive: async (receiver) => {
        await receiver(ask(1, 'm'))
        await new Promise<void>((resolve) => (endInput = resolve))
      },
      close: async () => {},
    }
    const duplex = createDuplex(channel, {
      drainTimeout: 1000,
      responder: {
        respond: async (message) => {
          await turn(20)
          return 'id' in message ? resultMessage(message.id, {}) : undefined
        },
      },
    })
    await turn()
    endInput()
    await expect(duplex.request('m').catch((error) => error)).resolves.toBeInstanceOf(Error)
    await duplex.closed
    expect(received).toContainEqual(resultMessage(1, {}))
  })

  it('says why it ended when the channel breaks', async () => {
    const duplex: Duplex = createDuplex({
      send: () => {},
      receive: () => Promise.reject(new Error('cable')),
      close: async () => {},
    })
    const call = duplex.request('m').catch((error) => error)
    expect(await duplex.closed).toMatchObject({ reason: 'closed', cause: { message: 'cable' } })
    expect(await call).toMatchObject({ reason: 'closed', cause: { message: 'cable' } })
  })

  it('ends cleanly when asked to twice, also from both ends at once', async () => {
    const { client, server } = pair({ respond: () => undefined })
    await Promise.all([client.close(), client.close(), server.close()])
    expect(await client.closed).toBeUndefined()
    expect(await server.closed).toBeUndefined()
    await client.notify('notifications/x')
  })
})
