import {
  type Change,
  type Context,
  type Handler,
  type InputRequest,
  type JsonObject,
  LOGGING_LEVELS,
  RpcError,
} from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { connectorTo, scriptedServer } from '../test/scripted-server.ts'
import { connect } from './connect.ts'
import { proxy } from './proxy.ts'

/** The context of a call, and a record of its use. */
function contextOf(extra: Partial<Context> = {}) {
  const said: unknown[] = []
  const log = Object.fromEntries(
    LOGGING_LEVELS.map((level) => [level, (data: unknown, logger?: string) => void said.push([level, data, logger])]),
  )
  const ctx = {
    signal: new AbortController().signal,
    auth: undefined,
    client: { info: undefined, capabilities: {} },
    meta: {},
    inputResponses: undefined,
    requestState: undefined,
    requestInfo: undefined,
    progress: (...all: unknown[]) => void said.push(all),
    log,
    ask: async () => ({}),
    ...extra,
  } as unknown as Context
  return { ctx, said }
}

const everything = {
  tools: { listChanged: true },
  prompts: {},
  resources: { subscribe: true },
  completions: {},
  logging: {},
}

type WholeHandler = Required<Handler>

describe.each(['2025-11-25', '2026-07-28'] as const)('a proxy of a server of %s', (revision) => {
  const isLegacy = revision === '2025-11-25'

  it('has the methods that the server supports', async () => {
    await using client = await connect(scriptedServer(revision, { capabilities: everything }))
    expect(Object.keys(proxy(client)).sort()).toEqual([
      'callTool',
      'changes',
      'complete',
      'getPrompt',
      'listPrompts',
      'listResourceTemplates',
      'listResources',
      'listTools',
      'readResource',
      'setLogLevel',
      'subscribe',
      'unsubscribe',
    ])
    await using other = await connect(scriptedServer(revision, { capabilities: { tools: {} } }))
    expect(Object.keys(proxy(other)).sort()).toEqual(['callTool', 'listTools'])
  })

  it('forwards pages, calls and errors unchanged', async () => {
    const server = scriptedServer(revision, {
      capabilities: everything,
      answers: {
        'tools/list': ({ params }) => ({ tools: [], nextCursor: `${params.cursor}+`, ttlMs: 60_000 }),
        'tools/call': () => {
          throw new RpcError(-32602, 'Unknown tool', { data: { a: 1 } })
        },
        'prompts/get': ({ params }) => ({ messages: [], description: JSON.stringify(params.arguments) }),
        'resources/read': ({ params }) => ({ contents: [{ uri: params.uri, blob: 'AA==' }] }),
        'completion/complete': ({ params }) => ({ completion: { values: [JSON.stringify(params.ref)] } }),
      },
    })
    await using client = await connect(server)
    const handler = proxy(client) as WholeHandler
    const { ctx } = contextOf()
    expect(await handler.listTools({}, ctx)).toMatchObject({ nextCursor: 'undefined+' })
    expect(await handler.listTools({ cursor: '' }, ctx)).toMatchObject({ nextCursor: '+', ttlMs: 60_000 })
    await handler.listTools({}, ctx)
    expect(server.asked('tools/list')).toHaveLength(3)
    await expect(handler.callTool({ name: 'x' }, ctx)).rejects.toMatchObject({ code: -32602, data: { a: 1 } })
    // Many servers refuse calls without arguments.
    expect(server.asked('tools/call')[0]?.params).toMatchObject({ name: 'x', arguments: {} })
    expect(await handler.getPrompt({ name: 'p' }, ctx)).toMatchObject({ description: '{}' })
    expect(await handler.getPrompt({ name: 'p', arguments: { a: 'b' } }, ctx)).toMatchObject({
      description: '{"a":"b"}',
    })
    expect(await handler.readResource({ uri: 'a:b' }, ctx)).toMatchObject({ contents: [{ uri: 'a:b', blob: 'AA==' }] })
    const ref = { type: 'ref/prompt', name: 'p' } as const
    expect(await handler.complete({ ref, argument: { name: 'a', value: '' } }, ctx)).toMatchObject({
      completion: { values: [JSON.stringify(ref)] },
    })
  })

  it('forwards metadata that does not concern a single connection', async () => {
    const server = scriptedServer(revision, { answers: { 'tools/call': () => ({ content: [] }) } })
    await using client = await connect(server)
    const meta = { traceparent: '00-1', 'com.example/a': 1, 'io.modelcontextprotocol/protocolVersion': '1999-01-01' }
    await (proxy(client) as WholeHandler).callTool({ name: 'x' }, contextOf({ meta }).ctx)
    expect(server.asked('tools/call')[0]?.params?._meta).toMatchObject({ traceparent: '00-1', 'com.example/a': 1 })
    expect(JSON.stringify(server.heard)).not.toContain('1999')
  })

  it('sends the responses of a call with no other request', async () => {
    const answers = {
      'tools/list': () => ({ tools: [] }),
      'tools/call': () => ({ content: [] }),
      'completion/complete': () => ({ completion: { values: [] } }),
    }
    const server = scriptedServer(revision, { capabilities: everything, answers })
    await using client = await connect(server)
    const handler = proxy(client) as WholeHandler
    const answered = { inputResponses: { a: { roots: [] } }, requestState: 'mine' }
    const { ctx } = contextOf(answered)
    await handler.listTools({}, ctx)
    await handler.complete({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }, ctx)
    expect(JSON.stringify(server.heard)).not.toMatch(/inputResponses|mine/)
    await handler.callTool({ name: 'x' }, ctx)
    if (!isLegacy) expect(server.asked('tools/call')[0]?.params).toMatchObject(answered)
  })

  it('forwards progress and logs to their call', async () => {
    const server = scriptedServer(revision, {
      answers: {
        'tools/call': async ({ params, exchange }) => {
          const { progressToken } = params._meta as { progressToken: number }
          await exchange.notify('notifications/progress', { progressToken, progress: 1, total: 2, message: 'half' })
          await exchange.notify('notifications/message', { level: 'error', data: { n: 1 }, logger: 'db' })
          return { content: [] }
        },
      },
    })
    const elsewhere: unknown[] = []
    await using client = await connect(server, { onLog: (entry) => elsewhere.push(entry) })
    const { ctx, said } = contextOf({ meta: { progressToken: 'theirs' } })
    await (proxy(client) as WholeHandler).callTool({ name: 'x' }, ctx)
    expect(said).toEqual([
      [1, 2, 'half'],
      ['error', { n: 1 }, 'db'],
    ])
    expect(elsewhere).toEqual([])
  })

  it('forwards cancellation', async () => {
    let given: AbortSignal | undefined
    const server = scriptedServer(revision, {
      answers: {
        'tools/call': ({ exchange }) => {
          given = exchange.signal
          return new Promise(() => {})
        },
      },
    })
    await using client = await connect(server)
    const stop = new AbortController()
    const { ctx } = contextOf({ signal: stop.signal })
    const calling = (proxy(client) as WholeHandler).callTool({ name: 'x' }, ctx) as Promise<unknown>
    await expect.poll(() => given).toBeDefined()
    stop.abort()
    await expect(calling).rejects.toMatchObject({ reason: 'cancelled' })
    await expect.poll(() => given?.aborted).toBe(true)
  })

  it('forwards changes while there is a listener, and each resource while there is a subscriber', async () => {
    const subscribed: string[] = []
    let streams = 0
    const server = scriptedServer(revision, {
      capabilities: everything,
      answers: {
        'resources/subscribe': ({ params }) => {
          subscribed.push(params.uri as string)
          return {}
        },
        'resources/unsubscribe': ({ params }) => {
          subscribed.splice(subscribed.indexOf(params.uri as string), 1)
          return {}
        },
        'subscriptions/listen': ({ params, message, exchange }) => {
          const _meta = { 'io.modelcontextprotocol/subscriptionId': message.id }
          const filter = params.notifications as { resourceSubscriptions?: string[] }
          streams += 1
          exchange.signal.addEventListener('abort', () => {
            streams -= 1
          })
          void exchange.notify('notifications/subscriptions/acknowledged', { notifications: filter, _meta })
          for (const uri of filter.resourceSubscriptions ?? []) {
            void exchange.notify('notifications/resources/updated', { uri, _meta })
          }
          return new Promise(() => {})
        },
      },
    })
    const connector = connectorTo(() => server)
    await using client = await connect(connector)
    const handler = proxy(client) as WholeHandler
    const { ctx } = contextOf()
    const heard: Change[] = []
    const stop = handler.changes((change) => heard.push(change))
    await Promise.all([handler.subscribe({ uri: 'a:/x' }, ctx), handler.subscribe({ uri: 'a:/x' }, ctx)])
    if (isLegacy) await connector.server.notify('notifications/resources/updated', { uri: 'a:/x' })
    await expect.poll(() => heard).toEqual([{ kind: 'resource', uri: 'a:/x' }])
    await handler.unsubscribe({ uri: 'a:/x' }, ctx)
    await new Promise((resolve) => setTimeout(resolve, 10))
    if (isLegacy) expect(subscribed).toEqual(['a:/x'])
    else expect(streams).toBeGreaterThan(0)
    stop()
    await handler.unsubscribe({ uri: 'a:/x' }, ctx)
    await expect.poll(() => [streams, subscribed.length]).toEqual([0, 0])
  })
})

