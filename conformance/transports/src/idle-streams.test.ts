/** Streams on which nothing is said for long: what gives up silent streams is kept from it, or is done without a word. */

import { type Client, connect } from '@mcpx/client'
import { createServer, type Server } from '@mcpx/server'
import { caught, delay } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { impatient, SILENCE } from './impatient.fixture.ts'

vi.setConfig({ testTimeout: 20_000 })

/** The tests run at once: what they open is closed when all are over. */
const closers: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

function changing() {
  const server = createServer({ name: 'idle', version: '1' }).tool('wait', {}, async (_args, ctx) => {
    await ctx.progress(1)
    await delay(3 * SILENCE)
    return 'waited'
  }) as unknown as Server
  let count = 0
  return { server, change: () => void server.tool(`t-${++count}`, {}, () => 'x') }
}

async function reach(server: Server, era: 'legacy' | 'modern', keepAlive: number) {
  const { url, close } = await serveHttp(server, { port: 0, keepAlive, sessions: { retry: 20 } })
  closers.push(close)
  const seen: string[] = []
  const reports: Error[] = []
  const client = await connect(
    http(url, {
      init: await impatient(),
      reconnect: { minDelay: 20 },
      fetch: (input, init) => {
        const { method } = init?.body ? JSON.parse(String(init.body)) : { method: 'GET' }
        seen.push(method)
        return fetch(input, init)
      },
    }),
    { era, onWarning: (problem) => void reports.push(problem) },
  )
  closers.push(() => client.close())
  return { client, seen, reports }
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
    const { server, change } = changing()
    const { client, seen, reports } = await reach(server, era, SILENCE / 4)
    const listening = await listenTo(client)
    await delay(3.5 * SILENCE)
    change()
    expect((await listening.next()).value).toEqual({ kind: 'tools' })
    expect(opened(seen, era)).toBe(1)
    expect(reports).toEqual([])
    listening.close()
  })

  it('a stream without comments is opened again without a word, and nothing is missed', async () => {
    const { server, change } = changing()
    const { client, seen, reports } = await reach(server, era, Number.POSITIVE_INFINITY)
    const listening = await listenTo(client)
    let heard = 0
    void (async () => {
      for await (const _ of listening) heard += 1
    })()
    while (opened(seen, era) < 2) await delay(20)
    await delay(300)
    const before = heard
    change()
    while (heard === before) await delay(5)
    expect(reports).toEqual([])
    listening.close()
  })

  it('comments keep the stream of a call alive that has nothing to say for long', async () => {
    const { server } = changing()
    const { client } = await reach(server, era, SILENCE / 4)
    const call = client.callTool('wait', {}, { onProgress: () => {} })
    expect(await call).toMatchObject({ content: [{ text: 'waited' }] })
  })

  it('a call whose stream is given up goes on where it can, and else says whether to repeat it', async () => {
    const { server } = changing()
    const { client } = await reach(server, era, Number.POSITIVE_INFINITY)
    const call = client.callTool('wait', {}, { onProgress: () => {} })
    if (era === 'legacy') expect(await call).toMatchObject({ content: [{ text: 'waited' }] })
    else expect(await caught(() => call)).toMatchObject({ reason: 'unreachable', retryable: false })
  })
})

it.concurrent('the one stream of the oldest transport shows when it is gone', async () => {
  const { url, close } = await serveHttp(changing().server, {
    port: 0,
    sse: '/sse',
    keepAlive: Number.POSITIVE_INFINITY,
  })
  closers.push(close)
  const connector = http(url.replace('/mcp', '/sse'), { init: await impatient() })
  const client = await connect(connector, { era: '2024-11-05' })
  closers.push(() => client.close())
  const call = caught(() => client.callTool('wait', {}, { onProgress: () => {} }))
  expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
  // The next call makes a new connection.
  expect((await client.listTools().all()).map(({ name }) => name)).toEqual(['wait'])
})
