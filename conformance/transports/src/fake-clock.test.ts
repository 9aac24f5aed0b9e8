/**
 * The clock of the test kit drives the timeouts of all packages: each test waits for a duration that its name says, and
 * takes no real time. `fake-clock-auth.test.ts` tests the timeouts of @mcpx/auth, and `durations.test.ts` lists the
 * options of all packages and their tests.
 */

import { PassThrough, Writable } from 'node:stream'
import { type ClientOptions, connect } from '@mcpx/client'
import { createDuplex, type Responder } from '@mcpx/protocol'
import { createChannelPair, memoryConnector } from '@mcpx/protocol/memory'
import { createServer, rateLimit, timeout } from '@mcpx/server'
import { redisStore } from '@mcpx/store-redis'
import { tasks } from '@mcpx/tasks'
import { faults } from '@mcpx/testing/server'
import { type EndpointOptions, mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { createStreamChannel, spawn } from '@mcpx/transport-stdio'
import { describe, expect, it } from 'vitest'
import { create, MINUTE, never, SECOND, useFakeClock } from './fake-clock.fixture.ts'

const clock = useFakeClock()
const { settlesBetween } = clock

type Handle = (request: Request) => Promise<Response>

/** A connector to an app in this process. `handle` may replace responses. */
function overHttp(server: Responder, options: EndpointOptions = {}, rest: Parameters<typeof http>[1] = {}) {
  const app = mcp(server, options)
  const counts = { GET: 0, POST: 0, DELETE: 0 }
  const network = { handle: (async (request) => app.fetch(request)) as Handle }
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    counts[request.method as 'GET'] += 1
    return network.handle(request)
  }
  return { app, counts, network, connector: http('http://127.0.0.1/mcp', { fetch, ...rest }) }
}

/** Sends a raw message of a legacy session. */
function post(body: object, session?: string): Request {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: session === undefined ? headers : { ...headers, 'mcp-session-id': session },
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
  })
}

const initialize = {
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    clientInfo: { name: 'raw', version: '1' },
    capabilities: { elicitation: {} },
  },
}

async function openSession(app: ReturnType<typeof mcp>): Promise<string> {
  const response = await app.fetch(post(initialize))
  const session = response.headers.get('mcp-session-id') ?? ''
  await response.text()
  await app.fetch(post({ method: 'notifications/initialized' }, session))
  return session
}

describe('client', () => {
  it.each(['modern', 'legacy'] as const)('connectTimeout: 30 s (%s)', async (era) => {
    const { connector, network } = overHttp(create())
    network.handle = never
    const error = await settlesBetween(connect(connector, { era }), 29 * SECOND, 31 * SECOND)
    expect(error).toMatchObject({ reason: 'timeout' })
  })

  it.each(['modern', 'legacy'] as const)(
    'timeout: 60 s, and maxTimeout: 10 min while there is progress (%s)',
    async (era) => {
      const server = create().tool('work', {}, async (_, ctx) => {
        for (let done = 1; ; done++) {
          await new Promise((resolve) => setTimeout(resolve, 50 * SECOND))
          await ctx.progress(done)
        }
      })
      await using client = await connect(server, { era })
      const plain = settlesBetween(client.callTool('never'), 59 * SECOND, 61 * SECOND)
      expect(await plain).toMatchObject({ reason: 'timeout' })
      const working = settlesBetween(client.callTool('work'), 9.9 * MINUTE, 10.1 * MINUTE)
      expect(await working).toMatchObject({ reason: 'timeout' })
    },
  )

  it('timeout of listen: 60 s', async () => {
    const { connector, network } = overHttp(create())
    const { handle } = network
    network.handle = async (request) =>
      (await request.clone().text()).includes('subscriptions/listen') ? never() : handle(request)
    const client = await connect(connector, { era: 'modern' })
    const next = client.listen({ toolsListChanged: true })[Symbol.asyncIterator]().next()
    expect(await settlesBetween(next, 59 * SECOND, 61 * SECOND)).toMatchObject({ reason: 'timeout' })
    await client.close()
  })

  it('ttlMs of cached lists: 1 min', async () => {
    const { connector, counts } = overHttp(create({ cache: { tools: { ttlMs: MINUTE, cacheScope: 'public' } } }))
    const client = await connect(connector, { era: 'modern' })
    const list = () => client.listTools().all()
    await list()
    const before = counts.POST
    await clock.advance(59 * SECOND)
    await list()
    expect(counts.POST).toBe(before)
    await clock.advance(SECOND)
    await list()
    expect(counts.POST).toBe(before + 1)
    await client.close()
  })
})

