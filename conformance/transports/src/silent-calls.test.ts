/**
 * Calls that send no message for longer than the timeouts of `fetch`. Comments keep them open, or the user passes
 * another `fetch`.
 */

import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { connect } from '@mcpx/client'
import { createServer, type Server } from '@mcpx/server'
import { catchError, delay } from '@mcpx/testing'
import { type EndpointOptions, mcp } from '@mcpx/transport-http'
import { type HttpOptions, http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  createFetchWithoutTimeouts,
  initWithShortTimeouts,
  SILENCE,
  shortenFetchTimeouts,
} from './fetch-timeouts.fixture.ts'

vi.setConfig({ testTimeout: 20_000 })

/** The tests run concurrently; everything they open is closed at the end. */
const closers: (() => unknown)[] = []
beforeAll(async () => void closers.push(await shortenFetchTimeouts()))
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

const createSlowServer = () =>
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
  'an app mounted in another app': (server, options) => {
    const app = new Hono().route('/mcp', mcp(server, options))
    return listen(getRequestListener(app.fetch))
  },
  'an app with standard Request objects': (server, options) => {
    const app = mcp(server, options)
    // Like a middleware that replaces the request.
    return listen(getRequestListener((request) => app.fetch(new Request(request.url, request))))
  },
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

async function connectTo(url: string, era: 'legacy' | 'modern', options: HttpOptions = {}) {
  const client = await connect(http(url, { reconnect: { minDelay: 20 }, ...options }), { era })
  closers.push(() => client.close())
  return client
}

const cases = Object.entries(hosts).flatMap(([name, host]) =>
  (['legacy', 'modern'] as const).map((era) => [name, era, host] as const),
)

it.concurrent.each(cases)(
  '%s answers a silent call with a stream that comments keep open, in the %s era',
  async (_, era, host) => {
    const client = await connectTo(await host(createSlowServer(), { keepAlive: SILENCE / 4 }), era, {
      init: await initWithShortTimeouts(),
    })
    expect(await client.callTool('wait')).toMatchObject({ content: [{ text: 'waited' }] })
  },
)

describe.concurrent('a server that sends nothing before its response', () => {
  const silent = () => hosts.serveHttp?.(createSlowServer(), { responses: 'json' }) as Promise<string>

  it('can be called with a fetch of the user without timeouts', async () => {
    const client = await connectTo(await silent(), 'modern', { fetch: await createFetchWithoutTimeouts() })
    expect(await client.callTool('wait')).toMatchObject({ content: [{ text: 'waited' }] })
  })

  it.each([
    ['the runtime’s fetch', async () => ({})],
    ['the user’s fetch', async () => ({ init: await initWithShortTimeouts() })],
  ])('fails a call after the timeout of %s, with a hint', async (_, options) => {
    const client = await connectTo(await silent(), 'modern', await options())
    expect(await catchError(() => client.callTool('wait'))).toMatchObject({
      name: 'ConnectionError',
      reason: 'unreachable',
      retryable: false,
      message: expect.stringContaining('Headers Timeout Error'),
      hint: expect.stringMatching(/headersTimeout/),
    })
  })
})
