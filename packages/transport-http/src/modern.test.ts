import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { type EndpointOptions, mcp as serve } from './index.ts'
import { eventsOf, gate, HandWritten, json, LEGACY, MODERN, modern, request } from './server/server.fixture.ts'

const mcp: typeof serve = (server, options) => serve(server, { ...options, legacy: false })
const tools = new HandWritten({ 'tools/list': () => ({ tools: [] }) })

function send(body: object, more: Record<string, string> = {}): Request {
  const headers = {
    'content-type': 'application/json',
    'mcp-protocol-version': MODERN,
    'mcp-method': 'tools/list',
    ...more,
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(body) })
}

const answered = async (app: Pick<Hono, 'fetch'>, sent: Request) => {
  const response = await app.fetch(sent)
  return [response.status, response.body === null ? undefined : await json(response)]
}

describe('an app with the modern era only', () => {
  it('answers modern requests', async () => {
    expect(await answered(mcp(tools), send(modern('tools/list')))).toMatchObject([200, { result: { tools: [] } }])
  })

  it('rejects handshakes with the supported revisions', async () => {
    const sent = send(request('initialize', { protocolVersion: LEGACY, capabilities: {} }), {
      'mcp-protocol-version': LEGACY,
      'mcp-method': 'initialize',
    })
    const data = { supported: expect.arrayContaining([MODERN]), requested: LEGACY }
    expect(await answered(mcp(tools), sent)).toMatchObject([400, { error: { data } }])
  })

  it('supports only POST, and rejects batches', async () => {
    for (const method of ['GET', 'DELETE']) {
      const response = await mcp(tools).fetch(new Request('http://localhost/mcp', { method }))
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    }
    expect((await answered(mcp(tools), send([modern('tools/list')])))[0]).toBe(400)
  })

  it.each<[string, EndpointOptions, Request, number]>([
    ['hosts', { allowedHosts: ['mcp.example.com'] }, send(modern('tools/list')), 403],
    ['bodies', { limits: { body: 10 } }, send(modern('tools/list')), 413],
    ['callers', { authenticate: () => new Response(null, { status: 401 }) }, send(modern('tools/list')), 401],
  ])('rejects %s', async (_, options, sent, status) => {
    expect((await mcp(tools, options).fetch(sent)).status).toBe(status)
  })

  it('rejects invalid limits and responders', () => {
    expect(() => mcp(tools, { limits: { body: Number.NaN } })).toThrow('limits.body')
    expect(() => mcp(undefined as never)).toThrow(
      'expected a server, such as the result of createServer(), got undefined',
    )
  })

  it('streams notifications, sends comments, and drains', async () => {
    const held = gate<object>()
    const app = mcp(new HandWritten({ 'tools/list': () => held.promise }), { keepAlive: 20 })
    const events = eventsOf(await app.fetch(send(modern('tools/list'))))
    expect(await events.comment()).toBe('')
    const drained = app.drain()
    held.open({ tools: [] })
    expect(await events.message()).toMatchObject({ result: { tools: [] } })
    await drained
    expect((await app.fetch(send(modern('tools/list')))).status).toBe(503)
  })

  it('can be mounted in an app of Hono with waitUntil', async () => {
    const kept: Promise<unknown>[] = []
    const context = {
      waitUntil: (work: Promise<unknown>) => void kept.push(work),
      passThroughOnException() {},
      props: {},
    }
    const app = new Hono().mount('/mcp', mcp(tools).fetch)
    const response = await app.fetch(send(modern('tools/list')), {}, context)
    expect([response.status, kept.length]).toEqual([200, 1])
  })
})