it('calls each listener with notifications of a legacy server: one function that was added twice, and one beside a function that throws', async () => {
  const capabilities = { tools: { listChanged: true } }
  const connector = connectorTo(() => scriptedServer('2025-11-25', { capabilities }))
  const reported: Error[] = []
  await using client = await connect(connector)
  const { changes } = proxy(client, { onWarning: (problem) => void reported.push(problem) }) as WholeHandler
  const heard: Change[] = []
  const listener = (change: Change) => void heard.push(change)
  const broken = new Error('broken')
  changes(() => {
    throw broken
  })
  const stops = [changes(listener), changes(listener)]
  const turn = () => new Promise((resolve) => setTimeout(resolve, 10))
  await turn()
  const told = async () => {
    await connector.server.notify('notifications/tools/list_changed')
    await turn()
    return heard.splice(0).length
  }
  expect(await told()).toBe(2)
  stops[0]?.()
  stops[0]?.()
  expect(await told()).toBe(1)
  expect(reported).toEqual([broken, broken])
})

const confirm: InputRequest = {
  method: 'elicitation/create',
  params: { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
}

describe('an input request of a modern server', () => {
  it('is forwarded unchanged, as are the responses', async () => {
    const server = scriptedServer('2026-07-28', {
      answers: {
        'tools/call': ({ params }) =>
          params.inputResponses === undefined
            ? { resultType: 'input_required', inputRequests: { q: confirm }, requestState: 's' }
            : { content: [], structuredContent: { answers: params.inputResponses, state: params.requestState } },
      },
    })
    await using client = await connect(server)
    const handler = proxy(client) as WholeHandler
    const capabilities = { elicitation: { form: {} } }
    const asking = contextOf({ client: { info: undefined, capabilities, supports: () => false } })
    const unfinished = await handler.callTool({ name: 'x' }, asking.ctx)
    expect(unfinished).toMatchObject({ resultType: 'input_required', inputRequests: { q: confirm }, requestState: 's' })
    expect(server.asked('tools/call')[0]?.params?._meta).toMatchObject({
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    })
    const answers = { q: { action: 'accept' } } as const
    const answering = contextOf({ inputResponses: answers, requestState: 's' })
    expect(await handler.callTool({ name: 'x' }, answering.ctx)).toMatchObject({
      structuredContent: { answers, state: 's' },
    })
  })
})

describe('an input request of a legacy server', () => {
  let given: AbortSignal | undefined
  const server = () =>
    scriptedServer('2025-11-25', {
      answers: {
        'tools/list': () => ({ tools: [] }),
        'tools/call': async ({ exchange }) => {
          given = exchange.signal
          const answer = await exchange.session
            ?.request('elicitation/create', confirm.params as JsonObject)
            .catch(({ code }: RpcError) => ({ code }))
          return { content: [], structuredContent: answer }
        },
      },
    })
  const options = { capabilities: { elicitation: { form: {} } } }

  it('is sent to the caller', async () => {
    const upstream = server()
    await using client = await connect(upstream, options)
    expect(upstream.asked('initialize')[0]?.params?.capabilities).toEqual(options.capabilities)
    const asked: unknown[] = []
    const ask = async (requests: Record<string, InputRequest>) => {
      asked.push(requests)
      return Object.fromEntries(Object.keys(requests).map((name) => [name, { action: 'decline' }]))
    }
    const { ctx } = contextOf({ ask } as unknown as Partial<Context>)
    const result = await (proxy(client) as WholeHandler).callTool({ name: 'x' }, ctx)
    expect(result).toMatchObject({ structuredContent: { action: 'decline' } })
    expect(asked).toEqual([{ 'upstream-1': confirm }])
  })

  it('has a name of its own in each call that one call makes', async () => {
    await using client = await connect(server(), options)
    const names = async (withList: boolean) => {
      const asked: string[] = []
      const ask = async (requests: Record<string, InputRequest>) => {
        asked.push(...Object.keys(requests))
        return Object.fromEntries(Object.keys(requests).map((name) => [name, { action: 'decline' }]))
      }
      const facts = { info: undefined, capabilities: { elicitation: { form: {} } } }
      const { ctx } = contextOf({ ask, client: facts } as unknown as Partial<Context>)
      const handler = proxy(client) as WholeHandler
      // A call without input requests is not counted: it may be kept the next time.
      await handler.callTool({ name: 'x' }, ctx)
      if (withList) await handler.listTools({}, ctx)
      await Promise.all([handler.callTool({ name: 'x' }, ctx), handler.callTool({ name: 'y' }, ctx)])
      return asked
    }
    expect(await names(false)).toEqual(['upstream-1', 'upstream-2.1', 'upstream-3.1'])
    expect(await names(true)).toEqual(['upstream-1', 'upstream-2.1', 'upstream-3.1'])
  })

  it('is refused when the caller does not support it', async () => {
    await using client = await connect(server(), options)
    const result = await (proxy(client) as WholeHandler).callTool({ name: 'x' }, contextOf().ctx)
    expect(result).toMatchObject({ structuredContent: { code: -32601 } })
  })

  it('ends the call when the response will come with another one', async () => {
    await using client = await connect(server(), options)
    const later = new Error('to be continued')
    const { ctx } = contextOf({ ask: () => Promise.reject(later) } as unknown as Partial<Context>)
    const calling = (proxy(client) as WholeHandler).callTool({ name: 'x' }, ctx) as Promise<unknown>
    await expect(calling).rejects.toBe(later)
    await expect.poll(() => given?.aborted).toBe(true)
  })
})
