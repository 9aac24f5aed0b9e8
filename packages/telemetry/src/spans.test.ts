import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from '@mcpx/client'
import { RpcError } from '@mcpx/protocol'
import { mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { toNodeHandler } from '@mcpx/transport-http/node'
import { context, propagation, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { telemetry } from './index.ts'
import { contextManager, createSdk, idOf, parentOf, traceOf } from './otel.fixture.ts'
import { COMBINATIONS, createRig, createShop, NETWORK, REVISIONS } from './rig.fixture.ts'

afterAll(() => {
  contextManager.disable()
})

describe.each(COMBINATIONS)('over $transport, in $revision', ({ revision, transport }) => {
  const isLegacy = revision !== '2026-07-28'
  const network = NETWORK[transport]
  const isHttp = transport === 'http' || transport === 'sse'

  it('a call has one trace from the client to what the tool does, with all attributes', async () => {
    const { client, here, there, port } = await createRig({ revision, transport })
    await client.callTool('search', { q: 'owls' })
    await expect.poll(() => there.named('tools/call search')).toHaveLength(1)
    const [sent] = here.named('tools/call search')
    const [handled] = there.named('tools/call search')
    const [query] = there.named('SELECT')
    expect(sent?.kind).toBe(SpanKind.CLIENT)
    expect(handled?.kind).toBe(SpanKind.SERVER)
    expect(parentOf(handled)).toBe(idOf(sent))
    expect(parentOf(query)).toBe(idOf(handled))
    expect(new Set([sent, handled, query].map(traceOf)).size).toBe(1)
    expect(handled?.links).toEqual([])

    const common = {
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search',
      'mcp.protocol.version': revision,
      'jsonrpc.request.id': expect.stringMatching(/^\d+$/),
      ...network,
    }
    const session = isLegacy && isHttp && { 'mcp.session.id': expect.stringMatching(/^[\da-f-]{36}$/) }
    expect(sent?.attributes).toEqual({
      ...common,
      // Clients of HTTP+SSE receive a URL, and no id of the session.
      ...(transport === 'http' && session),
      ...(isHttp && { 'server.address': '127.0.0.1', 'server.port': port }),
    })
    expect(handled?.attributes).toEqual({
      ...common,
      ...session,
      ...(isHttp && {
        'network.protocol.version': '1.1',
        'client.address': '127.0.0.1',
        'client.port': expect.any(Number),
      }),
    })
    expect(handled?.attributes['jsonrpc.request.id']).toBe(sent?.attributes['jsonrpc.request.id'])
    expect([sent?.status.code, handled?.status.code]).toEqual([SpanStatusCode.UNSET, SpanStatusCode.UNSET])
  })

  it('names the prompts, the resources and the other methods', async () => {
    const { client, here } = await createRig({ revision, transport })
    await client.getPrompt('review', { code: 'x' })
    await client.readResource('note://1')
    await client.listTools().all()
    await client
      .complete({ ref: { type: 'ref/prompt', name: 'review' }, argument: { name: 'code', value: '' } })
      .catch(() => {})
    expect(here.named('prompts/get review')[0]?.attributes).toMatchObject({ 'gen_ai.prompt.name': 'review' })
    expect(here.named('resources/read')[0]?.attributes).toMatchObject({ 'mcp.resource.uri': 'note://1' })
    expect(here.named('tools/list')[0]?.attributes).not.toHaveProperty('gen_ai.operation.name')
    expect(here.named('completion/complete review')).toHaveLength(1)
    for (const span of here.spans) expect(span.attributes).not.toHaveProperty('jsonrpc.protocol.version')
  })

  it('a failed tool has an error on both sides, without its text', async () => {
    const { client, here, there } = await createRig({ revision, transport })
    await client.callTool('fail')
    for (const sdk of [here, there]) {
      await expect.poll(() => sdk.named('tools/call fail')).toHaveLength(1)
      const [span] = sdk.named('tools/call fail')
      expect(span?.status).toEqual({ code: SpanStatusCode.ERROR })
      expect(span?.attributes['error.type']).toBe('tool_error')
      expect(span?.attributes).not.toHaveProperty('rpc.response.status_code')
    }
  })

  it("the caller's fault is an error of the client only", async () => {
    const { client, here, there } = await createRig({ revision, transport })
    await expect(client.callTool('nothing')).rejects.toThrow('Unknown tool')
    await expect.poll(() => there.named('tools/call nothing')).toHaveLength(1)
    const [sent] = here.named('tools/call nothing')
    const [handled] = there.named('tools/call nothing')
    expect(sent?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'Unknown tool: "nothing"' })
    expect(sent?.attributes).toMatchObject({ 'error.type': '-32602', 'rpc.response.status_code': '-32602' })
    expect(handled?.status.code).toBe(SpanStatusCode.UNSET)
    expect(handled?.attributes['rpc.response.status_code']).toBe('-32602')
    expect(handled?.attributes).not.toHaveProperty('error.type')
  })

  // Clients answer forms since 2025-06-18.
  const questions = [
    ['rate', 'sampling/createMessage'],
    ...(revision >= '2025-06-18' ? [['book', 'elicitation/create'] as const] : []),
  ] as const

  it.each(questions)('a question of the tool %s has spans, and so has each round of the call', async (tool, method) => {
    const { client, here, there } = await createRig({ revision, transport })
    await client.callTool(tool)
    const calls = here.named(`tools/call ${tool}`)
    const [first] = calls
    if (isLegacy) {
      await expect.poll(() => there.named(method)).toHaveLength(1)
      const [asked] = there.named(method)
      const [answered] = here.named(method)
      expect([asked?.kind, answered?.kind]).toEqual([SpanKind.CLIENT, SpanKind.SERVER])
      expect(parentOf(asked)).toBe(idOf(there.named(`tools/call ${tool}`)[0]))
      expect(parentOf(answered)).toBe(idOf(asked))
      expect(traceOf(answered)).toBe(traceOf(first))
      expect(asked?.attributes).toMatchObject({
        'mcp.protocol.version': revision,
        'jsonrpc.request.id': expect.any(String),
      })
      expect(asked?.attributes).not.toHaveProperty('server.address')
      return
    }
    const [answered] = here.named(method)
    expect(calls).toHaveLength(2)
    expect(answered?.kind).toBe(SpanKind.INTERNAL)
    expect([parentOf(answered), parentOf(calls[1])]).toEqual([idOf(first), idOf(first)])
    await expect.poll(() => there.named(`tools/call ${tool}`)).toHaveLength(2)
    expect(there.named(`tools/call ${tool}`).map(parentOf)).toEqual(calls.map(idOf))
    expect(there.named(`tools/call ${tool}`).map(({ status }) => status.code)).toEqual([0, 0])
  })

  it('notifications have spans on both sides', async () => {
    const { client, here, there } = await createRig({ revision, transport })
    await client.callTool('count', {}, { onProgress: () => {} })
    const [sent] = there.named('notifications/progress')
    await expect.poll(() => here.named('notifications/progress')).toHaveLength(1)
    expect(parentOf(sent)).toBe(idOf(there.named('tools/call count')[0]))
    expect(parentOf(here.named('notifications/progress')[0])).toBe(idOf(sent))
    expect(sent?.attributes).not.toHaveProperty('jsonrpc.request.id')
  })
})

it('the handshake has the revision that was negotiated', async () => {
  const { here, there } = await createRig({ revision: '2025-11-25' })
  for (const sdk of [here, there]) {
    const { attributes } = sdk.named('initialize')[0] ?? {}
    expect(attributes?.['mcp.protocol.version']).toBe('2025-11-25')
    const points = (await sdk.metric(`mcp.${sdk === here ? 'client' : 'server'}.operation.duration`))?.dataPoints ?? []
    const [first] = points.filter((point) => point.attributes['mcp.method.name'] === 'initialize')
    expect(first?.attributes['mcp.protocol.version']).toBe('2025-11-25')
  }
})

describe('errors', () => {
  it('of user code are masked in the description of the status', async () => {
    const { client, there } = await createRig()
    await client.callTool('break')
    expect(JSON.stringify(there.spans.map(({ status, attributes }) => [status, attributes]))).not.toContain('1234')
    expect(there.named('tools/call break')[0]?.attributes['error.type']).toBe('tool_error')
  })

  it.each([-32_700, -32_600, -32_601, -32_602, -32_002])(
    'with the code %i are the fault of the client: the server has no error',
    async (code) => {
      const { client, here, there } = await createRig({ revision: '2025-11-25' })
      await expect(client.callTool('refuse', { code })).rejects.toMatchObject({ code })
      const [sent] = here.named('tools/call refuse')
      const [handled] = there.named('tools/call refuse')
      expect(sent?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'Refused' })
      expect(sent?.attributes).toMatchObject({ 'error.type': `${code}`, 'rpc.response.status_code': `${code}` })
      expect(handled?.status).toEqual({ code: SpanStatusCode.UNSET })
      expect(handled?.attributes['rpc.response.status_code']).toBe(`${code}`)
      expect(handled?.attributes).not.toHaveProperty('error.type')
    },
  )

  it.each([-32_603, -32_020, -32_021, -32_022, -32_000, 7])(
    'with the code %i are errors of both sides',
    async (code) => {
      const { client, here, there } = await createRig()
      await expect(client.callTool('refuse', { code })).rejects.toMatchObject({ code })
      for (const sdk of [here, there]) {
        const [span] = sdk.named('tools/call refuse')
        expect(span?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'Refused' })
        expect(span?.attributes).toMatchObject({ 'error.type': `${code}`, 'rpc.response.status_code': `${code}` })
      }
    },
  )

  it.each([
    ['2025-11-25', '-32002'],
    ['2026-07-28', '-32602'],
  ] as const)('of unknown resources are those of the client, in %s', async (revision, code) => {
    const { client, here, there } = await createRig({ revision })
    await expect(client.readResource('nothing://here')).rejects.toThrow()
    expect(here.named('resources/read')[0]?.attributes['error.type']).toBe(code)
    const [handled] = there.named('resources/read')
    expect(handled?.attributes).toMatchObject({
      'rpc.response.status_code': code,
      'mcp.resource.uri': 'nothing://here',
    })
    expect(handled?.status.code).toBe(SpanStatusCode.UNSET)
  })

  it.each([401, 403, 404, 413, 429, 500, 503])('of HTTP have their status %i, and no code', async (status) => {
    const sdk = createSdk()
    const answer = vi.fn(async (..._: unknown[]) => new Response('No', { status }))
    const shop = createShop(sdk.tracer)
    const app = mcp(shop)
    const connector = http('http://localhost/mcp', {
      fetch: (url, init) => {
        const isCall = String(init?.body).includes('tools/call')
        return isCall ? answer(url) : Promise.resolve(app.fetch(new Request(url, init)))
      },
    })
    await using client = await connect(connector, { telemetry: telemetry({ tracer: sdk.tracer, meter: sdk.meter }) })
    await expect(client.callTool('search', { q: 'a' })).rejects.toThrow()
    expect(answer).toHaveBeenCalled()
    const [sent] = sdk.named('tools/call search')
    expect(sent?.status.code).toBe(SpanStatusCode.ERROR)
    expect(sent?.attributes['error.type']).toBe(`${status}`)
    expect(sent?.attributes).not.toHaveProperty('rpc.response.status_code')
  })

  it.each(REVISIONS)('of unknown methods are those of the client, in %s', async (revision) => {
    const { client, there } = await createRig({ revision })
    await expect(client.request('x/y')).rejects.toThrow('Method not found')
    const [handled] = there.named('x/y')
    expect(handled?.attributes['rpc.response.status_code']).toBe('-32601')
    expect(handled?.status.code).toBe(SpanStatusCode.UNSET)
  })

  it('of the connection have its reason', async () => {
    const { client, here, there } = await createRig({ transport: 'http' })
    const controller = new AbortController()
    const waiting = client.callTool('wait', {}, { signal: controller.signal })
    setTimeout(() => controller.abort(), 300)
    await expect(waiting).rejects.toThrow('cancelled')
    await expect(client.callTool('wait', {}, { timeout: 300 })).rejects.toThrow('within 300 ms')
    const [cancelled, late] = here.named('tools/call wait')
    expect(cancelled?.attributes['error.type']).toBe('cancelled')
    expect(cancelled?.status.code).toBe(SpanStatusCode.UNSET)
    expect(late?.attributes['error.type']).toBe('timeout')
    expect(late?.status.code).toBe(SpanStatusCode.ERROR)
    await expect.poll(() => there.named('tools/call wait')).toHaveLength(2)
    const handled = there.named('tools/call wait')
    expect(handled.map(({ attributes }) => attributes['error.type'])).toEqual(['cancelled', 'cancelled'])
    expect(handled.map(({ status }) => status.code)).toEqual([SpanStatusCode.UNSET, SpanStatusCode.UNSET])
  })
})

