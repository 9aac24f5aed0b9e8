/** Isolation of two sessions of one server over HTTP. */

import { REVISIONS } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { createDecoder } from '@mcpx/sse'
import { describe, expect, it, onTestFinished } from 'vitest'
import { handshake, LEGACY, serve } from './connections.fixture.ts'

const legacy = REVISIONS.filter((revision) => revision <= LEGACY)

type Headers = Record<string, string>

interface Received {
  readonly id?: string | number
  readonly method?: string
  readonly result?: unknown
}

/** A server whose tool returns the client's roots; the `authorization` header names the user. */
async function start(): Promise<string> {
  const server = createServer({ name: 'shared', version: '1' }).tool('folders', {}, async (_args, ctx) =>
    JSON.stringify(await ctx.roots()),
  )
  const { url } = await serve(server, {
    sse: '/sse',
    authenticate: ({ headers }) => ({ subject: headers.get('authorization') ?? 'nobody', scopes: [] }),
  })
  return url
}

function post(url: string, message: object, headers: Headers): Promise<Response> {
  const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const body = JSON.stringify({ jsonrpc: '2.0', ...message })
  return fetch(url, { method: 'POST', body, headers: { ...accept, ...headers } })
}

const initialize = (revision: string) => ({
  id: 0,
  method: 'initialize',
  params: { ...handshake(), protocolVersion: revision, capabilities: { roots: {} } },
})
const initialized = { method: 'notifications/initialized' }
const folders = { id: 1, method: 'tools/call', params: { name: 'folders', arguments: {} } }
const rootsOf = (name: string) => ({ roots: [{ uri: `file:///${name}`, name }] })

async function openSession(url: string, revision: string, authorization = 'ann'): Promise<Headers> {
  const response = await post(url, initialize(revision), { authorization })
  await response.text()
  const session = { authorization, 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' }
  await post(url, initialized, session)
  return session
}

/** Collects the messages and event ids of a stream. */
function read(response: Response) {
  const messages: Received[] = []
  const ids: string[] = []
  const all: string[] = []
  const decoder = createDecoder({
    onEvent({ id, data, event }) {
      if (id !== undefined) ids.push(id)
      all.push(data)
      if (data !== '' && event !== 'endpoint') messages.push(JSON.parse(data))
    },
  })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  onTestFinished(() => reader.cancel().catch(() => {}))
  const pump = async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) decoder.push(part.value)
  }
  pump().catch(() => {})
  const find = async (holds: (each: Received) => boolean) => {
    await expect.poll(() => messages.some(holds)).toBe(true)
    return messages.find(holds) as Received
  }
  return {
    messages,
    ids,
    all,
    rootsRequest: () => find(({ method }) => method === 'roots/list'),
    answer: () => find((each) => each.id === 1),
  }
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 60))

describe.each(legacy)('two legacy sessions of one server in %s', (revision) => {
  it('ignore responses to input requests of the other session', async () => {
    const url = await start()
    const [one, other] = [await openSession(url, revision), await openSession(url, revision)]
    const call = read(await post(url, folders, one))
    const { id } = await call.rootsRequest()
    await post(url, { id, result: rootsOf('other') }, other)
    await settle()
    expect(call.messages.filter((each) => each.id === 1)).toEqual([])
    expect((await post(url, { id, result: rootsOf('one') }, one)).status).toBe(202)
    expect(JSON.stringify(await call.answer())).toContain('file:///one')
  })

  it('reject a Last-Event-ID of the other session', async () => {
    const url = await start()
    const owner = await openSession(url, LEGACY)
    const call = read(await post(url, folders, owner))
    await call.rootsRequest()
    const reader = await openSession(url, revision)
    const resume = (session: Headers, id: string) =>
      fetch(url, { headers: { accept: 'text/event-stream', ...session, 'last-event-id': id } })
    const [first = ''] = call.ids
    const refused = await resume(reader, first)
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { code: -32600 } })
    // The id is valid: the session of the id receives the remaining events.
    const rest = await resume(owner, first)
    expect(rest.status).toBe(200)
    await read(rest).rootsRequest()
  })

  it('belong to their principal: another principal gets 404, and the owner can continue', async () => {
    const url = await start()
    const ann = await openSession(url, revision)
    const bob = { ...ann, authorization: 'bob' }
    const call = read(await post(url, folders, ann))
    const { id } = await call.rootsRequest()
    const answers = await Promise.all([
      post(url, { id: 2, method: 'tools/list' }, bob),
      post(url, { id, result: rootsOf('bob') }, bob),
      post(url, { method: 'notifications/cancelled', params: { requestId: 1 } }, bob),
      fetch(url, { headers: { accept: 'text/event-stream', ...bob } }),
      fetch(url, { headers: { accept: 'text/event-stream', ...bob, 'last-event-id': call.ids[0] ?? 'x.1' } }),
      fetch(url, { method: 'DELETE', headers: bob }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404])
    await post(url, { id, result: rootsOf('ann') }, ann)
    expect(JSON.stringify(await call.answer())).toContain('file:///ann')
  })
})

describe('two HTTP+SSE connections to one server', () => {
  async function open(url: string, authorization: string) {
    const headers = { authorization, accept: 'text/event-stream' }
    const stream = read(await fetch(url.replace('/mcp', '/sse'), { headers }))
    await expect.poll(() => stream.all.length).toBe(1)
    const send = (message: object, who = authorization) =>
      post(new URL(stream.all[0] ?? '', url).href, message, { authorization: who })
    await send(initialize('2024-11-05'))
    await send(initialized)
    return { ...stream, send }
  }

  it('ignore responses of the other connection, and return 404 to another principal', async () => {
    const url = await start()
    const [one, other] = [await open(url, 'ann'), await open(url, 'ann')]
    await one.send(folders)
    const { id } = await one.rootsRequest()
    await other.send({ id, result: rootsOf('other') })
    expect((await one.send({ id, result: rootsOf('bob') }, 'bob')).status).toBe(404)
    await settle()
    expect(one.messages.filter((each) => each.id === 1)).toEqual([])
    await one.send({ id, result: rootsOf('one') })
    expect(JSON.stringify(await one.answer())).toContain('file:///one')
  })
})