describe('server', () => {
  it('stateTtl: 10 min', async () => {
    // Only a call with an earlier answer has a state.
    const server = createServer({ name: 'clock', version: '1' }).tool('ask', {}, async (_, ctx) => {
      const schema = { type: 'object' as const, properties: {} }
      await ctx.elicit('first', { message: 'First?', schema })
      return (await ctx.elicit('second', { message: 'Second?', schema })).action
    })
    const after = (ms: number): ClientOptions => ({
      era: 'modern',
      onElicit: ({ message }) =>
        new Promise((resolve) => setTimeout(() => resolve({ action: 'decline' }), message === 'First?' ? 0 : ms)),
    })
    const early = await connect(server, after(9 * MINUTE))
    const late = await connect(server, after(11 * MINUTE))
    const calls = [early.callTool('ask'), late.callTool('ask').catch((error: unknown) => error)]
    await clock.advance(12 * MINUTE)
    expect(await calls[0]).toMatchObject({ content: [{ text: 'decline' }] })
    expect(await calls[1]).toMatchObject({ message: expect.stringContaining('requestState') })
    await Promise.all([early.close(), late.close()])
  })

  it('window of rateLimit: 1 min', async () => {
    const server = create().use(
      rateLimit({ limit: 1, window: MINUTE, key: ({ method }) => (method === 'tools/call' ? 'calls' : undefined) }),
    )
    await using client = await connect(server)
    const call = () =>
      client.callTool('now').then(
        ({ isError }) => (isError ? 'refused' : 'called'),
        () => 'refused',
      )
    expect([await call(), await call()]).toEqual(['called', 'refused'])
    await clock.advance(59 * SECOND)
    expect(await call()).toBe('refused')
    await clock.advance(SECOND)
    expect(await call()).toBe('called')
  })

  it.each(['modern', 'legacy'] as const)('timeout of the middleware: 5 s (%s)', async (era) => {
    await using client = await connect(create().use(timeout(5 * SECOND)), { era })
    expect(await settlesBetween(client.callTool('never'), 4_900, 5_100)).toMatchObject({ isError: true })
  })
})

describe('transport-http, server', () => {
  it('sessions.ttl: 30 min', async () => {
    const app = mcp(create())
    const session = await openSession(app)
    const ping = async () => (await app.fetch(post({ id: 1, method: 'ping' }, session))).status
    await clock.advance(29 * MINUTE)
    expect(await ping()).toBe(200)
    await clock.advance(29 * MINUTE)
    expect(await ping()).toBe(200)
    await clock.advance(31 * MINUTE)
    expect(await ping()).toBe(404)
  })

  it('keepAlive of streams: 15 s', async () => {
    const app = mcp(create())
    const session = await openSession(app)
    const headers = { accept: 'text/event-stream', 'mcp-session-id': session }
    const { body } = await app.fetch(new Request('http://127.0.0.1/mcp', { headers }))
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const read = async () => {
      for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) text += part.value
    }
    const reading = read()
    await clock.advance(0)
    const comments = () => text.split('\n').filter((line) => line.startsWith(':')).length
    const before = comments()
    await clock.advance(46 * SECOND)
    expect(comments()).toBe(before + 3)
    await app.close()
    await reading
  })

  it('keepAlive of a JSON response, which becomes a stream: 15 s', async () => {
    const { connector, network } = overHttp(create())
    const types: (string | null)[] = []
    const { handle } = network
    network.handle = async (request) => {
      const response = await handle(request)
      types.push(response.headers.get('content-type'))
      return response
    }
    const client = await connect(connector, { era: 'modern' })
    const before = types.length
    client.callTool('never').catch(() => {})
    await clock.advance(14 * SECOND)
    expect(types.length).toBe(before)
    await clock.advance(6 * SECOND)
    expect(types[before]).toContain('text/event-stream')
    await client.close()
  })

  it('bodyTimeout: 30 s', async () => {
    const app = mcp(create())
    const { headers } = post({})
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) })
    const request = new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as RequestInit)
    const response = await settlesBetween(Promise.resolve(app.fetch(request)), 29 * SECOND, 31 * SECOND)
    expect(response).toMatchObject({ status: 408 })
  })

  it('sessions.awayTimeout: 5 min', async () => {
    let ended: Promise<unknown> | undefined
    const server = createServer({ name: 'clock', version: '1' }, { onError() {} }).tool('ask', {}, (_, ctx) => {
      const asked = ctx.elicit('sure', { message: 'Sure?', schema: { type: 'object', properties: {} } })
      ended = asked.catch((error: unknown) => error)
      return asked.then(({ action }) => action)
    })
    const app = mcp(server)
    const session = await openSession(app)
    const call = await app.fetch(post({ id: 1, method: 'tools/call', params: { name: 'ask', arguments: {} } }, session))
    await call.body?.cancel()
    await clock.advance(0)
    expect(await settlesBetween(ended as Promise<unknown>, 4 * MINUTE, 6 * MINUTE)).toMatchObject({
      name: 'ConnectionError',
    })
  })
})

