import { connect } from '@mcpx/client'
import { createMemorySessionStore } from '@mcpx/protocol/memory'
import { createServer } from '@mcpx/server'
import { catchError } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { serveHttp } from '@mcpx/transport-http/node'
import { describe, expect, it, onTestFinished } from 'vitest'

/**
 * A server that can forget all sessions and counts calls and handshakes.
 * @param options `words`: reports lost sessions by status 400 and this message instead of 404.
 */
async function serveForgetful({ words }: { words?: string } = {}) {
  const counts = { calls: 0, handshakes: 0 }
  let store = createMemorySessionStore()
  const startListeners: (() => void)[] = []
  const server = createServer({ name: 'forgetful', version: '1' })
    .tool('count', {}, () => `call ${++counts.calls}`)
    .tool('log', {}, async (_args, ctx) => {
      await ctx.log.info('x')
      return 'x'
    })
    .tool('wait', {}, () => {
      counts.calls += 1
      startListeners.shift()?.()
      return new Promise<string>(() => {})
    })
  const sessions = {
    store: new Proxy({} as typeof store, { get: (_, name: keyof typeof store) => store[name].bind(store) }),
  }
  const { url, close } = await serveHttp(server, { port: 0, sessions })
  onTestFinished(close)
  const posts: string[] = []
  const connector = http(url, {
    async fetch(input, init) {
      if (init?.method === 'POST') posts.push((JSON.parse(String(init.body)) as { method: string }).method)
      const response = await fetch(input, init)
      if (words === undefined || response.status !== 404) return response
      return Response.json({ jsonrpc: '2.0', error: { code: -32000, message: words }, id: null }, { status: 400 })
    },
  })
  return {
    connector,
    counts,
    posts,
    forget() {
      store = createMemorySessionStore()
    },
    /** Resolves when the next `wait` call has started. */
    nextCallStarted: () => new Promise<void>((resolve) => void startListeners.push(resolve)),
  }
}

const textResult = (text: string) => ({ content: [{ type: 'text', text }] })

describe('a session that the server has forgotten', () => {
  it('is opened again, and the rejected request is repeated [C-062]', async () => {
    const { connector, posts, forget, counts } = await serveForgetful()
    await using client = await connect(connector, { era: 'legacy' })
    expect(await client.callTool('count')).toEqual(textResult('call 1'))
    forget()
    posts.length = 0
    expect(await client.callTool('count')).toEqual(textResult('call 2'))
    expect(posts).toEqual(['tools/call', 'initialize', 'notifications/initialized', 'tools/call'])
    expect(counts.calls).toBe(2)
    forget()
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(['count', 'log', 'wait'])
  })

  it.each([
    'Bad Request: No valid session ID provided',
    'Bad Request: Server not initialized',
    'Bad Request: Mcp-Session-Id header is required',
  ])('is opened again when the server says "%s", with a warning', async (words) => {
    const { connector, posts, forget } = await serveForgetful({ words })
    const warnings: Error[] = []
    await using client = await connect(connector, {
      era: 'legacy',
      onWarning: (warning) => void warnings.push(warning),
    })
    forget()
    posts.length = 0
    expect(await client.callTool('count')).toEqual(textResult('call 1'))
    expect(posts).toEqual(['tools/call', 'initialize', 'notifications/initialized', 'tools/call'])
    const phrase = words.replace('Bad Request: ', '')
    expect(warnings.map(({ message }) => message)).toEqual([
      `The server no longer knows the session ("${phrase}"): expected HTTP status 404, got 400`,
    ])
  })

  it.each(['ping', 'notifyRootsChanged', 'setLogLevel'] as const)('is opened again for %s too', async (method) => {
    const { connector, posts, forget } = await serveForgetful()
    await using client = await connect(connector, { era: 'legacy', roots: [] })
    forget()
    posts.length = 0
    await (method === 'setLogLevel' ? client.setLogLevel('info') : client[method]())
    expect(posts.slice(1, 3)).toEqual(['initialize', 'notifications/initialized'])
    expect(posts[3]).toBe(posts[0])
  })

  it('fails its pending calls without repeating them [C-048]', async () => {
    const { connector, forget, nextCallStarted, counts } = await serveForgetful()
    await using client = await connect(connector, { era: 'legacy' })
    const startListeners = nextCallStarted()
    const waiting = catchError(() => client.callTool('wait'))
    await startListeners
    forget()
    expect(await client.callTool('count')).toEqual(textResult('call 2'))
    expect(await waiting).toMatchObject({ name: 'ConnectionError', reason: 'closed', retryable: false, status: 404 })
    expect(counts.calls).toBe(2)
  })

  it('is opened again once for concurrent calls', async () => {
    const { connector, posts, forget } = await serveForgetful()
    await using client = await connect(connector, { era: 'legacy' })
    forget()
    posts.length = 0
    const calls = Array.from({ length: 10 }, () => client.callTool('count'))
    expect(new Set((await Promise.all(calls)).map(({ content }) => JSON.stringify(content))).size).toBe(10)
    expect(posts.filter((method) => method === 'initialize')).toHaveLength(1)
  })
})
