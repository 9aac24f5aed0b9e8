import type { Connector, Exchange, ResultMessage } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { type Asked, connectorTo, type Script, scriptedServer } from '../test/scripted-server.ts'
import { connect } from './connect.ts'
import type { ClientOptions, RequestCallOptions } from './options.ts'

const confirm = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } }
const question = { method: 'elicitation/create', params: confirm }
const capabilities = { elicitation: { form: {} } }
const decline = { action: 'decline' } as const
const turn = (ms = 5) => new Promise((resolve) => setTimeout(resolve, ms))

/** A legacy server whose tools send input requests, log or wait; it records how many calls run at once. */
function workshop(script: Script = {}) {
  let running = 0
  const seen = { most: 0, names: [] as unknown[] }
  const server = scriptedServer('2025-11-25', {
    capabilities: { tools: {}, logging: {} },
    ...script,
    answers: {
      'tools/list': () => ({ tools: [] }),
      async 'tools/call'({ params, exchange }) {
        running += 1
        seen.most = Math.max(seen.most, running)
        seen.names.push(params.name)
        await turn()
        await exchange.notify('notifications/message', { level: 'info', data: params.name })
        const asks = params.name !== 'quiet'
        const answer = asks ? await exchange.session?.request('elicitation/create', confirm).catch(String) : 'not asked'
        running -= 1
        return { content: [], structuredContent: { answer } }
      },
      ...script.answers,
    },
  })
  return { connector: connectorTo(() => server), server, seen }
}

const connected = (connector: ReturnType<typeof workshop>['connector'], options: ClientOptions = {}) =>
  connect(connector, { era: 'legacy', capabilities, ...options })

describe('calls with onInputRequest, over a pipe to a legacy server', () => {
  it('run one after the other, and each answers its own input request', async () => {
    const { connector, seen } = workshop()
    await using client = await connected(connector)
    const names = ['a', 'b', 'c', 'd']
    const asked: string[] = []
    const calls = names.map((name) =>
      client.callTool(name, {}, { onInputRequest: () => ({ ...decline, _meta: { by: asked.push(name) && name } }) }),
    )
    const answers = (await Promise.all(calls)).map(({ structuredContent }) => structuredContent)
    expect(answers).toMatchObject(names.map((name) => ({ answer: { action: 'decline', _meta: { by: name } } })))
    expect(asked).toEqual(names)
    expect(seen.most).toBe(1)
  })

  it('run concurrently when their callers support no input requests', async () => {
    const { connector, seen } = workshop()
    await using client = await connected(connector)
    const options: RequestCallOptions = { capabilities: {}, onInputRequest: () => decline }
    await Promise.all(['quiet', 'quiet', 'quiet'].map((name) => client.request('tools/call', { name }, options)))
    expect(seen.most).toBe(3)
  })

  it('run concurrently when the client has declared no capabilities', async () => {
    const { connector, seen } = workshop()
    await using client = await connected(connector, { capabilities: {} })
    await Promise.all(['quiet', 'quiet'].map((name) => client.callTool(name, {}, { onInputRequest: () => decline })))
    expect(seen.most).toBe(2)
  })

  it('let calls run that cannot ask while the user answers', async () => {
    const { connector } = workshop()
    await using client = await connected(connector)
    const onInputRequest = async () => {
      await client.request('tools/list', {}, { onInputRequest: () => decline, onLog: () => {}, logs: 'own' })
      return decline
    }
    const result = await client.request('tools/call', { name: 'a' }, { onInputRequest, onLog: () => {}, logs: 'own' })
    expect(result).toMatchObject({ structuredContent: { answer: decline } })
  })

  it('reject after their timeout when they wait for each other', async () => {
    const { connector } = workshop()
    await using client = await connected(connector)
    const problems: unknown[] = []
    const onInputRequest = async () => {
      await client
        .callTool('b', {}, { onInputRequest: () => decline, timeout: 30 })
        .catch((error) => problems.push(error))
      return decline
    }
    expect((await client.callTool('a', {}, { onInputRequest })).structuredContent).toMatchObject({ answer: decline })
    expect(problems).toMatchObject([{ name: 'ConnectionError', reason: 'timeout', retryable: true }])
    expect(problems).toMatchObject([{ message: 'tools/call "b" was not sent: its turn did not come within 30 ms' }])
  })

  it('are not sent when they are cancelled while they wait', async () => {
    const { connector, seen } = workshop()
    await using client = await connected(connector)
    const stop = new AbortController()
    const first = client.callTool('a', {}, { onInputRequest: () => turn(30).then(() => decline) })
    const second = client.callTool('b', {}, { onInputRequest: () => decline, signal: stop.signal })
    const third = client.callTool('c', {}, { onInputRequest: () => decline })
    await turn()
    stop.abort(new Error('enough'))
    await expect(second).rejects.toMatchObject({ reason: 'cancelled', cause: { message: 'enough' } })
    await Promise.all([first, third])
    expect(seen.names).toEqual(['a', 'c'])
    const late = client.callTool('d', {}, { onInputRequest: () => decline, signal: stop.signal })
    await expect(late).rejects.toMatchObject({ reason: 'cancelled' })
  })

  it('are refused by name when too many wait', async () => {
    const { connector, seen } = workshop({ answers: { 'tools/call': () => new Promise(() => {}) } })
    const client = await connected(connector)
    const waiting = Array.from({ length: 1_001 }, () =>
      client.callTool('a', {}, { onInputRequest: () => decline }).catch(({ reason }) => reason),
    )
    await turn()
    await expect(client.callTool('a', {}, { onInputRequest: () => decline })).rejects.toMatchObject({
      name: 'ConnectionError',
      reason: 'limit',
      message: 'tools/call "a" was not sent: 1000 calls wait for their turn already',
    })
    await client.close()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['closed']))
    expect(seen.names).toEqual([])
  })

  it('continue over a new connection', async () => {
    const { connector } = workshop({
      answers: {
        'tools/call': ({ params, exchange }) => {
          if (params.name === 'a') return new Promise(() => {})
          return exchange.session
            ?.request('elicitation/create', confirm)
            .then(() => ({ content: [] })) as Promise<object>
        },
      },
    })
    await using client = await connected(connector)
    const first = client.callTool('a', {}, { onInputRequest: () => decline })
    const second = client.callTool('b', {}, { onInputRequest: () => decline })
    await turn()
    await connector.server.close()
    await expect(first).rejects.toMatchObject({ reason: 'closed' })
    expect(await second).toEqual({ content: [] })
    expect(connector.connections).toBe(2)
  })
})

