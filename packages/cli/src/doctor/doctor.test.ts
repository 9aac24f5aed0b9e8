import { createServer as createHttpServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from '@mcpx/client'
import { createServer as createMcpServer } from '@mcpx/server'
import { mcp } from '@mcpx/transport-http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { mcpx } from '../cli.fixture.ts'
import { checkEndpoint } from './endpoint.ts'
import { Diagnosis, FINDINGS, type FindingId } from './findings.ts'
import { hintsOf, recognize } from './hints.ts'
import { Prober } from './probe.ts'
import { checkTools } from './tools.ts'

const URL_ = new URL('https://shop.example.com/mcp')
const never = new AbortController().signal

type Handler = (request: Request, message: Message | undefined) => Response | undefined | Promise<Response>
interface Message {
  readonly id?: number
  readonly method?: string
}

const json = (value: unknown, init: ResponseInit = {}) =>
  new Response(JSON.stringify(value), { ...init, headers: { 'content-type': 'application/json', ...init.headers } })
const info = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'shop', version: '1' } }
const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'Authorization, Content-Type, MCP-Protocol-Version, Mcp-Session-Id',
}

/** A legacy server with sessions that does everything right. */
const healthy: Handler = (request, message) => {
  const session = request.headers.get('mcp-session-id')
  if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: cors })
  if (message?.method === 'initialize') {
    return json({ jsonrpc: '2.0', id: message.id, result: info }, { headers: { 'mcp-session-id': 'a-1' } })
  }
  if (message?.method === 'server/discover') {
    return json({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no' } }, { status: 404 })
  }
  if (session !== 'a-1') return new Response('', { status: 404 })
  if (request.headers.get('mcp-protocol-version') === '1999-01-01') return new Response('', { status: 400 })
  if (request.method === 'GET') return new Response('', { status: 405 })
  if (request.method === 'DELETE') return new Response(null, { status: 204 })
  return message?.id === undefined
    ? new Response(null, { status: 202 })
    : json({ jsonrpc: '2.0', id: message.id, result: {} })
}

/** Returns the ids of the findings at a server that is healthy but for what `fault` answers. */
async function diagnose(fault: Handler, url = URL_): Promise<FindingId[]> {
  const send = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    const text = await request.text()
    const message = text === '' ? undefined : (JSON.parse(text) as Message)
    return (await fault(request, message)) ?? ((await healthy(request, message)) as Response)
  }
  const diagnosis = new Diagnosis()
  await checkEndpoint(url, new Prober({}, never, 2_000, send as typeof fetch), diagnosis)
  return diagnosis.findings.map(({ id }) => id)
}

const failure = (code: string) => () =>
  Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) }))
const on =
  (method: string, response: () => Response): Handler =>
  (_, message) =>
    message?.method === method ? response() : undefined
const handshake = (result: unknown, headers: Record<string, string> = {}) =>
  on('initialize', () => json({ jsonrpc: '2.0', id: 1, result }, { headers: { 'mcp-session-id': 'a-1', ...headers } }))
const stream = (text: string, headers: Record<string, string> = {}) =>
  on(
    'initialize',
    () => new Response(text, { headers: { 'content-type': 'text/event-stream', 'mcp-session-id': 'a-1', ...headers } }),
  )
