import type { NetworkInfo, ObservedMessage, ObservedWork, Outcome, Session, Telemetry } from '@mcpx/protocol'
import { createDuplex } from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createServer, type Server } from './index.ts'
import { closeAll, connect, oneTool, text } from './peers.fixture.ts'

afterEach(closeAll)

interface Told {
  readonly what: string
  readonly message?: ObservedMessage
  readonly work?: ObservedWork
  readonly outcome: Outcome | undefined
  readonly during?: string | undefined
}

/** An observer that records everything, in the order in which it ends. */
function recorder(): { telemetry: Telemetry; told: Told[]; of: (what: string) => Told[] } {
  const told: Told[] = []
  const names = new WeakMap<object, string>()
  const observe = (what: string, facts: Partial<Told>) => {
    const observation = {
      meta: { traceparent: 'sent' },
      end: (outcome: Outcome) => void told.push({ what, ...facts, outcome }),
    }
    names.set(observation, what)
    return observation
  }
  return {
    told,
    of: (what) => told.filter((each) => each.what === what),
    telemetry: {
      onReceive: (message) => observe(`received ${message.method}`, { message }),
      onSend: (message, during) => observe(`sent ${message.method}`, { message, during: during && names.get(during) }),
      onWork: (work) => observe(`${work.kind} ${work.method}`, { work }),
      onSessionEnd: (session) => void told.push({ what: `session of ${session.revision}`, outcome: {} }),
    },
  }
}

describe.each(['2025-11-25', '2026-07-28'] as const)('a server with telemetry, for a client of %s', (revision) => {
  const isLegacy = revision === '2025-11-25'

  it('reports each request with its result, and everything that it sends meanwhile', async () => {
    const { telemetry, of } = recorder()
    const server = oneTool(
      async (_, ctx) => {
        await ctx.progress(1)
        const { action } = await ctx.elicit('seat', { message: 'Which?', schema: z.object({ row: z.number() }) })
        return text(action)
      },
      { telemetry },
    )
    const asked: unknown[] = []
    const peer = await connect(server, revision, {
      'elicitation/create': (params) => {
        asked.push(params._meta)
        return { action: 'decline' }
      },
    })
    await peer.call('tools/call', { name: 't' }, { progress: true })
    const calls = of('received tools/call')
    expect(calls[0]?.message).toMatchObject({ side: 'server', isRequest: true, revision, sessionId: undefined })
    expect(calls[0]?.message?.id).toBeDefined()
    expect(calls.map(({ outcome }) => outcome?.result?.resultType)).toEqual(
      isLegacy ? [undefined] : ['input_required', 'complete'],
    )
    expect(of('sent notifications/progress')[0]).toMatchObject({
      during: 'received tools/call',
      message: { isRequest: false, revision },
    })
    expect(peer.heard[0]?.params?._meta).toEqual({ traceparent: 'sent' })
    if (!isLegacy) return
    expect(asked).toEqual([{ traceparent: 'sent' }])
    expect(of('sent elicitation/create')).toMatchObject([
      { during: 'received tools/call', message: { isRequest: true }, outcome: { result: { action: 'decline' } } },
    ])
  })

  it('reports refusals and failures', async () => {
    const { telemetry, of } = recorder()
    const peer = await connect(
      oneTool(() => text(1), { telemetry }),
      revision,
    )
    await peer.call('tools/cal')
    await peer.call('tools/call', { name: 7 })
    expect(of('received tools/cal')[0]?.outcome?.error).toMatchObject({ code: -32601 })
    expect(of('received tools/call')[0]?.outcome?.error).toMatchObject({ code: -32602 })
  })

  it('reports a cancelled request as cancelled', async () => {
    const { telemetry, of } = recorder()
    const run = (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const peer = await connect(oneTool(run, { telemetry }), revision)
    const cancel = new AbortController()
    const calling = peer.call('tools/call', { name: 't' }, { signal: cancel.signal })
    await new Promise((resolve) => setTimeout(resolve, 10))
    cancel.abort()
    await calling
    await expect.poll(() => of('received tools/call')).toHaveLength(1)
    expect(of('received tools/call')[0]?.outcome?.error).toMatchObject({ reason: 'cancelled' })
  })

  it('reports what passes to a mounted handler, with the name that it has there', async () => {
    const { telemetry, of } = recorder()
    const inner = createServer({ name: 'inner', version: '1' }).tool('search', {}, () => 'found')
    const server = createServer({ name: 'outer', version: '1' }, { telemetry }).mount('github', inner)
    const peer = await connect(server, revision)
    expect((await peer.call('tools/call', { name: 'github.search' })).content).toMatchObject([{ text: 'found' }])
    expect(of('delegate tools/call')).toMatchObject([
      {
        work: { prefix: 'github', params: { name: 'search' } },
        outcome: { result: { content: [{ text: 'found' }] } },
      },
    ])
  })
})

it('reports the end of an initialized session with its duration', async () => {
  const { telemetry, of } = recorder()
  const peer = await connect(
    oneTool(() => text(1), { telemetry }),
    '2025-06-18',
  )
  await peer.close()
  await expect.poll(() => of('session of 2025-06-18')).toHaveLength(1)
})

it('ends the observation of a subscription when it is acknowledged', async () => {
  const { telemetry, of } = recorder()
  const server = createServer({ name: 'a', version: '1' }, { telemetry }).tool('a', {}, () => '')
  const peer = await connect(server, '2026-07-28')
  void peer.call('subscriptions/listen', { notifications: { toolsListChanged: true } })
  await expect.poll(() => of('received subscriptions/listen')).toHaveLength(1)
  server.removeTool('a')
  await expect.poll(() => of('sent notifications/tools/list_changed')).toHaveLength(1)
  expect(of('received subscriptions/listen')[0]?.outcome).toEqual({})
})

it('reports the changes that it sends to legacy sessions', async () => {
  const { telemetry, of } = recorder()
  const server: Server = createServer({ name: 'a', version: '1' }, { telemetry }).tool('a', {}, () => '')
  const peer = await connect(server, '2025-11-25')
  await peer.call('ping')
  server.removeTool('a')
  await expect.poll(() => of('sent notifications/tools/list_changed')).toHaveLength(1)
  expect(peer.heard[0]?.params).toEqual({ _meta: { traceparent: 'sent' } })
})

it('reports the connection that the transport names, and the id of a real session', async () => {
  const { telemetry, of } = recorder()
  const network: NetworkInfo = { transport: 'tcp', protocol: 'http', address: '10.0.0.1', port: 7 }
  const server = oneTool((_, { signal }) => text(signal.aborted), { telemetry })
  const [near, far] = createChannelPair()
  const duplex = createDuplex(far, { responder: server, network, sessionId: 's-1' })
  const client = createDuplex(near)
  await client.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'a', version: '1' },
  })
  await client.request('ping')
  expect(of('received ping')[0]?.message).toMatchObject({ network, sessionId: 's-1', revision: '2025-11-25' })
  await duplex.close()
})

it('refuses an option of telemetry that is misspelled', () => {
  expect(() => createServer({ name: 'a', version: '1' }, { telemtry: {} } as never)).toThrow(
    'createServer: there is no option "telemtry"; did you mean "telemetry"?',
  )
})

it('does not initialize a session whose handshake failed', async () => {
  const { telemetry, told } = recorder()
  const server = oneTool(() => text(1), { telemetry }) as Server & { sessionEnded(session: Session): Promise<void> }
  await server.sessionEnded({ id: 'a', state: {}, update() {}, request: async () => ({}) })
  expect(told).toEqual([])
})
