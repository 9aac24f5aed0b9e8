import type { Connector, ObservedMessage, ObservedWork, Outcome, Telemetry } from '@mcpx/protocol'
import { RpcError } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { connectorTo, scriptedServer } from '../test/scripted-server.ts'
import { connect } from './connect.ts'
import { proxy } from './proxy.ts'

interface Told {
  readonly what: string
  readonly message?: ObservedMessage
  readonly work?: ObservedWork
  readonly id?: unknown
  readonly outcome: Outcome
}

/** An observer that records everything, in the order in which it ends. */
function recorder() {
  const told: Told[] = []
  const observe = (what: string, facts: Partial<Told>) => {
    let id: unknown
    return {
      meta: { traceparent: 'sent' },
      onId(value: unknown) {
        id = value
      },
      end: (outcome: Outcome) => void told.push({ what, ...facts, id, outcome }),
    }
  }
  const telemetry: Telemetry = {
    onReceive: (message) => observe(`received ${message.method}`, { message }),
    onSend: (message) => observe(`sent ${message.method}`, { message }),
    onWork: (work) => observe(`${work.kind} ${work.method}`, { work }),
    onSessionEnd: ({ revision, error }) => void told.push({ what: `session of ${revision}`, outcome: { error } }),
  }
  return { telemetry, told, of: (what: string) => told.filter((each) => each.what === what) }
}

const form = { message: 'Which?', requestedSchema: { type: 'object', properties: { row: { type: 'number' } } } }
const question = { method: 'elicitation/create', params: form }

describe.each(['2025-11-25', '2026-07-28'] as const)('a client with telemetry, of a server of %s', (revision) => {
  const isLegacy = revision === '2025-11-25'

  it('reports each request that it sends with its id and its result, and adds metadata', async () => {
    const { telemetry, of, told } = recorder()
    const server = scriptedServer(revision, { answers: { 'tools/call': () => ({ content: [] }) } })
    const network = { transport: 'tcp', protocol: 'http', address: 'example.com', port: 443 } as const
    const connector: Connector = connectorTo(() => server, { network })
    await using client = await connect(connector, { telemetry })
    await client.callTool('book')
    const [sent] = of('sent tools/call')
    expect(sent?.message).toMatchObject({ side: 'client', isRequest: true, revision, network })
    expect(sent?.id).toBe(server.asked('tools/call')[0]?.id)
    expect(sent?.outcome.result).toMatchObject({ content: [] })
    expect(server.asked('tools/call')[0]?.params?._meta).toMatchObject({ traceparent: 'sent' })
    const first = told.slice(0, 3).map(({ what }) => what)
    expect(first).toEqual(
      isLegacy ? ['sent server/discover', 'sent initialize', 'sent notifications/initialized'] : first,
    )
    expect(of('call tools/call')).toHaveLength(1)
  })

  it('reports errors of the server and of the connection', async () => {
    const { telemetry, of } = recorder()
    const answers = {
      'prompts/get': () => {
        throw new RpcError(-32602, 'Unknown prompt')
      },
      'tools/call': () => new Promise<object>(() => {}),
    }
    await using client = await connect(scriptedServer(revision, { answers }), { telemetry })
    await expect(client.getPrompt('a')).rejects.toThrow('Unknown prompt')
    await expect(client.callTool('a', {}, { timeout: 20 })).rejects.toThrow('within 20 ms')
    expect(of('sent prompts/get')[0]?.outcome.error).toMatchObject({ code: -32602 })
    expect(of('sent tools/call')[0]?.outcome.error).toMatchObject({ reason: 'timeout' })
  })

  it('reports the progress of a call as received, and passes it on', async () => {
    const { telemetry, of } = recorder()
    const seen: number[] = []
    const server = scriptedServer(revision, {
      answers: {
        async 'tools/call'({ exchange, params }) {
          const { progressToken } = params._meta as { progressToken: string }
          await exchange.notify('notifications/progress', { progressToken, progress: 1 })
          return { content: [] }
        },
      },
    })
    await using client = await connect(server, { telemetry })
    await client.callTool('a', {}, { onProgress: ({ progress }) => void seen.push(progress) })
    expect(seen).toEqual([1])
    expect(of('received notifications/progress')).toHaveLength(1)
  })

  it('reports the requests of a proxy as passed on', async () => {
    const { telemetry, told } = recorder()
    const server = scriptedServer(revision, { answers: { 'tools/call': () => ({ content: [] }) } })
    await using client = await connect(server, { telemetry })
    const ctx = { signal: new AbortController().signal, meta: {}, client: { capabilities: {} }, log: {} } as never
    await proxy(client).callTool?.({ name: 'a' }, ctx)
    const names = told.map(({ what }) => what)
    expect(names.slice(-3)).toEqual(['sent tools/call', 'call tools/call', 'delegate tools/call'])
  })
})