const event = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: info })}\n\n`

// A server that needs a login.
const issuer = 'https://login.example.com'
const resource = { resource: URL_.href, authorization_servers: [issuer] }
const server = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  registration_endpoint: `${issuer}/register`,
  code_challenge_methods_supported: ['S256'],
}
const challenge = 'Bearer resource_metadata="https://shop.example.com/.well-known/oauth-protected-resource/mcp"'
/** A server that needs a login; undefined metadata is not found. */
const guarded =
  (prm: unknown = resource, metadata: unknown = server, header: string | undefined = challenge): Handler =>
  (request) => {
    const { pathname } = new URL(request.url)
    const found = pathname.startsWith('/.well-known/oauth-protected-resource')
      ? prm
      : pathname === '/.well-known/oauth-authorization-server'
        ? metadata
        : undefined
    if (pathname.includes('.well-known')) return found === undefined ? new Response('', { status: 404 }) : json(found)
    if (request.method === 'OPTIONS') return undefined
    return new Response('', { status: 401, ...(header && { headers: { 'www-authenticate': header } }) })
  }

describe('the doctor finds', () => {
  it.each<[FindingId, Handler]>([
    ['no-address', failure('ENOTFOUND')],
    ['no-connection', failure('ECONNREFUSED')],
    ['connection-lost', failure('ECONNRESET')],
    ['no-response', failure('UND_ERR_HEADERS_TIMEOUT')],
    ['certificate-expired', failure('CERT_HAS_EXPIRED')],
    ['certificate-name', failure('ERR_TLS_CERT_ALTNAME_INVALID')],
    ['certificate-untrusted', failure('DEPTH_ZERO_SELF_SIGNED_CERT')],
    ['tls-on-http', failure('EPROTO')],
    ['redirect', on('initialize', () => new Response('', { status: 301, headers: { location: '/mcp/' } }))],
    ['not-found', on('initialize', () => new Response('', { status: 404 }))],
    ['post-refused', on('initialize', () => new Response('', { status: 405 }))],
    ['accept-refused', on('initialize', () => new Response('', { status: 406 }))],
    ['content-type-refused', on('initialize', () => new Response('', { status: 415 }))],
    ['handshake-refused', on('initialize', () => new Response('no', { status: 400 }))],
    [
      'handshake-refused',
      on('initialize', () => json({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: '' } })),
    ],
    ['forbidden', on('initialize', () => new Response('', { status: 403 }))],
    ['server-failed', on('initialize', () => new Response('', { status: 502 }))],
    ['rate-limited', on('initialize', () => new Response('', { status: 429 }))],
    ['content-type', on('initialize', () => new Response('<html>', { headers: { 'content-type': 'text/html' } }))],
    ['invalid-json', on('initialize', () => new Response('{', { headers: { 'content-type': 'application/json' } }))],
    ['not-json-rpc', on('initialize', () => json({ result: info }))],
    ['not-json-rpc', on('initialize', () => json([]))],
    ['invalid-handshake', handshake({ protocolVersion: '2025-11-25' })],
    ['unknown-revision', handshake({ ...info, protocolVersion: '2023-01-01' })],
    ['empty-stream', stream(': ping\n\n')],
    ['compressed-stream', stream(event, { 'content-encoding': 'identity-like' })],
    ['buffered-stream', stream(event, { server: 'nginx' })],
    [
      'held-stream',
      (request) =>
        request.method === 'GET'
          ? Promise.reject(new DOMException('The request timed out', 'TimeoutError'))
          : undefined,
    ],
    ['notification-status', on('notifications/initialized', () => json({}))],
    ['get-status', (request) => (request.method === 'GET' ? new Response('<html>') : undefined)],
    ['session-id', handshake(info, { 'mcp-session-id': 'a b' })],
    [
      'lost-session',
      (request, message) =>
        message?.method === 'ping' && request.headers.get('mcp-session-id') !== 'a-1'
          ? new Response('', { status: 400 })
          : undefined,
    ],
    ['delete-status', (request) => (request.method === 'DELETE' ? new Response('', { status: 500 }) : undefined)],
    [
      'version-unchecked',
      (request, message) =>
        request.headers.get('mcp-protocol-version') === '1999-01-01'
          ? json({ jsonrpc: '2.0', id: message?.id, result: {} })
          : undefined,
    ],
    ['discover-failed', on('server/discover', () => new Response('oops', { status: 500 }))],
    ['no-preflight', (request) => (request.method === 'OPTIONS' ? new Response('', { status: 405 }) : undefined)],
    [
      'cors-headers',
      (request) =>
        request.method === 'OPTIONS'
          ? new Response(null, { status: 204, headers: { ...cors, 'access-control-allow-headers': '*' } })
          : undefined,
    ],
    ['no-challenge', guarded(resource, server, 'Basic realm="x"')],
    ['no-resource-metadata', guarded(null)],
    ['resource-mismatch', guarded({ ...resource, resource: 'https://other.example.com/mcp' })],
    ['no-authorization-server', guarded({ resource: URL_.href })],
    ['no-server-metadata', guarded(resource, null)],
    ['issuer-mismatch', guarded(resource, { ...server, issuer: `${issuer}/` })],
    ['missing-endpoints', guarded(resource, { ...server, token_endpoint: undefined })],
    ['no-pkce', guarded(resource, { ...server, code_challenge_methods_supported: ['plain'] })],
    ['no-registration', guarded(resource, { ...server, registration_endpoint: undefined })],
    ['scope-resource', guarded({ ...resource, scopes_supported: ['api://1234/read'] })],
  ])('%s, and nothing else', async (id, fault) => {
    expect(await diagnose(fault)).toEqual([id])
  })

  it('a slow handshake', async () => {
    vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValueOnce(6_000)
    onTestFinished(() => void vi.restoreAllMocks())
    expect(await diagnose(healthy)).toEqual(['slow'])
  })

  it('plain HTTP', async () => {
    expect(await diagnose(healthy, new URL('http://shop.example.com/mcp'))).toEqual(['plain-http'])
  })

  it('a foreign origin that a server on this machine accepts', async () => {
    expect(await diagnose(healthy, new URL('http://127.0.0.1:1/mcp'))).toEqual(['origin-unchecked'])
  })

  const tool = { description: 'A tool', inputSchema: { type: 'object' as const } }
  it.each<[FindingId, object[]]>([
    ['no-tools', []],
    [
      'tool-twice',
      [
        { name: 'a', ...tool },
        { name: 'a', ...tool },
      ],
    ],
    ['tool-name', [{ name: 'a.b', ...tool }]],
    ['no-description', [{ name: 'a', inputSchema: { type: 'object' } }]],
    ['tool-schema', [{ name: 'a', description: 'x', inputSchema: { type: 'array' } }]],
    [
      'model-schema',
      [
        {
          name: 'a',
          description: 'x',
          inputSchema: { type: 'object', properties: { b: { not: { type: 'string' } } } },
        },
      ],
    ],
    ['many-tools', Array.from({ length: 41 }, (_, n) => ({ name: `tool-${n}`, ...tool }))],
    ['large-list', [{ name: 'a', ...tool, description: 'x'.repeat(100_001) }]],
  ])('%s in the list of tools', async (id, tools) => {
    const handler = createMcpServer(
      { name: 'x', version: '1' },
      { listTools: () => ({ tools: tools as never }), callTool: () => ({ content: [] }) },
    )
    const client = await connect(handler)
    const diagnosis = new Diagnosis()
    await checkTools(client, diagnosis)
    await client.close()
    expect(diagnosis.findings.map((finding) => finding.id)).toEqual([id])
  })

  it('a list that fails, and a server without tools', async () => {
    for (const [id, options] of [
      [
        'lists-failed',
        { listTools: () => Promise.reject(new Error('no')), callTool: () => ({ content: [] }), onError() {} },
      ],
      ['no-tools', {}],
    ] as const) {
      const client = await connect(createMcpServer({ name: 'x', version: '1' }, options))
      const diagnosis = new Diagnosis()
      await checkTools(client, diagnosis)
      await client.close()
      expect(diagnosis.findings.map((finding) => finding.id)).toEqual([id])
    }
  })
})

it('has more than 40 findings, each with a reason, a remedy and a link', () => {
  expect(Object.keys(FINDINGS).length).toBeGreaterThan(40)
  for (const { why, fix, link } of Object.values(FINDINGS)) {
    expect(why).toMatch(/\.$/)
    expect(fix).toMatch(/\.$/)
    expect(URL.canParse(link)).toBe(true)
  }
})

it('has a hint for each finding about servers', () => {
  const url = new URL('https://shop.example.com/mcp')
  for (const [id, explanation] of Object.entries(FINDINGS)) {
    if (id.startsWith('config-')) continue
    const finding = { id: id as FindingId, seen: '', ...explanation }
    const hints = hintsOf(finding, url, [])
    expect([id, hints.length]).not.toEqual([id, 0])
    for (const { text } of hints) expect([id, text]).toEqual([id, text.trim()])
  }
})

it.each<[string, Record<string, string>, FindingId, string]>([
  ['nginx', { server: 'nginx/1.27' }, 'held-stream', 'location /mcp {'],
  ['nginx', { server: 'nginx/1.27' }, 'held-stream', 'proxy_buffering off;'],
  ['Apache', { server: 'Apache/2.4' }, 'held-stream', 'flushpackets=on'],
  ['Caddy', { via: '1.1 Caddy' }, 'compressed-stream', 'flush_interval -1'],
  ['Cloudflare', { 'cf-ray': '1' }, 'buffered-stream', 'no-transform'],
  ['Express', { 'x-powered-by': 'Express' }, 'no-preflight', "import cors from 'cors'"],
  ['Python', { server: 'uvicorn' }, 'cors-headers', 'CORSMiddleware'],
])('gives the hint for %s', (name, headers, id, text) => {
  const found = hintsOf(
    { id, seen: '', ...FINDINGS[id] },
    new URL('https://shop.example.com/mcp'),
    recognize(new Headers(headers)),
  )
  expect(found.map((hint) => hint.for)).toEqual([name])
  expect(found[0]?.text).toContain(text)
})

it('gives hints for Hono and others if nothing was recognized', () => {
  const found = hintsOf(
    { id: 'no-preflight', seen: '', ...FINDINGS['no-preflight'] },
    undefined,
    recognize(new Headers({ server: 'x' })),
  )
  expect(found.map((hint) => hint.for)).toEqual(['@mcpx', 'Hono', 'Express', 'Python'])
})

describe('behind a proxy that buffers', () => {
  /** Serves `handle`, and returns the URL of a proxy that passes responses on when they are complete. */
  async function behindProxy(handle: Parameters<typeof createHttpServer>[1]): Promise<string> {
    const urlOf = async (server: Server) => {
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => {
        server.closeAllConnections()
        server.close()
      })
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
    }
    const target = await urlOf(createHttpServer(handle))
    const proxy = createHttpServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { host: _, connection: _c, 'content-length': _l, ...headers } = request.headers
      const init = { method: request.method ?? 'GET', headers: headers as Record<string, string> }
      try {
        const answer = await fetch(target, { ...init, ...(chunks.length > 0 && { body: Buffer.concat(chunks) }) })
        const text = await answer.text()
        response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), server: 'nginx' }).end(text)
      } catch {
        // The stream ends with the test.
        response.destroy()
      }
    })
    return urlOf(proxy)
  }

  it.each([
    ['both eras', {}, /^GET .+: no response within 5 s$/],
    ['the modern era alone', { legacy: false }, /^POST subscriptions\/listen: no event within 5 s$/],
  ])('finds a stream that is held back, and nothing else, at a server of %s', async (_, options, seen) => {
    const { toNodeHandler } = await import('@mcpx/transport-http/node')
    const server = createMcpServer({ name: 'shop', version: '1.0.0' }, options).tool(
      'now',
      { description: 'The time' },
      () => '',
    )
    const url = await behindProxy(toNodeHandler(mcp(server)))
    const { code, json: parse } = await mcpx(['doctor', url, '--json', '--fix-hints'])
    const { findings } = parse<{ findings: { id: string; seen: string; hints: { for: string; text: string }[] }[] }>()
    expect([code, findings.map(({ id }) => id)]).toEqual([0, ['held-stream']])
    expect(findings[0]?.seen).toMatch(seen)
    expect(findings[0]?.hints.map((hint) => hint.for)).toEqual(['nginx'])
  })
})

describe('the doctor raises no false alarm', () => {
  const shop = () =>
    createMcpServer({ name: 'shop', version: '1.0.0' }).tool(
      'find',
      { description: 'Finds an article', input: z.object({ q: z.string() }) },
      ({ q }) => q,
    )
  const serve = async (handle: Parameters<typeof createHttpServer>[1]): Promise<string> => {
    const listening: Server = createHttpServer(handle)
    await new Promise<void>((resolve) => void listening.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      listening.closeAllConnections()
      listening.close()
    })
    return `http://127.0.0.1:${(listening.address() as AddressInfo).port}/mcp`
  }

  it.each<[string, object]>([
    ['both eras', {}],
    ['no sessions', { sessions: false }],
  ])('at our server with %s', async (_, options) => {
    const { toNodeHandler } = await import('@mcpx/transport-http/node')
    const url = await serve(toNodeHandler(mcp(shop(), options)))
    const { code, json: parse, stderr } = await mcpx(['doctor', url, '--json'])
    expect([code, parse().findings, stderr]).toEqual([0, [], ''])
  })

  it('at our server of the modern era alone', async () => {
    const { toNodeHandler } = await import('@mcpx/transport-http/node')
    const modern = createMcpServer({ name: 'shop', version: '1.0.0' }, { legacy: false }).tool(
      'now',
      { description: 'The time' },
      () => '',
    )
    const { code, json: parse } = await mcpx(['doctor', await serve(toNodeHandler(mcp(modern))), '--json'])
    expect([code, parse().findings]).toEqual([0, []])
  })

  it('at a healthy server in memory, and behind a login', async () => {
    expect(await diagnose(healthy)).toEqual([])
    expect(await diagnose(guarded())).toEqual([])
  })

  it.each([
    ['2025-03-26', null],
    ['2025-06-18', '2025-06-18'],
  ])('at a healthy server of %s, which refuses the header of another revision', async (protocolVersion, expected) => {
    const found = await diagnose((request, message) => {
      if (message?.method === 'initialize') {
        const result = { ...info, protocolVersion }
        return json({ jsonrpc: '2.0', id: message.id, result }, { headers: { 'mcp-session-id': 'a-1' } })
      }
      const isInSession = request.headers.get('mcp-session-id') === 'a-1'
      if (isInSession && request.headers.get('mcp-protocol-version') !== expected)
        return new Response('', { status: 400 })
      return undefined
    })
    expect(found).toEqual([])
  })

  it('at a server of the official SDK, but for what it does not check', async () => {
    const url = await serve(async (request, response) => {
      const official = new McpServer({ name: 'official', version: '1.0.0' })
      official.registerTool('now', { description: 'The time' }, () => ({ content: [] }))
      const transport = new StreamableHTTPServerTransport({})
      await official.connect(transport as never)
      await transport.handleRequest(request, response)
    })
    const { json: parse } = await mcpx(['doctor', url, '--json'])
    const { findings } = parse<{ findings: { id: string; level: string }[] }>()
    // Without the option for it, the SDK checks no origins.
    expect(findings.filter(({ level }) => level === 'error')).toEqual([])
    expect(findings.map(({ id }) => id)).toEqual(['origin-unchecked'])
  })
})

it('prints what was seen, why it matters and how to mend it', async () => {
  const unused = createHttpServer()
  await new Promise<void>((resolve) => void unused.listen(0, '127.0.0.1', resolve))
  const { port } = unused.address() as AddressInfo
  await new Promise((resolve) => void unused.close(resolve))
  const { code, stdout } = await mcpx(['doctor', `http://127.0.0.1:${port}/mcp`])
  expect(code).toBe(1)
  expect(stdout).toMatch(
    /^error: no-connection\n {2}seen {2}POST http:\/\/127\.0\.0\.1:\d+\/mcp: .+\n {2}why {3}Nothing listens/,
  )
  expect(stdout).toContain('0 checks passed: 1 error, 0 warnings')
})