describe('the context of a received message', () => {
  it.each([
    ['a span of the caller', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'b7ad6b7169203331'],
    ['none if it cannot be parsed', '00-zz', undefined],
    [
      'none if it is too long',
      `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-${'a'.repeat(9_000)}`,
      undefined,
    ],
    ['none if it is no string', { a: 1 }, undefined],
  ])('has as its parent %s', async (_, traceparent, parent) => {
    const { client, there } = await createRig({ client: { tracer: false, propagator: false } })
    await client.callTool('search', { q: 'a' }, { meta: { traceparent } })
    expect(parentOf(there.named('tools/call search')[0])).toBe(parent)
  })
})

it('the span of a request over a Unix socket names its transport, and no address', async () => {
  const sdk = createSdk()
  const shop = createShop(sdk.tracer, { telemetry: telemetry({ tracer: sdk.tracer, meter: false }) })
  const folder = mkdtempSync(join(tmpdir(), 'telemetry-'))
  const socketPath = join(folder, 'socket')
  const server = createServer(toNodeHandler(mcp(shop)))
  onTestFinished(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  await once(server.listen(socketPath), 'listening')
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { name: 'search', arguments: { q: 'a' }, _meta }
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'search',
  }
  const sent = request({ socketPath, path: '/mcp', method: 'POST', headers })
  sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
  const [response] = await once(sent, 'response')
  expect([response.statusCode, await text(response)]).toEqual([200, expect.stringContaining('found a')])
  const { attributes } = sdk.named('tools/call search')[0] ?? {}
  expect(attributes).toMatchObject({ 'network.transport': 'unix', 'network.protocol.name': 'http' })
  for (const name of ['client.address', 'client.port']) expect(attributes).not.toHaveProperty([name])
})

