/** The messages of each stream over HTTP, and resumed streams. */

import { createServer } from '@mcpx/server'
import { createDecoder } from '@mcpx/sse'
import { type McpApp, mcp } from '@mcpx/transport-http'
import { describe, expect, it } from 'vitest'
import { handshake, MODERN, modern } from './connections.fixture.ts'

interface Event {
  readonly id: string | undefined
  readonly message: { readonly id?: number; readonly method?: string; readonly params?: Record<string, unknown> }
}

const named = { type: 'object' as const, properties: { who: { type: 'string' } }, required: ['who'] }

/** A server whose calls report progress and then wait until `next` lets them continue. */
function createRelay() {
  const waiting = new Map<string, () => void>()
  const server = createServer({ name: 'relay', version: '1' }).tool('go', { input: named }, async (args, ctx) => {
    const { who } = args as { who: string }
    for (let progress = 1; progress <= 2; progress++) {
      await ctx.progress(progress, 2, who)
      await new Promise<void>((resolve) => waiting.set(who, resolve))
    }
    return who
  })
  const next = async (who: string) => {
    await expect.poll(() => waiting.has(who)).toBe(true)
    const proceed = waiting.get(who)
    waiting.delete(who)
    proceed?.()
  }
  return { server, next }
}

const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

function post(app: McpApp, message: object, headers: Record<string, string> = {}) {
  return app.request('/', {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    headers: { ...accept, ...headers },
  })
}

/** Collects the events of a stream. */
function read(response: Response) {
  const events: Event[] = []
  const decoder = createDecoder({
    onEvent: ({ id, data }) => events.push({ id, message: data === '' ? {} : JSON.parse(data) }),
  })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const done = (async () => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      decoder.push(value)
    }
  })()
  return { events, done, cancel: () => reader.cancel() }
}

const progressOf = (events: readonly Event[]) =>
  events.flatMap(({ message }) => (message.method === undefined ? [] : [message.params?.message]))

const callOf = (who: string, id: number) => ({
  id,
  method: 'tools/call',
  params: { name: 'go', arguments: { who }, _meta: { progressToken: who } },
})

describe('modern streams', () => {
  it('carry only messages of their request, and end with its response [S-115]', async () => {
    const { server, next } = createRelay()
    const app = mcp(server)
    const start = async (who: string, id: number) => {
      const call = callOf(who, id)
      const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'go' }
      return read(await post(app, { ...call, params: modern(call.params) }, headers))
    }
    const [ann, bob] = [await start('ann', 1), await start('bob', 2)]
    for (const who of ['ann', 'bob', 'bob', 'ann']) await next(who)
    await Promise.all([ann.done, bob.done])
    expect(progressOf(ann.events)).toEqual(['ann', 'ann'])
    expect(progressOf(bob.events)).toEqual(['bob', 'bob'])
    expect([ann, bob].map(({ events }) => events.at(-1)?.message)).toMatchObject([
      { id: 1, result: {} },
      { id: 2, result: {} },
    ])
  })
})

async function openSession(app: McpApp) {
  const response = await post(app, { id: 0, method: 'initialize', params: handshake() })
  const session = { 'mcp-session-id': response.headers.get('mcp-session-id') as string }
  await post(app, { method: 'notifications/initialized' }, session)
  return session
}

describe('streams of a session', () => {
  it('carry each message once: the GET stream has no messages of requests [S-135, S-136]', async () => {
    const { server, next } = createRelay()
    const app = mcp(server)
    const session = await openSession(app)
    const getStream = read(await app.request('/', { headers: { ...accept, ...session } }))
    const [ann, bob] = [
      read(await post(app, callOf('ann', 1), session)),
      read(await post(app, callOf('bob', 2), session)),
    ]
    for (const who of ['ann', 'bob', 'bob', 'ann']) await next(who)
    await Promise.all([ann.done, bob.done])
    server.tool('another', {}, () => 'x')
    await expect.poll(() => getStream.events.some(({ message }) => message.method !== undefined)).toBe(true)
    const methods = getStream.events.flatMap(({ message }) => (Object.keys(message).length > 0 ? [message.method] : []))
    expect(methods).toEqual(['notifications/tools/list_changed'])
    expect([progressOf(ann.events), progressOf(bob.events)]).toEqual([
      ['ann', 'ann'],
      ['bob', 'bob'],
    ])
    await getStream.cancel()
  })

  it('have event ids that are unique in the session, and a GET resumes one stream only [S-138]', async () => {
    const { server, next } = createRelay()
    const app = mcp(server)
    const session = await openSession(app)
    const start = async (who: string, id: number) => read(await post(app, callOf(who, id), session))
    const [ann, bob] = [await start('ann', 1), await start('bob', 2)]
    await expect.poll(() => progressOf(ann.events)).toEqual(['ann'])
    await ann.cancel()
    for (const who of ['ann', 'bob', 'bob', 'ann']) await next(who)
    await bob.done
    const seen = ann.events.at(-1)?.id as string
    const rest = read(await app.request('/', { headers: { ...accept, ...session, 'last-event-id': seen } }))
    await rest.done
    expect(progressOf(rest.events)).toEqual(['ann'])
    expect(rest.events.at(-1)?.message).toMatchObject({ id: 1, result: {} })
    const ids = [...ann.events, ...bob.events, ...rest.events].map(({ id }) => id)
    expect(ids).not.toContain(undefined)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