describe('transport-http, client', () => {
  it('probeTimeout: 10 s', async () => {
    const { connector, network } = overHttp(create())
    network.handle = never
    expect(await settlesBetween(connect(connector), 9 * SECOND, 11 * SECOND)).toMatchObject({ reason: 'timeout' })
  })

  it('keepAlive: a silent stream is replaced after 1 min', async () => {
    const options = { keepAlive: Number.POSITIVE_INFINITY }
    const { connector, counts } = overHttp(create(), options, { keepAlive: MINUTE })
    const client = await connect(connector, { era: 'legacy' })
    await clock.advance(SECOND)
    const before = counts.GET
    expect(before).toBeGreaterThan(0)
    await clock.advance(57 * SECOND)
    expect(counts.GET).toBe(before)
    await clock.advance(5 * SECOND)
    expect(counts.GET).toBeGreaterThan(before)
    await client.close()
  })

  it('reconnect.minDelay and maxDelay: 1 s, 2 s, 4 s, then 5 s', async () => {
    const reconnect = { minDelay: SECOND, maxDelay: 5 * SECOND }
    const { connector, network } = overHttp(create(), {}, { reconnect })
    const { handle } = network
    const times: number[] = []
    network.handle = async (request) => {
      if (request.method !== 'GET') return handle(request)
      times.push(clock.now)
      return new Response(null, { status: 503 })
    }
    const client = await connect(connector, { era: 'legacy' })
    await clock.advance(20 * SECOND)
    await client.close()
    const waits = times.slice(1).map((time, index) => time - (times[index] as number))
    expect(waits.length).toBeGreaterThanOrEqual(4)
    // Each delay varies at random, so that clients do not return at once.
    for (const [index, longest] of [1, 2, 4, 5].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual((longest * SECOND) / 2)
      expect(waits[index]).toBeLessThanOrEqual(longest * SECOND)
    }
  })
})

describe('tasks', () => {
  const open = async (options: Parameters<typeof tasks>[0], handler: () => Promise<string>) => {
    const server = createServer({ name: 'clock', version: '1' }, { extensions: [tasks(options)], onError() {} }).tool(
      'work',
      { task: 'auto' },
      handler,
    )
    return { server, client: await connect(server, { era: 'modern' }) }
  }
  const after = (ms: number) => () => new Promise<string>((resolve) => setTimeout(() => resolve('done'), ms))

  it('inlineTime, pollInterval, lease: an hour of work, whose lease is renewed', async () => {
    let runs = 0
    const work = after(60 * MINUTE)
    const { server, client } = await open({ ttl: 2 * 60 * MINUTE, lease: 30 * SECOND }, () => {
      runs += 1
      return work()
    })
    const call = client.callTool('work', {}, { maxTimeout: 120 * MINUTE, timeout: 120 * MINUTE })
    expect(await settlesBetween(call, 59 * MINUTE, 61 * MINUTE)).toMatchObject({ content: [{ text: 'done' }] })
    expect(runs).toBe(1)
    await client.close()
    server.close()
  })

  it('ttl: 1 h, then the task fails', async () => {
    const { server, client } = await open({}, never)
    const call = client.callTool('work', {}, { maxTimeout: 120 * MINUTE, timeout: 120 * MINUTE })
    expect(await settlesBetween(call, 59 * MINUTE, 61 * MINUTE)).toMatchObject({ data: { reason: 'expired' } })
    await client.close()
    server.close()
  })
})

