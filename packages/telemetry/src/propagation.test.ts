import { connect, proxy } from '@mcpx/client'
import type { JsonObject, RequestMessage, Responder } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { context, createTraceState, propagation, trace } from '@opentelemetry/api'
import { afterEach, describe, expect, it } from 'vitest'
import { telemetry } from './index.ts'
import { contextManager, createSdk, idOf, parentOf, traceOf } from './otel.fixture.ts'
import { createRig, createShop, REVISIONS } from './rig.fixture.ts'

const REMOTE = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
const TRACEPARENT = `00-${REMOTE.traceId}-${REMOTE.spanId}-01`

afterEach(() => {
  // Has no effect if it is set already.
  context.setGlobalContextManager(contextManager)
})

/** A server over HTTP, whose requests have spans as of an instrumentation of HTTP, and a client that reports nothing. */
async function connectHttp(options: Parameters<typeof telemetry>[0], revision: (typeof REVISIONS)[number]) {
  const sdk = createSdk()
  const shop = createShop(sdk.tracer, { telemetry: telemetry({ tracer: sdk.tracer, meter: false, ...options }) })
  const app = mcp(shop, { allowedHosts: '*' })
  const client = await connect(
    http('http://shop.example/mcp', {
      fetch: (...request) =>
        context.with(trace.deleteSpan(context.active()), () =>
          sdk.tracer.startActiveSpan(`${request[1]?.method}`, async (span) => {
            try {
              return await app.fetch(new Request(...request))
            } finally {
              span.end()
            }
          }),
        ),
    }),
    { era: revision, cache: false },
  )
  sdk.reset()
  return { client, sdk, close: () => client.close().then(() => app.close()) }
}

describe.each(REVISIONS)('with an ambient span of HTTP, in %s', (revision) => {
  it.each(['parent', 'link', 'ignore'] as const)('the trust "%s" chooses the parent and the links', async (trust) => {
    const { client, sdk, close } = await connectHttp({ trust }, revision)
    await client.callTool('search', { q: 'a' }, { meta: { traceparent: TRACEPARENT } })
    const [handled] = sdk.named('tools/call search')
    const [ambient] = sdk.named('POST')
    const links = handled?.links.map((link) => link.context.spanId)
    expect(parentOf(handled)).toBe(trust === 'parent' ? REMOTE.spanId : idOf(ambient))
    expect(traceOf(handled)).toBe(trust === 'parent' ? REMOTE.traceId : traceOf(ambient))
    expect(links).toEqual({ parent: [idOf(ambient)], link: [REMOTE.spanId], ignore: [] }[trust])
    await close()
  })

  it('the ambient span is the parent without a received context', async () => {
    const { client, sdk, close } = await connectHttp({}, revision)
    await client.callTool('search', { q: 'a' })
    expect(parentOf(sdk.named('tools/call search')[0])).toBe(idOf(sdk.named('POST')[0]))
    await close()
  })
})

/** A server that records the metadata of the requests that it receives. */
function recordingServer() {
  const received: JsonObject[] = []
  const shop = createShop(createSdk().tracer)
  const server: Responder = {
    respond(message, exchange) {
      const { method, params } = message as RequestMessage
      if (method === 'tools/call') received.push(params?._meta as JsonObject)
      return shop.respond(message, exchange)
    },
  }
  return { server, received }
}

describe('a received context', () => {
  it.each([
    ['tracestate', `a=${'1'.repeat(250)},b=${'2'.repeat(257)}`, 512],
    ['tracestate', `a=${'1'.repeat(250)},b=${'2'.repeat(258)}`, 513],
    ['baggage', `user=${'x'.repeat(3_000)},more=${'y'.repeat(3_000)}`, 6_011],
    ['baggage', `user=${'x'.repeat(4_000)},more=${'y'.repeat(4_182)}`, 8_193],
  ])('is used with its %s if that is not too long', async (key, value, length) => {
    expect(value).toHaveLength(length)
    const isAccepted = length <= (key === 'baggage' ? 8_192 : 512)
    const { client, shop, there } = await createRig({ client: { tracer: false, propagator: false } })
    let seen: unknown
    shop.tool('look', {}, () => {
      const state = trace.getSpanContext(context.active())?.traceState
      seen = key === 'baggage' ? propagation.getActiveBaggage()?.getEntry('user')?.value : state?.get('a')
      return ''
    })
    await client.callTool('look', {}, { meta: { traceparent: TRACEPARENT, [key]: value } })
    expect(parentOf(there.named('tools/call look')[0])).toBe(REMOTE.spanId)
    expect(typeof seen).toBe(isAccepted ? 'string' : 'undefined')
  })
})

