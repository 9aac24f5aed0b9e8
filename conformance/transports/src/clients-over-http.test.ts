import { type Client, connect, createEraMemory, proxy } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { catchError } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { describe, expect, it, onTestFinished } from 'vitest'

interface Post {
  readonly id?: number
  readonly method: string
}

type Answer = (post: Post, signal: AbortSignal) => Response | Promise<Response>

/** A fake server that answers POST requests by a function and records the methods. */
function createFakeServer(answer: Answer, get: () => Response = () => new Response(null, { status: 405 })) {
  const methods: string[] = []
  const fetch = async (_: unknown, init: RequestInit = {}) => {
    if (init.method !== 'POST') {
      methods.push(init.method as string)
      return get()
    }
    const post = JSON.parse(String(init.body)) as Post
    methods.push(post.method)
    return answer(post, init.signal as AbortSignal)
  }
  return { methods, connector: http('http://127.0.0.1:9/mcp', { fetch, probeTimeout: 60 }) }
}

const never: Answer = (_, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
const json = (body: object, status = 200) => Response.json({ jsonrpc: '2.0', ...body }, { status })
const hello = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 's', version: '1' } }

/** Rejects the probe and answers the handshake. */
const legacyServer =
  (rejectProbe: (id: number | undefined) => Response): Answer =>
  ({ id, method }) => {
    if (method === 'server/discover') return rejectProbe(id)
    return method === 'initialize' ? json({ id, result: hello }) : new Response(null, { status: 202 })
  }

describe('the era of a server at a URL', () => {
  it.each([
    ['silence', 'timeout', never],
    ['a connection that breaks', 'unreachable', () => Promise.reject(new TypeError('fetch failed'))],
    ...[401, 403, 407, 408, 429, 500, 502, 503, 504].map(
      (status) => [`status ${status}`, 'refused', () => new Response('no', { status })] as const,
    ),
  ] as [string, string, Answer][])('is not decided by %s [C-026]', async (_, reason, answer) => {
    const { methods, connector } = createFakeServer(answer)
    const eraMemory = createEraMemory()
    expect(await catchError(() => connect(connector, { eraMemory }))).toMatchObject({ name: 'ConnectionError', reason })
    expect(methods).toEqual(['server/discover'])
    expect(eraMemory.get('http://127.0.0.1:9/mcp')).toBeUndefined()
  })

  it.each([
    ['an empty 400', () => new Response(null, { status: 400 })],
    ['a page with 404', () => new Response('<html>', { status: 404, headers: { 'content-type': 'text/html' } })],
    ['a legacy error with 400', (id) => json({ id, error: { code: -32000, message: 'No session' } }, 400)],
    ['an error with 200', (id) => json({ id, error: { code: -32601, message: 'Unknown' } })],
  ] as [string, (id: number | undefined) => Response][])('is legacy after %s [C-023]', async (_, rejectProbe) => {
    const { methods, connector } = createFakeServer(legacyServer(rejectProbe))
    await using client = await connect(connector, { eraMemory: createEraMemory() })
    expect(client.revision).toBe('2025-06-18')
    expect(methods.slice(0, 3)).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
  })

  it.each([-32020, -32021])('is modern after the modern error %i with status 400 [C-022, C-023]', async (code) => {
    const { methods, connector } = createFakeServer(({ id }) => json({ id, error: { code, message: 'no' } }, 400))
    expect(await catchError(() => connect(connector, { eraMemory: createEraMemory() }))).toMatchObject({ code })
    expect(methods).toEqual(['server/discover'])
  })

  it.each([400, 404, 405])('is HTTP+SSE where POST requests are rejected with %i [C-025]', async (status) => {
    let events: ReadableStreamDefaultController<Uint8Array> | undefined
    const write = (text: string) => events?.enqueue(new TextEncoder().encode(text))
    const body = () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          events = controller
          write('event: endpoint\ndata: /elsewhere\n\n')
        },
      })
    const urls: string[] = []
    const connector = http('http://127.0.0.1:9/mcp', {
      async fetch(input, init = {}) {
        if (init.method !== 'POST') return new Response(body(), { headers: { 'content-type': 'text/event-stream' } })
        urls.push(String(input))
        if (String(input).endsWith('/mcp')) return new Response(null, { status })
        const { id, method } = JSON.parse(String(init.body)) as Post
        const result = method === 'initialize' ? { ...hello, protocolVersion: '2024-11-05' } : { content: [] }
        if (id !== undefined) write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
        return new Response(null, { status: 202 })
      },
    })
    await using client = await connect(connector, { eraMemory: createEraMemory() })
    expect(client.revision).toBe('2024-11-05')
    expect(await client.callTool('t')).toEqual({ content: [] })
    expect(urls.slice(-1)).toEqual(['http://127.0.0.1:9/elsewhere'])
  })
})