it('the URI of a resource is in the spans of subscriptions and of changes', async () => {
  const { client, here, there, shop } = await createRig({ revision: '2025-11-25' })
  const stream = client.listen({ resourceSubscriptions: ['shop://sign'] })
  await stream.ready
  shop.resourceUpdated('shop://sign')
  await stream.next()
  stream.close()
  for (const method of ['resources/subscribe', 'notifications/resources/updated', 'resources/unsubscribe']) {
    for (const sdk of [here, there]) {
      await expect.poll(() => sdk.named(method)).toHaveLength(1)
      expect(sdk.named(method)[0]?.attributes['mcp.resource.uri']).toBe('shop://sign')
    }
  }
})

it('an ambient span is the parent of what a client sends', async () => {
  const { client, here } = await createRig()
  await here.tracer.startActiveSpan('agent', async (agent) => {
    await client.callTool('search', { q: 'a' })
    agent.end()
  })
  expect(parentOf(here.named('tools/call search')[0])).toBe(idOf(here.named('agent')[0]))
})

it('baggage reaches the handler', async () => {
  const { client, shop } = await createRig({ transport: 'http' })
  let seen: string | undefined
  shop.tool('baggage', {}, () => {
    seen = propagation.getActiveBaggage()?.getEntry('user')?.value
    return ''
  })
  const baggage = propagation.createBaggage({ user: { value: 'ann' } })
  await context.with(propagation.setBaggage(context.active(), baggage), () => client.callTool('baggage'))
  expect(seen).toBe('ann')
})