describe('a message of a client', () => {
  it('has the context of its span, and no member of another context', async () => {
    const { server, received } = recordingServer()
    const sdk = createSdk()
    await using client = await connect(server, { telemetry: telemetry({ tracer: sdk.tracer }) })
    const stale = { traceparent: TRACEPARENT, tracestate: 'a=1', baggage: 'b=2', 'example.com/keep': 3 }
    await client.callTool('search', { q: 'a' }, { meta: stale })
    const [sent] = sdk.named('tools/call search')
    expect(received[0]).toMatchObject({
      traceparent: `00-${traceOf(sent)}-${idOf(sent)}-01`,
      'example.com/keep': 3,
    })
    expect(received[0]?.tracestate).toBeUndefined()
    expect(received[0]?.baggage).toBeUndefined()
  })

  it('keeps the state of the trace, unless it is too long', async () => {
    const { server, received } = recordingServer()
    await using client = await connect(server, { telemetry: telemetry({ tracer: createSdk().tracer }) })
    for (const state of ['a=1', `a=${'1'.repeat(250)},b=${'2'.repeat(250)},c=${'3'.repeat(250)}`]) {
      const remote = { ...REMOTE, traceFlags: 1, traceState: createTraceState(state) }
      await context.with(trace.setSpanContext(context.active(), remote), () => client.callTool('search', { q: 'a' }))
    }
    expect(received.map(({ tracestate }) => tracestate)).toEqual(['a=1', undefined])
    expect(received.map(({ traceparent }) => `${traceparent}`.includes(REMOTE.traceId))).toEqual([true, true])
  })

  it('passes the given context on without a propagator', async () => {
    const { server, received } = recordingServer()
    await using client = await connect(server, { telemetry: telemetry({ tracer: false, propagator: false }) })
    await client.callTool('search', { q: 'a' }, { meta: { traceparent: TRACEPARENT } })
    expect(received[0]?.traceparent).toBe(TRACEPARENT)
  })

  it('has the context of the caller where methods are ignored', async () => {
    const { client, here, there } = await createRig({
      client: { ignore: ['tools/call'] },
      server: { ignore: ['tools/call'] },
    })
    await here.tracer.startActiveSpan('agent', async (agent) => {
      await client.callTool('search', { q: 'a' })
      agent.end()
    })
    expect([...here.named('tools/call search'), ...there.named('tools/call search')]).toEqual([])
    expect(parentOf(there.named('SELECT')[0])).toBe(idOf(here.named('agent')[0]))
  })
})

describe.each(REVISIONS)('in %s', (revision) => {
  it('a mounted handler has a span of its own', async () => {
    const sdk = createSdk()
    const outer = createServer({ name: 'outer', version: '1' }, { telemetry: telemetry({ tracer: sdk.tracer }) })
    outer.mount('shop', createShop(sdk.tracer))
    await using client = await connect(outer, { era: revision, onElicit: () => ({ action: 'decline' }) })
    await client.callTool('shop.search', { q: 'a' })
    const [delegated] = sdk.named('delegate tools/call search')
    expect(parentOf(delegated)).toBe(idOf(sdk.named('tools/call shop.search')[0]))
    expect(parentOf(sdk.named('SELECT')[0])).toBe(idOf(delegated))
    expect(delegated?.attributes).toEqual({ 'gen_ai.tool.name': 'search', 'mcpx.mount.prefix': 'shop' })
    await client.callTool('shop.book')
    expect(sdk.named('delegate tools/call book')[0]?.status.code).toBe(0)
  })

  it.each([false, true])('a proxy passes the trace on (mounted: %s)', async (isMounted) => {
    const upstream = await createRig({ revision })
    const gateway = createSdk()
    const options = { telemetry: telemetry({ tracer: gateway.tracer }) }
    const info = { name: 'gateway', version: '1' }
    await using inner = await connect(upstream.shop, { ...options, era: revision })
    const server = isMounted
      ? createServer(info, options).mount('shop', proxy(inner))
      : createServer(info, { ...options, ...proxy(inner) })
    const caller = createSdk()
    const report = telemetry({ tracer: caller.tracer })
    await using client = await connect(server, { era: revision, telemetry: report })
    const tool = isMounted ? 'shop.search' : 'search'
    upstream.there.reset()
    await client.callTool(tool, { q: 'a' })
    const [sent] = caller.named(`tools/call ${tool}`)
    const spans = gateway.spans.filter(({ name }) => name.includes('tools/call'))
    const names = spans.map(({ name, kind }) => `${kind} ${name}`)
    expect(names.sort()).toEqual([`1 tools/call ${tool}`, '0 delegate tools/call search', '2 tools/call search'].sort())
    const [received, delegated, forwarded] = [1, 0, 2].map((kind) => spans.find((span) => span.kind === kind))
    const [handled] = upstream.there.named('tools/call search')
    expect([received, delegated, forwarded, handled].map(parentOf)).toEqual(
      [sent, received, delegated, forwarded].map(idOf),
    )
  })

  it('changes that a call causes belong to its trace', async () => {
    const { client, here, there, shop } = await createRig({ revision })
    shop.tool('publish', {}, () => {
      shop.removeTool('wait')
      return 'published'
    })
    const stream = client.listen({ toolsListChanged: true })
    await stream.ready
    // Until the server knows that the confirmation was sent, changes wait.
    await new Promise((resolve) => setTimeout(resolve, 20))
    await client.callTool('publish')
    await stream.next()
    await expect.poll(() => here.named('notifications/tools/list_changed').length).toBeGreaterThan(0)
    const sent = there.named('notifications/tools/list_changed')
    const heard = here.named('notifications/tools/list_changed')
    expect(sent.map(traceOf)).toContain(traceOf(there.named('tools/call publish')[0]))
    expect(sent.map(idOf)).toContain(parentOf(heard[0]))
    stream.close()
  })
})

it('a subscription has a span until it is confirmed', async () => {
  const { client, here, there } = await createRig({ revision: '2026-07-28' })
  const stream = client.listen({ toolsListChanged: true })
  await stream.ready
  const [sent] = here.named('subscriptions/listen')
  const [handled] = there.named('subscriptions/listen')
  expect(parentOf(handled)).toBe(idOf(sent))
  stream.close()
})

it('a message of a server belongs to its call without a context manager', async () => {
  context.disable()
  const { client, there } = await createRig({ revision: '2025-11-25' })
  await client.callTool('book')
  const [handled] = there.named('tools/call book')
  expect(parentOf(there.named('elicitation/create')[0])).toBe(idOf(handled))
})
