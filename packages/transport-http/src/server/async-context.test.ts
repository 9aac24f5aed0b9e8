import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { afterEach, describe, expect, it } from 'vitest'
import { mcp } from '../index.ts'
import { HandWritten, LEGACY, MODERN, modern, request } from './server.fixture.ts'

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

const context = new AsyncLocalStorage<string>()

/** Reports the context in which it was called, and the context after an await. */
const teller = new HandWritten({
  'tools/call': async () => {
    const before = context.getStore()
    await Promise.resolve()
    return { before, after: context.getStore() }
  },
})

async function serve(app: Pick<Hono, 'fetch'>): Promise<string> {
  const server = createServer(getRequestListener(app.fetch))
  servers.push(server)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

const app = mcp(teller)
const keeping = () => new Hono().use(({ req }, next) => context.run(req.header('x-who') ?? '', next))
const places: [string, Hono][] = [
  ['as a route', keeping().route('/mcp', app)],
  ['by its fetch', keeping().all('/mcp', ({ req, env }) => app.fetch(req.raw, env))],
]

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const modernHeaders = { ...headers, 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'a' }

async function ask(url: string, who: string, init: RequestInit): Promise<unknown> {
  const all = { ...(init.headers as Record<string, string>), 'x-who': who }
  const response = await fetch(url, { method: 'POST', ...init, headers: all })
  return ((await response.json()) as { result: unknown }).result
}

function call(text = ''): RequestInit {
  return { headers: modernHeaders, body: JSON.stringify(modern('tools/call', { name: 'a', text })) }
}

async function callInSession(url: string): Promise<RequestInit> {
  const body = JSON.stringify(request('initialize', { protocolVersion: LEGACY, capabilities: {} }))
  const id = (await fetch(url, { method: 'POST', headers, body })).headers.get('mcp-session-id') ?? ''
  return { headers: { ...headers, 'mcp-session-id': id }, body: JSON.stringify(request('tools/call', { name: 'a' })) }
}

const bodies: Record<string, (url: string) => RequestInit | Promise<RequestInit>> = {
  'a small one': () => call(),
  'one within a session': callInSession,
  'one in many packets': () => call('x'.repeat(300_000)),
  'one of an unknown length': () => ({
    ...call(),
    body: new Blob([call().body as string]).stream(),
    duplex: 'half',
  }),
}

describe.each(places)("an app on Hono's server for Node, %s", (_, place) => {
  it.each(Object.keys(bodies))('runs in the async context of a middleware: %s', async (which) => {
    const url = await serve(place)
    const init = (await bodies[which]?.(url)) ?? {}
    expect(await ask(url, 'me', init)).toMatchObject({ before: 'me', after: 'me' })
  })

  it('runs each concurrent request in its own async context', async () => {
    const url = await serve(place)
    const who = Array.from({ length: 40 }, (_each, n) => `user ${n}`)
    const told = await Promise.all(who.map((name) => ask(url, name, call())))
    expect(told).toMatchObject(who.map((name) => ({ before: name, after: name })))
  })
})