describe('protocol', () => {
  it('stallTimeout: 1 min', async () => {
    const [near, far] = createChannelPair({ highWaterMark: 1 })
    const respond: Responder['respond'] = async (message) => ({
      jsonrpc: '2.0',
      id: 'id' in message ? message.id : 0,
      result: {},
    })
    const duplex = createDuplex(near, { responder: { respond }, limits: { unsent: 2 } })
    // Sends requests, and never reads the responses.
    for (let id = 1; id <= 20; id++)
      void Promise.resolve(far.send({ jsonrpc: '2.0', id, method: 'ping' })).catch(() => {})
    const error = await settlesBetween(duplex.closed, 59 * SECOND, 61 * SECOND)
    expect(error).toMatchObject({ name: 'ConnectionError', reason: 'limit' })
  })

  it('drainTimeout: 1 min', async () => {
    const [near, far] = createChannelPair()
    const duplex = createDuplex(near, { drainTimeout: MINUTE, responder: { respond: never } })
    void far.receive(() => {})
    await far.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
    await clock.advance(0)
    await far.close()
    await settlesBetween(duplex.closed, 59 * SECOND, 61 * SECOND)
  })
})

describe('transport-stdio', () => {
  it('probeTimeout, and shutdown: a mute program that ignores signals', async () => {
    const program = "process.on('SIGTERM', () => {}); process.stdin.resume(); setInterval(() => {}, 1_000)"
    const call = connect(spawn(process.execPath, ['-e', program], { stderr: 'ignore' })).catch(
      (error: unknown) => error,
    )
    let isOver = false
    void call.then(() => {
      isOver = true
    })
    // 5 s for the probe, the rest of 30 s for initialize, and 5 s until the process is killed, which takes real time.
    await clock.advance(29 * SECOND)
    expect(isOver).toBe(false)
    for (let part = 0; part < 60 && !isOver; part++) await clock.advance(SECOND)
    expect(await call).toMatchObject({ reason: 'timeout', message: expect.stringContaining('within 5000 ms') })
  })

  it('restart.delay: a server that exits at its start is started again at once, and then after 250 ms', async () => {
    const connector = spawn(process.execPath, ['-e', 'process.exit(3)'], { stderr: 'ignore' })
    const start = () => connect(connector, { era: 'modern' }).catch((error: unknown) => error)
    await start()
    await start()
    expect(await settlesBetween(start(), 200, 300).catch((error: unknown) => error)).toBeDefined()
  })
})

describe('testing', () => {
  it('delay of faults: 1 min', async () => {
    const client = await connect(faults(memoryConnector(create()), { delay: 0 }))
    await client.close()
    const slow = connect(faults(memoryConnector(create()), { delay: 20 * SECOND }), { era: 'legacy' })
    const late = (await settlesBetween(slow, 19 * SECOND, 21 * SECOND)) as Awaited<typeof slow>
    await settlesBetween(late.callTool('now'), 19 * SECOND, 21 * SECOND)
    await late.close()
  })
})

it('flushTimeout of streams: 5 s for a peer that does not read', async () => {
  const output = new Writable({ write() {} })
  const channel = createStreamChannel({ input: new PassThrough(), output })
  void channel.send({ jsonrpc: '2.0', method: 'notifications/progress' })
  await settlesBetween(channel.close(), 4 * SECOND, 6 * SECOND)
})

it('timeout of redisStore: 5 s for a reply', async () => {
  const store = redisStore({ call: never, duplicate: never as never })
  const read = Promise.resolve(store.sessions.get('id'))
  const error = await settlesBetween(read, 4 * SECOND, 6 * SECOND)
  expect(String(error)).toContain('Redis did not reply within 5000 ms')
})