it('a span of an outer tool call gets the attributes instead of another span', async () => {
  const { client, here, there } = await createRig()
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'shop_search' }
  await here.tracer.startActiveSpan('execute_tool shop_search', { attributes }, async (outer) => {
    await client.callTool('search', { q: 'a' })
    await client.callTool('search', { q: 'b' })
    outer.end()
  })
  const [outer] = here.named('execute_tool shop_search')
  expect(outer?.attributes).toMatchObject({ 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'search' })
  expect(here.named('tools/call search')).toHaveLength(1)
  expect(there.named('tools/call search').map(parentOf)).toEqual([
    idOf(outer),
    idOf(here.named('tools/call search')[0]),
  ])
})

it('a server without telemetry answers a client with it', async () => {
  const { client, here, there } = await createRig({ server: { tracer: false, meter: false, propagator: false } })
  expect(await client.callTool('search', { q: 'a' })).toMatchObject({ content: [{ text: 'found a' }] })
  expect(here.named('tools/call search')).toHaveLength(1)
  expect(there.named('tools/call search')).toEqual([])
})

it.each(COMBINATIONS)(
  'a handler that never returns has a span after its request was cancelled ($transport, $revision)',
  async (rig) => {
    const { client, there, shop } = await createRig(rig)
    shop.tool('hang', {}, () => new Promise<string>(() => {}))
    await expect(client.callTool('hang', {}, { timeout: 50 })).rejects.toThrow('50 ms')
    await expect.poll(() => there.named('tools/call hang').length, { timeout: 10_000 }).toBe(1)
    const [span] = there.named('tools/call hang')
    expect(span?.attributes['error.type']).toBe('cancelled')
    expect(
      (await there.metric('mcp.server.operation.duration'))?.dataPoints.map(({ attributes }) => attributes),
    ).toContainEqual(expect.objectContaining({ 'gen_ai.tool.name': 'hang', 'error.type': 'cancelled' }))
  },
)

it('strings of peers are cut and well-formed, because a collector may refuse the spans of all requests', async () => {
  const { client, here, there, shop } = await createRig()
  const name = '\ud800unknown'
  shop.tool('complain', {}, () => {
    throw new RpcError(-32000, `\udc00${'y'.repeat(2_000)}`)
  })
  await expect(client.callTool(name)).rejects.toThrow('Unknown tool')
  await expect(client.request('ask\ud800')).rejects.toThrow('Method not found')
  await expect(client.callTool('complain')).rejects.toThrow('y')
  for (const { spans } of [here, there]) {
    expect(spans.length).toBeGreaterThan(2)
    for (const { name, attributes, status } of spans) {
      const strings = [name, status.message ?? '', ...Object.values(attributes).map(String)]
      expect(strings.filter((text) => /\p{Surrogate}/u.test(text) || text.length > 1_100)).toEqual([])
    }
  }
})
