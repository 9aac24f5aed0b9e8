import { connect } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { createDecoder, type SseEvent } from '@mcpx/sse'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { expect, it, onTestFinished } from 'vitest'

const LEGACY = '2025-11-25'

/** Reads all events of a response until it ends. */
async function eventsOf(response: Response): Promise<SseEvent[]> {
  const events: SseEvent[] = []
  const decoder = createDecoder({ onEvent: (event) => events.push(event) })
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) decoder.push(chunk)
  return events
}

/** A server whose tool closes its stream and returns after `finish`. */
async function serve(retry: number) {
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const server = createServer({ name: 'slow', version: '1' }).tool('slow', {}, async (_args, ctx) => {
    await ctx.progress(1)
    ctx.closeStream()
    await finished
    await ctx.progress(2)
    return 'done'
  })
  const { url, close } = await serveHttp(server, { port: 0, sessions: { retry } })
  onTestFinished(close)
  return { url, finish }
}

const post = (url: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
  })

async function openSession(url: string, protocolVersion: string): Promise<Record<string, string>> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
  const opened = await post(url, { id: 0, method: 'initialize', params })
  await opened.text()
  const headers = {
    'mcp-session-id': opened.headers.get('mcp-session-id') as string,
    'mcp-protocol-version': protocolVersion,
  }
  await post(url, { method: 'notifications/initialized' }, headers)
  return headers
}

const call = { id: 7, method: 'tools/call', params: { name: 'slow', _meta: { progressToken: 'p' } } }

it('a server closes the stream of a running call, and a GET returns the rest [S-138, S-139]', async () => {
  const { url, finish } = await serve(250)
  const headers = await openSession(url, LEGACY)
  const response = await post(url, call, headers)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  // The response ends although the call is running.
  const text = await response.text()
  const [prime, progress, ...more] = text.trimEnd().split('\n\n')
  expect(prime).toMatch(/^retry: 250$/m)
  expect(prime).toMatch(/^id: .+$/m)
  expect(prime).toMatch(/^data:\s*$/m)
  expect(progress).toContain('"progress":1')
  expect(more).toEqual([])

  const id = /^id: (.+)$/m.exec(progress as string)?.[1] as string
  const resumed = fetch(url, { headers: { ...headers, accept: 'text/event-stream', 'last-event-id': id } })
  finish()
  const events = (await eventsOf(await resumed)).map(({ data }) => JSON.parse(data))
  expect(events).toMatchObject([
    { method: 'notifications/progress', params: { progress: 2 } },
    { id: 7, result: { content: [{ text: 'done' }] } },
  ])
})

it('a client reconnects for the rest by itself [C-064]', async () => {
  const { url, finish } = await serve(5)
  const progress: number[] = []
  const client = await connect(http(url), { era: 'legacy' })
  const result = client.callTool('slow', {}, { onProgress: (event) => void progress.push(event.progress) })
  setTimeout(finish, 60)
  expect(await result).toMatchObject({ content: [{ text: 'done' }] })
  expect(progress).toEqual([1, 2])
  await client.close()
})

it('a server replays the events that were sent while the client was disconnected [S-138]', async () => {
  const { url, finish } = await serve(1)
  const headers = await openSession(url, LEGACY)
  const [prime] = await eventsOf(await post(url, call, headers))
  finish()
  await new Promise((resolve) => setTimeout(resolve, 20))
  const again = await fetch(url, {
    headers: { ...headers, accept: 'text/event-stream', 'last-event-id': prime?.id as string },
  })
  expect((await eventsOf(again)).map(({ data }) => JSON.parse(data))).toMatchObject([
    { params: { progress: 1 } },
    { params: { progress: 2 } },
    { id: 7 },
  ])
})

it.each(['2025-06-18', '2025-03-26'])(
  'a server does not close the stream of a client of %s, which does not reconnect [S-139]',
  async (revision) => {
    const { url, finish } = await serve(1)
    const headers = await openSession(url, revision)
    const response = post(url, call, headers)
    setTimeout(finish, 20)
    expect((await eventsOf(await response)).at(-1)?.data).toContain('"done"')
  },
)
