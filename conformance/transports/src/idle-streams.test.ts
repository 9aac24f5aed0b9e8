/** Idle streams: comments keep them open, and a stream that is closed as idle is reopened without a warning. */

import { type Client, connect } from '@mcpx/client'
import { createServer, type Server } from '@mcpx/server'
import { catchError, delay } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { initWithShortTimeouts, SILENCE } from './fetch-timeouts.fixture.ts'

vi.setConfig({ testTimeout: 20_000 })

/** The tests run concurrently; everything they open is closed at the end. */
const closers: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

function createChangingServer() {
  const server = createServer({ name: 'idle', version: '1' }).tool('wait', {}, async (_args, ctx) => {
    await ctx.progress(1)
    await delay(3 * SILENCE)
    return 'waited'
  }) as unknown as Server
  let count = 0
  return { server, change: () => void server.tool(`t-${++count}`, {}, () => 'x') }
}

async function connectWithTimeouts(server: Server, era: 'legacy' | 'modern', keepAlive: number) {
  const { url, close } = await serveHttp(server, { port: 0, keepAlive, sessions: { retry: 20 } })
  closers.push(close)
  const seen: string[] = []
  const warnings: Error[] = []
  const client = await connect(
    http(url, {
      init: await initWithShortTimeouts(),
      reconnect: { minDelay: 20 },
      fetch: (input, init) => {
        const { method } = init?.body ? JSON.parse(String(init.body)) : { method: 'GET' }
        seen.push(method)
        return fetch(input, init)
      },
    }),
    { era, onWarning: (problem) => void warnings.push(problem) },
  )
  closers.push(() => client.close())
  return { client, seen, warnings }
}

const streams = { legacy: 'GET', modern: 'subscriptions/listen' } as const
const opened = (seen: string[], era: keyof typeof streams) => seen.filter((each) => each === streams[era]).length

async function listenTo(client: Client) {
  const listening = client.listen({ toolsListChanged: true })
  await listening.ready
  await delay(50)
  return listening
}

describe.concurrent.each(['legacy', 'modern'] as const)('in the %s era', (era) => {
  it('comments keep an idle stream open [S-124]', async () => {
    const { server, change } = createChangingServer()
    const { client, seen, warnings } = await connectWithTimeouts(server, era, SILENCE / 4)
    const listening = await listenTo(client)
    await delay(3.5 * SILENCE)
    change()
    expect((await listening.next()).value).toEqual({ kind: 'tools' })
    expect(opened(seen, era)).toBe(1)
    expect(warnings).toEqual([])
    listening.close()
  })

  it('a stream without comments is reopened without a warning, and no change is missed', async () => {
    const { server, change } = createChangingServer()
    const { client, seen, warnings } = await connectWithTimeouts(server, era, Number.POSITIVE_INFINITY)
    const listening = await listenTo(client)
    let received = 0
    void (async () => {
      for await (const _ of listening) received += 1
    })()
    while (opened(seen, era) < 2) await delay(20)
    await delay(300)
    const before = received
    change()
    while (received === before) await delay(5)
    expect(warnings).toEqual([])
    listening.close()
  })

  it('comments keep the stream of a silent call open', async () => {
    const { server } = createChangingServer()
    const { client } = await connectWithTimeouts(server, era, SILENCE / 4)
    const call = client.callTool('wait', {}, { onProgress: () => {} })
    expect(await call).toMatchObject({ content: [{ text: 'waited' }] })
  })

  it('a call whose stream times out is resumed in the legacy era and fails in the modern era', async () => {
    const { server } = createChangingServer()
    const { client } = await connectWithTimeouts(server, era, Number.POSITIVE_INFINITY)
    const call = client.callTool('wait', {}, { onProgress: () => {} })
    if (era === 'legacy') expect(await call).toMatchObject({ content: [{ text: 'waited' }] })
    else expect(await catchError(() => call)).toMatchObject({ reason: 'unreachable', retryable: false })
  })
})

it.concurrent('a closed HTTP+SSE stream fails its calls, and the next call reconnects', async () => {
  const { url, close } = await serveHttp(createChangingServer().server, {
    port: 0,
    sse: '/sse',
    keepAlive: Number.POSITIVE_INFINITY,
  })
  closers.push(close)
  const connector = http(url.replace('/mcp', '/sse'), { init: await initWithShortTimeouts() })
  const client = await connect(connector, { era: '2024-11-05' })
  closers.push(() => client.close())
  const call = catchError(() => client.callTool('wait', {}, { onProgress: () => {} }))
  expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
  // The next call opens a new connection.
  expect((await client.listTools().all()).map(({ name }) => name)).toEqual(['wait'])
})
