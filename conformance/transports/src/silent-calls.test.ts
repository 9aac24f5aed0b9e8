/** Calls that say nothing for longer than `fetch` waits: the server shows that it is there, or the user's `fetch` waits. */

import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { connect } from '@mcpx/client'
import { createServer, type Server } from '@mcpx/server'
import { caught, delay } from '@mcpx/testing'
import { type EndpointOptions, mcp } from '@mcpx/transport-http'
import { type HttpOptions, http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { becomeImpatient, impatient, patientFetch, SILENCE } from './impatient.fixture.ts'

vi.setConfig({ testTimeout: 20_000 })

/** The tests run at once: what they open is closed when all are over. */
const closers: (() => unknown)[] = []
beforeAll(async () => void closers.push(await becomeImpatient()))
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

const slow = () =>
  createServer({ name: 'slow', version: '1' }).tool('wait', {}, () =>
    delay(2.2 * SILENCE).then(() => 'waited'),
  ) as Server

type Serve = (server: Server, options: EndpointOptions) => Promise<string>

const hosts: Record<string, Serve> = {
  async serveHttp(server, options) {
    const { url, close } = await serveHttp(server, { port: 0, ...options })
    closers.push(close)
    return url
  },
  "an app on Hono's server for Node": (server, options) => listen(getRequestListener(mcp(server, options).fetch)),
  'an app in an app of others': (server, options) => {
    const app = new Hono().route('/mcp', mcp(server, options))
    return listen(getRequestListener(app.fetch))
  },
  'an app on the requests of the web': (server, options) => {
    const app = mcp(server, options)
    // A middleware put another request in the place of the one that came.
    return listen(getRequestListener((request) => app.fetch(new Request(request.url, request))))
  },
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

async function reach(url: string, era: 'legacy' | 'modern', options: HttpOptions = {}) {
  const client = await connect(http(url, { reconnect: { minDelay: 20 }, ...options }), { era })
  closers.push(() => client.close())
  return client
}

const answered = Object.entries(hosts).flatMap(([name, host]) =>
  (['legacy', 'modern'] as const).map((era) => [name, era, host] as const),
)

it.concurrent.each(answered)(
  '%s answers a silent call by a stream, which comments keep alive: %s',
  async (_, era, host) => {
    const client = await reach(await host(slow(), { keepAlive: SILENCE / 4 }), era, { init: await impatient() })
    expect(await client.callTool('wait')).toMatchObject({ content: [{ text: 'waited' }] })
  },
)

describe.concurrent('a server that says nothing until it answers', () => {
  const silent = () => hosts.serveHttp?.(slow(), { responses: 'json' }) as Promise<string>

  it('is waited for longer than the runtime waits by itself, by a fetch of the user that waits', async () => {
    const client = await reach(await silent(), 'modern', { fetch: await patientFetch() })
    expect(await client.callTool('wait')).toMatchObject({ content: [{ text: 'waited' }] })
  })

  it.each([
    ['the runtime', async () => ({})],
    ['the user', async () => ({ init: await impatient() })],
  ])('is waited for as long as the fetch of %s waits: it is said who gave up, and what to do', async (_, options) => {
    const client = await reach(await silent(), 'modern', await options())
    expect(await caught(() => client.callTool('wait'))).toMatchObject({
      name: 'ConnectionError',
      reason: 'unreachable',
      retryable: false,
      message: expect.stringContaining('Headers Timeout Error'),
      hint: expect.stringMatching(/headersTimeout/),
    })
  })
})