const who = { type: 'object', properties: { who: { type: 'string' } } } as const

/** A server whose tool requests roots after the given number of concurrent calls has started. */
async function serveAsking(concurrent: number) {
  let running = 0
  let go = () => {}
  const all = new Promise<void>((resolve) => {
    go = resolve
  })
  const server = createServer({ name: 'upstream', version: '1' }).tool('ask', { input: who }, async (args, ctx) => {
    const { who } = args as { who: string }
    running += 1
    if (running === concurrent) go()
    await all
    await ctx.log.info(`log of ${who}`)
    const [root] = await ctx.roots()
    return `${who} works in ${root?.name}`
  })
  const { url, close } = await serveHttp(server, { port: 0 })
  onTestFinished(close)
  return url
}

describe('a legacy server at a URL', () => {
  it('sends input requests through a proxy to the client of the call, with concurrent calls', async () => {
    const url = await serveAsking(3)
    const capabilities = { roots: {} }
    await using upstream = await connect(http(url), { era: 'legacy', capabilities, logLevel: 'info' })
    const server = createServer({ name: 'proxy', version: '1' }).mount('up', proxy(upstream))
    const names = ['ada', 'bob', 'cyd']
    const answers = names.map(async (name) => {
      const logs: unknown[] = []
      await using client = await connect(server, {
        era: '2025-11-25',
        roots: [{ uri: 'file:///a', name }],
        logLevel: 'info',
        onLog: ({ data }) => void logs.push(data),
      })
      const { content } = await client.callTool('up.ask', { who: name })
      return [content, logs]
    })
    expect(await Promise.all(answers)).toEqual(
      names.map((name) => [[{ type: 'text', text: `${name} works in ${name}` }], [`log of ${name}`]]),
    )
  })

  it('has its timeout extended by the time of its input requests [C-101]', async () => {
    const url = await serveAsking(2)
    await using client = await connect(http(url), { era: 'legacy', capabilities: { roots: {} } })
    const answer = (ms: number) => async () => {
      await new Promise((resolve) => setTimeout(resolve, ms))
      return { roots: [{ uri: 'file:///a', name: 'there' }] }
    }
    const limits = { timeout: 250, maxTimeout: 250 }
    const slow = client.callTool('ask', { who: 'slow' }, { ...limits, onInputRequest: answer(400) })
    const quick = client.callTool('ask', { who: 'quick' }, { ...limits, onInputRequest: answer(0) })
    expect(await Promise.all([slow, quick])).toMatchObject([
      { content: [{ text: 'slow works in there' }] },
      { content: [{ text: 'quick works in there' }] },
    ])
  })
})

it('a client omits tools with invalid header annotations over HTTP only, also from cached lists [C-086, C-045]', async () => {
  const annotated = { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }
  const tools = [
    { name: 'good', inputSchema: { type: 'object' as const } },
    { name: 'wrong', inputSchema: annotated as unknown as { type: 'object' } },
  ]
  let lists = 0
  const server = createServer(
    { name: 'annotated', version: '1' },
    {
      listTools: () => ({ tools, ttlMs: 60_000, cacheScope: 'private', _meta: { count: ++lists } }),
      callTool: () => ({ content: [] }),
    },
  )
  const { url, close } = await serveHttp(server, { port: 0 })
  onTestFinished(close)
  const namesOf = async (client: Client) => (await client.listTools().all()).map(({ name }) => name)
  await using inMemory = await connect(server)
  await using overHttp = await connect(http(url), { eraMemory: createEraMemory() })
  for (let times = 0; times < 2; times += 1) {
    expect(await namesOf(inMemory as Client)).toEqual(['good', 'wrong'])
    expect(await namesOf(overHttp)).toEqual(['good'])
  }
  expect(lists).toBe(2)
})

describe('a stream that is cut before the response', () => {
  it.each([
    ['tools/list', true],
    ['tools/call', false],
  ] as const)('fails %s with retryable: %s [C-048]', async (method, retryable) => {
    const { methods, connector } = createFakeServer(({ id, method }) => {
      if (method === 'server/discover') {
        return json({
          id,
          result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
        })
      }
      return new Response(new Blob([': cut\n\n']).stream(), { headers: { 'content-type': 'text/event-stream' } })
    })
    await using client = await connect(connector, { eraMemory: createEraMemory() })
    expect(await catchError(() => client.request(method, { name: 't' }))).toMatchObject({
      reason: 'unreachable',
      retryable,
    })
    expect(methods).toEqual(['server/discover', method])
  })
})
