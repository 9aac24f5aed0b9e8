import { type Client, connect, createEraMemory, proxy } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { caught } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { describe, expect, it, onTestFinished } from 'vitest'

interface Post {
  readonly id?: number
  readonly method: string
}

type Give = (post: Post, signal: AbortSignal) => Response | Promise<Response>

/** A server that is nothing but a function from posts to responses; it keeps what was asked. */
function scripted(give: Give, get: () => Response = () => new Response(null, { status: 405 })) {
  const asked: string[] = []
  const fetch = async (_: unknown, init: RequestInit = {}) => {
    if (init.method !== 'POST') {
      asked.push(init.method as string)
      return get()
    }
    const post = JSON.parse(String(init.body)) as Post
    asked.push(post.method)
    return give(post, init.signal as AbortSignal)
  }
  return { asked, connector: http('http://127.0.0.1:9/mcp', { fetch, probeTimeout: 60 }) }
}

const never: Give = (_, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
const json = (body: object, status = 200) => Response.json({ jsonrpc: '2.0', ...body }, { status })
const hello = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 's', version: '1' } }

/** Refuses the probe in some way, and shakes hands. */
const legacyAfter =
  (refuse: (id: number | undefined) => Response): Give =>
  ({ id, method }) => {
    if (method === 'server/discover') return refuse(id)
    return method === 'initialize' ? json({ id, result: hello }) : new Response(null, { status: 202 })
  }

describe('the era of a server at a URL', () => {
  it.each([
    ['silence', 'timeout', never],
    ['a connection that breaks', 'unreachable', () => Promise.reject(new TypeError('fetch failed'))],
    ...[401, 403, 407, 408, 429, 500, 502, 503, 504].map(
      (status) => [`status ${status}`, 'refused', () => new Response('no', { status })] as const,
    ),
  ] as [string, string, Give][])('is not shown by %s [C-026]', async (_, reason, give) => {
    const { asked, connector } = scripted(give)
    const eraMemory = createEraMemory()
    expect(await caught(() => connect(connector, { eraMemory }))).toMatchObject({ name: 'ConnectionError', reason })
    expect(asked).toEqual(['server/discover'])
    expect(eraMemory.get('http://127.0.0.1:9/mcp')).toBeUndefined()
  })

  it.each([
    ['an empty 400', () => new Response(null, { status: 400 })],
    ['a page with 404', () => new Response('<html>', { status: 404, headers: { 'content-type': 'text/html' } })],
    ['an error of its own with 400', (id) => json({ id, error: { code: -32000, message: 'No session' } }, 400)],
    ['an error with 200', (id) => json({ id, error: { code: -32601, message: 'Unknown' } })],
  ] as [string, (id: number | undefined) => Response][])('is the older one after %s [C-023]', async (_, refuse) => {
    const { asked, connector } = scripted(legacyAfter(refuse))
    await using client = await connect(connector, { eraMemory: createEraMemory() })
    expect(client.revision).toBe('2025-06-18')
    expect(asked.slice(0, 3)).toEqual(['server/discover', 'initialize', 'notifications/initialized'])
  })

  it.each([-32020, -32021])('stays the newer one after its own error %i in a 400 [C-022, C-023]', async (code) => {
    const { asked, connector } = scripted(({ id }) => json({ id, error: { code, message: 'no' } }, 400))
    expect(await caught(() => connect(connector, { eraMemory: createEraMemory() }))).toMatchObject({ code })
    expect(asked).toEqual(['server/discover'])
  })

  it.each([400, 404, 405])(
    'may be the first one, with two endpoints, where posts are refused by %i [C-025]',
    async (status) => {
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
    },
  )
})

const who = { type: 'object', properties: { who: { type: 'string' } } } as const

/** A server whose tool asks, and whose calls wait until so many run at once. */
async function asking(atOnce: number) {
  let running = 0
  let go = () => {}
  const all = new Promise<void>((resolve) => {
    go = resolve
  })
  const server = createServer({ name: 'upstream', version: '1' }).tool('ask', { input: who }, async (args, ctx) => {
    const { who } = args as { who: string }
    running += 1
    if (running === atOnce) go()
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
  it('asks the caller of a proxy whose call asks, with all calls running at once', async () => {
    const url = await asking(3)
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

  it('is waited for no less because its question is thought about [C-101]', async () => {
    const url = await asking(2)
    await using client = await connect(http(url), { era: 'legacy', capabilities: { roots: {} } })
    const answer = (ms: number) => async () => {
      await new Promise((resolve) => setTimeout(resolve, ms))
      return { roots: [{ uri: 'file:///a', name: 'there' }] }
    }
    const limits = { timeout: 250, maxTimeout: 250 }
    const slow = client.callTool('ask', { who: 'slow' }, { ...limits, onAsk: answer(400) })
    const quick = client.callTool('ask', { who: 'quick' }, { ...limits, onAsk: answer(0) })
    expect(await Promise.all([slow, quick])).toMatchObject([
      { content: [{ text: 'slow works in there' }] },
      { content: [{ text: 'quick works in there' }] },
    ])
  })
})

it('leaves tools out over HTTP alone whose header annotations are wrong, also of a list that is kept [C-086, C-045]', async () => {
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
  await using here = await connect(server)
  await using there = await connect(http(url), { eraMemory: createEraMemory() })
  for (let times = 0; times < 2; times += 1) {
    expect(await namesOf(here as Client)).toEqual(['good', 'wrong'])
    expect(await namesOf(there)).toEqual(['good'])
  }
  expect(lists).toBe(2)
})

describe('a stream that is cut before the answer', () => {
  it.each([
    ['tools/list', true],
    ['tools/call', false],
  ] as const)('loses %s, and says whether it can be asked again: %s [C-048]', async (method, retryable) => {
    const { asked, connector } = scripted(({ id, method }) => {
      if (method === 'server/discover') {
        return json({
          id,
          result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
        })
      }
      return new Response(new Blob([': cut\n\n']).stream(), { headers: { 'content-type': 'text/event-stream' } })
    })
    await using client = await connect(connector, { eraMemory: createEraMemory() })
    expect(await caught(() => client.request(method, { name: 't' }))).toMatchObject({
      reason: 'unreachable',
      retryable,
    })
    expect(asked).toEqual(['server/discover', method])
  })
})