describe('calls with logs: "own"', () => {
  it.each(['2025-11-25', '2026-07-28'] as const)('run one after the other over a pipe (%s)', async (era) => {
    const logging = {
      capabilities: { tools: {}, logging: {} },
      answers: {
        'tools/call': async ({ params, exchange }: Asked) => {
          await turn()
          await exchange.notify('notifications/message', { level: 'info', data: params.name })
          await turn()
          return { content: [] }
        },
      },
    }
    const connector = connectorTo(() => scriptedServer(era, logging))
    const elsewhere: unknown[] = []
    await using client = await connect(connector, { onLog: ({ data }) => void elsewhere.push(data) })
    const call = async (name: string, logs: 'own' | 'mixed') => {
      const heard: unknown[] = []
      const options: RequestCallOptions = { logs, onLog: ({ data }) => void heard.push(data) }
      await client.request('tools/call', { name }, options)
      return heard
    }
    expect(await Promise.all([call('a', 'own'), call('b', 'own'), call('c', 'own')])).toEqual([['a'], ['b'], ['c']])
    expect(await Promise.all([call('a', 'mixed'), call('b', 'mixed')])).toEqual([[], []])
    expect(elsewhere).toEqual(['a', 'b'])
  })
})

describe('a connection to a legacy server that distinguishes requests', () => {
  it('runs calls concurrently: each input request reaches the call on whose stream it came', async () => {
    let running = 0
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }
    const connector: Connector = {
      connect: ({ responder }) => ({
        notify() {},
        async close() {},
        closed: new Promise(() => {}),
        hasSeparateStreams: true,
        async request(method, _params, during) {
          if (method === 'initialize') return hello
          running += 1
          await expect.poll(() => running).toBe(2)
          const exchange = { during, signal: new AbortController().signal } as Exchange
          const answer = await responder.respond({ jsonrpc: '2.0', id: 'q', ...question }, exchange)
          return { content: [], structuredContent: (answer as ResultMessage).result }
        },
      }),
    }
    await using client = await connect(connector, { era: 'legacy', capabilities })
    const call = (by: string) => client.callTool(by, {}, { onInputRequest: () => ({ ...decline, _meta: { by } }) })
    const results = await Promise.all([call('a'), call('b')])
    expect(results.map(({ structuredContent }) => structuredContent)).toMatchObject([
      { _meta: { by: 'a' } },
      { _meta: { by: 'b' } },
    ])
  })
})
