import { connect } from '@mcpx/client'
import { RpcError, type ServerLoad } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { type Attributes, metrics } from '@opentelemetry/api'
import type { Histogram } from '@opentelemetry/sdk-metrics'
import { afterEach, describe, expect, it } from 'vitest'
import { telemetry } from './index.ts'
import { createSdk } from './otel.fixture.ts'
import { COMBINATIONS, createRig, createShop, NETWORK } from './rig.fixture.ts'

const BOUNDARIES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

type Sdk = ReturnType<typeof createSdk>

/** The attributes of a histogram by the number of durations, in the order in which they were first recorded. */
async function recorded(sdk: Sdk, name: string): Promise<{ attributes: Attributes; value: Histogram }[]> {
  const metric = await sdk.metric(name)
  return (metric?.dataPoints ?? []) as never
}

const of = (points: Awaited<ReturnType<typeof recorded>>, method: string) =>
  points.filter(({ attributes }) => attributes['mcp.method.name'] === method)

afterEach(() => {
  metrics.disable()
})

describe.each(COMBINATIONS)('over $transport, in $revision', ({ revision, transport }) => {
  const network = NETWORK[transport]
  const isHttp = transport === 'http' || transport === 'sse'

  it('the duration of each operation is measured on both sides, in seconds', async () => {
    const { client, here, there, port } = await createRig({ revision, transport })
    await client.callTool('search', { q: 'a' })
    await client.callTool('search', { q: 'b' })
    await client.callTool('fail')
    await client.getPrompt('review', { code: 'x' })
    await client.readResource('note://1')
    const common = { 'mcp.protocol.version': revision, ...network }
    const call = { ...common, 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool' }
    const sides = [
      ['mcp.client.operation.duration', here, isHttp ? { 'server.address': '127.0.0.1', 'server.port': port } : {}],
      ['mcp.server.operation.duration', there, isHttp ? { 'network.protocol.version': '1.1' } : {}],
    ] as const
    for (const [name, sdk, extra] of sides) {
      await expect.poll(async () => of(await recorded(sdk, name), 'resources/read')).toHaveLength(1)
      const descriptor = (await sdk.metric(name))?.descriptor
      expect(descriptor).toMatchObject({ unit: 's', advice: { explicitBucketBoundaries: BOUNDARIES } })
      const points = await recorded(sdk, name)
      const calls = of(points, 'tools/call')
      expect(calls.map(({ attributes }) => attributes)).toEqual([
        { ...call, ...extra, 'gen_ai.tool.name': 'search' },
        { ...call, ...extra, 'gen_ai.tool.name': 'fail', 'error.type': 'tool_error' },
      ])
      expect(calls[0]?.value).toMatchObject({ count: 2, buckets: { boundaries: BOUNDARIES } })
      expect(calls[0]?.value.sum).toBeGreaterThan(0)
      expect(calls[0]?.value.sum).toBeLessThan(10)
      expect(of(points, 'prompts/get')[0]?.attributes).toEqual({
        ...common,
        ...extra,
        'mcp.method.name': 'prompts/get',
        'gen_ai.prompt.name': 'review',
      })
      expect(of(points, 'resources/read')[0]?.attributes).toEqual({
        ...common,
        ...extra,
        'mcp.method.name': 'resources/read',
      })
    }
  })

  it('the duration of a session is measured in the legacy era only', async () => {
    const { client, here, there, stop, port } = await createRig({ revision, transport })
    await client.callTool('search', { q: 'a' })
    await stop()
    const isLegacy = revision !== '2026-07-28'
    const attributes = { 'mcp.protocol.version': revision, ...(isHttp && { 'network.protocol.name': 'http' }) }
    const server = { ...(isHttp && { 'server.address': '127.0.0.1', 'server.port': port }) }
    const pointsOf = async (sdk: Sdk, name: string) => (await recorded(sdk, name)).map((point) => point.attributes)
    await expect
      .poll(() => pointsOf(here, 'mcp.client.session.duration'))
      .toEqual(isLegacy ? [{ ...attributes, ...server }] : [])
    await expect.poll(() => pointsOf(there, 'mcp.server.session.duration')).toEqual(isLegacy ? [attributes] : [])
    if (!isLegacy) return
    const { descriptor } = (await here.metric('mcp.client.session.duration')) ?? {}
    expect(descriptor).toMatchObject({ unit: 's', advice: { explicitBucketBoundaries: BOUNDARIES } })
  })
})

it('errors have their type and their code', async () => {
  const { client, here } = await createRig({ transport: 'http' })
  await expect(client.callTool('nothing')).rejects.toThrow()
  await expect(client.callTool('wait', {}, { timeout: 20 })).rejects.toThrow()
  const points = of(await recorded(here, 'mcp.client.operation.duration'), 'tools/call')
  expect(points.map(({ attributes }) => [attributes['error.type'], attributes['rpc.response.status_code']])).toEqual([
    ['-32602', '-32602'],
    ['timeout', undefined],
  ])
})

it('names that a server does not know make no series of their own', async () => {
  const { client, here, there } = await createRig()
  for (const name of ['a', 'b', 'c']) {
    await expect(client.callTool(name)).rejects.toThrow('Unknown tool')
    await expect(client.request(`x/${name}`)).rejects.toThrow('Method not found')
  }
  for (const [side, sdk] of [
    ['server', there],
    ['client', here],
  ] as const) {
    const points = await recorded(sdk, `mcp.${side}.operation.duration`)
    expect(of(points, 'tools/call')).toMatchObject([{ value: { count: 3 } }])
    expect(of(points, 'tools/call')[0]?.attributes).not.toHaveProperty('gen_ai.tool.name')
    expect(of(points, '_OTHER')).toMatchObject([
      { value: { count: 3 }, attributes: { 'rpc.response.status_code': '-32601' } },
    ])
  }
})

it('names and error codes of hostile peers do not displace the series of others', async () => {
  const sdk = createSdk()
  const options = { telemetry: telemetry({ tracer: false, meter: sdk.meter }), onError: () => {} }
  const server = createServer(
    { name: 'any', version: '1' },
    {
      ...options,
      listTools: () => ({ tools: [] }),
      callTool: ({ name }) => {
        if (name.startsWith('code-')) throw new RpcError(Number(name.slice(5)), 'Refused')
        return { content: [], isError: name !== 'works' }
      },
    },
  )
  await using client = await connect(server)
  for (let n = 0; n < 2_500; n++) {
    await client.callTool(`name-${n}`)
    await client.callTool(`code-${n}`).catch(() => {})
  }
  await client.callTool('works')
  await client.callTool('code--32603').catch(() => {})
  const points = of(await recorded(sdk, 'mcp.server.operation.duration'), 'tools/call')
  expect(points.length).toBeLessThan(500)
  expect(points.map(({ attributes }) => attributes['gen_ai.tool.name'])).toContain('works')
  expect(points.map(({ attributes }) => attributes['otel.metric.overflow'])).not.toContain(true)
  const [hidden] = points.filter(({ attributes }) => attributes['rpc.response.status_code'] === '_OTHER')
  expect(hidden).toMatchObject({ attributes: { 'error.type': '_OTHER' } })
  const codes = points.map(({ attributes }) => attributes['rpc.response.status_code'])
  expect(codes).toEqual(expect.arrayContaining(['0', '99', '-32603']))
  expect(codes).not.toContain('100')
})

it('the URIs of resources are in names and metrics by option', async () => {
  const { client, here } = await createRig({ client: { resourceUri: true } })
  await client.readResource('note://1')
  expect(here.named('resources/read note://1')).toHaveLength(1)
  const points = of(await recorded(here, 'mcp.client.operation.duration'), 'resources/read')
  expect(points[0]?.attributes['mcp.resource.uri']).toBe('note://1')
})

it('a session that its server has lost has an error', async () => {
  const sdk = createSdk()
  const shop = createShop(sdk.tracer)
  const { url, port, close } = await serveHttp(shop, { port: 0 })
  const client = await connect(http(url), { era: 'legacy', telemetry: telemetry({ tracer: false, meter: sdk.meter }) })
  await close()
  const again = await serveHttp(shop, { port })
  await client.callTool('search', { q: 'a' })
  await client.close()
  await again.close()
  const sessions = (await recorded(sdk, 'mcp.client.session.duration')).map(
    ({ attributes }) => attributes['error.type'],
  )
  expect(sessions.sort()).toEqual(['closed', undefined])
})

describe('gauges', () => {
  it('count what the endpoints of a server hold', async () => {
    const sdk = createSdk()
    const shop = createShop(sdk.tracer, { telemetry: telemetry({ tracer: false, meter: sdk.meter, gauges: true }) })
    const { url, close } = await serveHttp(shop, { port: 0 })
    const read = async () => {
      const values: Partial<Record<keyof ServerLoad, unknown>> = {}
      for (const name of ['requests', 'sessions', 'streams'] as const) {
        values[name] = (await sdk.metric(`mcpx.server.${name}`))?.dataPoints[0]?.value
      }
      return values
    }
    expect(await read()).toEqual({ requests: 0, sessions: 0, streams: 0 })
    const modern = await connect(http(url))
    const legacy = await connect(http(url), { era: 'legacy' })
    const stop = new AbortController()
    const waiting = [modern, legacy].map((client) => client.callTool('wait', {}, { signal: stop.signal }))
    const stream = modern.listen({ toolsListChanged: true })
    await stream.ready
    await expect.poll(read).toEqual({ requests: 3, sessions: 1, streams: 2 })
    stop.abort()
    stream.close()
    await Promise.allSettled(waiting)
    await modern.close()
    await legacy.close()
    await expect.poll(read).toEqual({ requests: 0, sessions: 0, streams: 0 })
    await close()
    await expect.poll(read).toEqual({ requests: 0, sessions: 0, streams: 0 })
  })

  it('come with a counter of the requests that were refused before a message was handled', async () => {
    const sdk = createSdk()
    const shop = createShop(sdk.tracer, { telemetry: telemetry({ tracer: false, meter: sdk.meter, gauges: true }) })
    const { url, close } = await serveHttp(shop, { port: 0 })
    const statuses: number[] = []
    const json = { 'content-type': 'application/json' }
    for (const init of [{}, { body: '{', headers: json }, { body: '{}' }, { body: '[', headers: json }]) {
      statuses.push((await fetch(url, { method: 'POST', ...init })).status)
    }
    const client = await connect(http(url))
    await client.callTool('fail')
    await client.callTool('none').catch(() => {})
    await client.close()
    await close()
    expect(statuses).toEqual([415, 400, 415, 400])
    const counts = (await sdk.metric('mcpx.server.refusals'))?.dataPoints.map(({ attributes, value }) => [
      attributes,
      value,
    ])
    expect(counts).toEqual(
      [415, 400].map((status) => [{ 'http.response.status_code': status, 'network.transport': 'tcp' }, 2]),
    )
  })

  it('leave out what has ended', async () => {
    const sdk = createSdk()
    const observer = telemetry({ tracer: false, meter: sdk.meter, gauges: true })
    const [stop] = [3, 4].map((streams) => observer.onServe?.(() => ({ streams })))
    const read = async () => (await sdk.metric('mcpx.server.streams'))?.dataPoints[0]?.value
    expect(await read()).toBe(7)
    stop?.()
    expect(await read()).toBe(4)
  })

  it('do not exist without the option', async () => {
    const { client, there } = await createRig({ transport: 'http' })
    await client.callTool('search', { q: 'a' })
    expect(await there.metric('mcpx.server.requests')).toBeUndefined()
    expect(await there.metric('mcpx.server.refusals')).toBeUndefined()
  })
})

it('the global provider may be set after the server was created', async () => {
  const sdk = createSdk()
  const server = createServer({ name: 'late', version: '1' }, { telemetry: telemetry() }).tool('a', {}, () => '')
  const client = await connect(server)
  await client.callTool('a')
  metrics.setGlobalMeterProvider(sdk.meters)
  await client.callTool('a')
  expect(of(await recorded(sdk, 'mcp.server.operation.duration'), 'tools/call')).toMatchObject([
    { value: { count: 1 } },
  ])
  await client.close()
})