it('reports the requests of a legacy server as received, with what was answered', async () => {
  const { telemetry, of } = recorder()
  const server = scriptedServer('2025-11-25', {
    answers: {
      async 'tools/call'({ exchange }) {
        await exchange.session?.request('elicitation/create', form)
        return { content: [] }
      },
    },
  })
  await using client = await connect(server, { telemetry, onElicit: () => ({ action: 'decline' }) })
  await client.callTool('book')
  const [received] = of('received elicitation/create')
  expect(received?.message).toMatchObject({ side: 'client', isRequest: true, revision: '2025-11-25' })
  expect(received?.outcome.result).toEqual({ action: 'decline' })
})

it('reports each round of a modern call, and the input requests between them, within one call', async () => {
  const { telemetry, told } = recorder()
  let round = 0
  const server = scriptedServer('2026-07-28', {
    answers: {
      'tools/call': () =>
        round++ === 0
          ? { resultType: 'input_required', inputRequests: { a: question }, requestState: 's' }
          : { content: [] },
    },
  })
  await using client = await connect(server, { telemetry, onElicit: () => ({ action: 'decline' }) })
  await client.callTool('book')
  expect(told.slice(1).map(({ what }) => what)).toEqual([
    'sent tools/call',
    'input elicitation/create',
    'sent tools/call',
    'call tools/call',
  ])
})

it('ends the observation of a subscription when it is acknowledged', async () => {
  const { telemetry, of } = recorder()
  const server = scriptedServer('2026-07-28', {
    capabilities: { tools: { listChanged: true } },
    answers: {
      async 'subscriptions/listen'({ exchange, message, params }) {
        const _meta = { 'io.modelcontextprotocol/subscriptionId': message.id }
        const { notifications } = params
        await exchange.notify('notifications/subscriptions/acknowledged', { notifications, _meta })
        return new Promise(() => {})
      },
    },
  })
  await using client = await connect(server, { telemetry })
  const stream = client.listen({ toolsListChanged: true })
  await stream.ready
  expect(of('sent subscriptions/listen')[0]?.outcome).toEqual({})
  stream.close()
})

it('reports the end of a legacy session with the error that ended it', async () => {
  const { telemetry, of } = recorder()
  const connector = connectorTo(() => scriptedServer('2025-11-25'))
  await using _ = await connect(connector, { telemetry })
  await connector.server.close()
  await expect.poll(() => of('session of 2025-11-25')).toHaveLength(1)
})

it('warns of an observer that fails, and calls all the same', async () => {
  const warnings: string[] = []
  const telemetry: Telemetry = {
    onSend() {
      throw new Error('no exporter')
    },
  }
  const server = scriptedServer('2026-07-28', { answers: { 'tools/call': () => ({ content: [] }) } })
  await using client = await connect(server, { telemetry, onWarning: ({ message }) => void warnings.push(message) })
  expect(await client.callTool('a')).toMatchObject({ content: [] })
  expect(warnings).toContain('telemetry failed: no exporter')
})
