import { connect, createEraMemory } from '@mcpx/client'
import type { Awaitable } from '@mcpx/protocol'
import { createServer } from '@mcpx/server'
import { catchError } from '@mcpx/testing'
import { mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { describe, expect, it, vi } from 'vitest'

interface RpcMessage {
  readonly id?: number
  readonly method?: string
}

/** Responds as servers with releases 1.x of the official SDK do. */
async function respondAsLegacy(request: Request): Promise<Response> {
  if (request.method === 'GET') return new Response(null, { status: 405 })
  if (request.method === 'DELETE') return new Response(null, { status: 200 })
  const { id, method } = (await request.json()) as RpcMessage
  if (method === 'initialize') {
    const serverInfo = { name: 'legacy', version: '1' }
    const capabilities = { tools: { listChanged: true } }
    const result = { protocolVersion: '2025-11-25', capabilities, serverInfo }
    return Response.json({ jsonrpc: '2.0', id, result }, { headers: { 'mcp-session-id': 's-1' } })
  }
  if (request.headers.get('mcp-session-id') === null) {
    const error = { code: -32000, message: 'Bad Request: Server not initialized' }
    return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 400 })
  }
  if (id === undefined) return new Response(null, { status: 202 })
  return Response.json({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'legacy' }] } })
}

/** An endpoint whose modern server can be replaced. */
function createEndpoint() {
  const server = createServer({ name: 'modern', version: '1' })
    .tool('name', {}, () => 'modern')
    .tool('wait', {}, (_args, ctx) => {
      return new Promise<string>((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
      })
    })
  const app = mcp(server, { allowedHosts: ['peer.test'] })
  const respondAsModern = (request: Request): Awaitable<Response> => app.fetch(request)
  let respond = respondAsModern
  const methods: string[] = []
  const connector = http('http://peer.test/mcp', {
    async fetch(input, init) {
      if (typeof init?.body === 'string') methods.push((JSON.parse(init.body) as RpcMessage).method ?? '')
      return respond(new Request(input, init))
    },
  })
  return {
    connector,
    methods,
    respondAsModern,
    /** Ends the streams of the modern server. */
    closeStreams: () => app.close(),
    replaceBy(other: typeof respond) {
      methods.length = 0
      respond = other
    },
  }
}

const textResult = (text: string) => ({ content: [{ type: 'text', text }] })

describe('a modern server that is replaced by a legacy one', () => {
  it('is spoken to in the legacy era from the next call on, and the refused call is repeated', async () => {
    const { connector, methods, replaceBy } = createEndpoint()
    await using client = await connect(connector, { eraMemory: createEraMemory() })
    expect(await client.callTool('name')).toMatchObject(textResult('modern'))
    expect(client.era).toBe('modern')
    replaceBy(respondAsLegacy)
    expect(await client.callTool('name')).toEqual(textResult('legacy'))
    expect(client.era).toBe('legacy')
    expect(methods).toEqual([
      'tools/call',
      'server/discover',
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/call',
    ])
  })

  it('is not spoken to in the legacy era if the client requires the modern one', async () => {
    const { connector, methods, replaceBy } = createEndpoint()
    await using client = await connect(connector, { era: 'modern' })
    replaceBy(respondAsLegacy)
    expect(await catchError(() => client.callTool('name'))).toMatchObject({ reason: 'refused', status: 400 })
    expect(methods).toEqual(['tools/call'])
  })

  it('still announces changes', async () => {
    const { connector, replaceBy, closeStreams } = createEndpoint()
    await using client = await connect(connector, { eraMemory: createEraMemory() })
    const changes = client.listen({ toolsListChanged: true })
    await changes.ready
    replaceBy(respondAsLegacy)
    await closeStreams()
    expect(await changes.next()).toEqual({ done: false, value: { kind: 'tools' } })
    changes.close()
    expect(client.era).toBe('legacy')
  })
})

describe('a modern server that refuses one call', () => {
  it.each([400, 404, 405])('with status %i and no error keeps its other calls and its era', async (status) => {
    const { connector, methods, replaceBy, respondAsModern } = createEndpoint()
    await using client = await connect(connector, { eraMemory: createEraMemory() })
    const controller = new AbortController()
    const waiting = catchError(() => client.callTool('wait', {}, { signal: controller.signal }))
    await vi.waitFor(() => expect(methods).toContain('tools/call'))
    let refusals = 0
    replaceBy((request) => (refusals++ === 0 ? new Response(null, { status }) : respondAsModern(request)))
    expect(await catchError(() => client.callTool('name'))).toMatchObject({ reason: 'refused', status })
    expect(methods).toEqual(['tools/call', 'server/discover'])
    expect(await client.callTool('name')).toMatchObject(textResult('modern'))
    expect(client.era).toBe('modern')
    controller.abort()
    expect(await waiting).toMatchObject({ reason: 'cancelled' })
  })
})
