/** The settings or the code that fix each finding of `mcpx doctor`, for the recognised proxies and frameworks. */

import type { Finding, FindingId } from './findings.ts'

/** A fix as text that can be copied. */
export interface Hint {
  /** The proxy, the framework or the file that the text is for. */
  readonly for: string
  readonly text: string
}

/** Response headers that identify proxies and frameworks. */
const SIGNS: readonly (readonly [name: string, header: string, pattern: RegExp])[] = [
  ['nginx', 'server', /nginx|openresty/i],
  ['Apache', 'server', /^apache/i],
  ['Caddy', 'server', /caddy/i],
  ['Caddy', 'via', /caddy/i],
  ['Cloudflare', 'server', /cloudflare/i],
  ['Cloudflare', 'cf-ray', /./],
  ['Envoy', 'server', /envoy/i],
  ['Vercel', 'server', /vercel/i],
  ['Express', 'x-powered-by', /express/i],
  ['Next.js', 'x-powered-by', /next/i],
  ['Python', 'server', /uvicorn|hypercorn|gunicorn/i],
]

/** Returns the names of the proxies and frameworks that sent these headers. */
export function recognize(headers: Headers): string[] {
  const found = SIGNS.filter(([, header, pattern]) => pattern.test(headers.get(header) ?? ''))
  return [...new Set(found.map(([name]) => name))]
}

/**
 * Returns the hints of a finding for the recognised proxies and frameworks. If no hint is for one of them, returns all
 * hints of the finding.
 */
export function hintsOf({ id, hint }: Finding, url: URL | undefined, recognized: readonly string[]): Hint[] {
  if (hint !== undefined) return [{ for: 'settings', text: hint }]
  const write = Object.hasOwn(HINTS, id) ? HINTS[id as HintedId] : undefined
  if (write === undefined) return []
  const { origin, host, hostname, pathname, port } = url ?? new URL('https://mcp.example.com/mcp')
  const all = Object.entries(write({ origin, host, hostname, pathname, port: port || '443' }))
  const fitting = all.filter(([name]) => recognized.includes(name))
  const chosen = fitting.length > 0 ? fitting : all
  return chosen.map(([name, text]) => ({ for: name, text: text.trim() }))
}

interface Place {
  readonly origin: string
  readonly host: string
  readonly hostname: string
  /** The path of the endpoint. */
  readonly pathname: string
  readonly port: string
}

/** Findings about settings of hosts have their own hints. */
type HintedId = Exclude<FindingId, `config-${string}`>
type Hints = (place: Place) => Readonly<Record<string, string>>

const certificate: Hints = ({ hostname, port }) => ({
  shell: `openssl s_client -connect ${hostname}:${port} -servername ${hostname} </dev/null | openssl x509 -noout -subject -dates -ext subjectAltName`,
  certbot: `certbot certonly --nginx -d ${hostname} && nginx -s reload`,
})

const log: Hints = ({ hostname, port }) => ({
  shell: `curl -sv --max-time 10 https://${hostname}:${port}/ -o /dev/null`,
  nginx: 'tail -f /var/log/nginx/error.log',
})

const unbuffered: Hints = ({ pathname }) => ({
  nginx: `
location ${pathname} {
  proxy_pass http://127.0.0.1:3000;
  proxy_http_version 1.1;
  proxy_set_header Host $host;
  proxy_buffering off;
  proxy_cache off;
  gzip off;
  proxy_read_timeout 1h;
}`,
  Apache: `ProxyPass ${pathname} http://127.0.0.1:3000${pathname} flushpackets=on timeout=3600\nSetEnvIf Request_URI "^${pathname}" no-gzip`,
  Caddy: `reverse_proxy ${pathname}* 127.0.0.1:3000 {\n  flush_interval -1\n}`,
  Cloudflare:
    'Send these headers from the server, and do not cache the path:\nContent-Type: text/event-stream\nCache-Control: no-cache, no-transform',
  Envoy: 'route:\n  timeout: 0s\n  idle_timeout: 3600s',
  Express: `app.use(compression({ filter: (request, response) => !String(response.getHeader('content-type')).startsWith('text/event-stream') }))\n// In the handler of GET, before the first event:\nresponse.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }).flushHeaders()`,
})

const cors: Hints = ({ pathname }) => ({
  '@mcpx': `mcp(server, { cors: ['https://app.example.com'] })`,
  Hono: `import { cors } from 'hono/cors'
app.use('${pathname}', cors({
  origin: ['https://app.example.com'],
  allowHeaders: ['Authorization', 'Content-Type', 'Mcp-Session-Id', 'MCP-Protocol-Version', 'Last-Event-ID'],
  exposeHeaders: ['Mcp-Session-Id', 'WWW-Authenticate'],
}))`,
  Express: `import cors from 'cors'
app.use(cors({
  origin: ['https://app.example.com'],
  allowedHeaders: ['Authorization', 'Content-Type', 'Mcp-Session-Id', 'MCP-Protocol-Version', 'Last-Event-ID'],
  exposedHeaders: ['Mcp-Session-Id', 'WWW-Authenticate'],
}))`,
  Python: `app.add_middleware(CORSMiddleware, allow_origins=["https://app.example.com"], allow_methods=["*"],\n  allow_headers=["Authorization", "Content-Type", "Mcp-Session-Id", "MCP-Protocol-Version"], expose_headers=["Mcp-Session-Id"])`,
})

const routes: Hints = ({ pathname }) => ({
  '@mcpx': `app.route('${pathname}', mcp(server))`,
  Express: `app.all('${pathname}', toNodeHandler(mcp(server)))`,
  nginx: `location ${pathname} {\n  proxy_pass http://127.0.0.1:3000;\n}`,
  'Next.js': `// app${pathname}/route.ts\nexport { handle as DELETE, handle as GET, handle as POST }`,
})

const transport: Hints = () => ({
  '@mcpx': `export default mcp(server) // answers every request as the protocol requires`,
  'official SDK': `const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() })\nawait transport.handleRequest(request, response, request.body) // for GET, POST and DELETE`,
})

const initialize = `{ "jsonrpc": "2.0", "id": 1, "result": { "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "shop", "version": "1.0.0" } } }`
const handshake: Hints = () => ({ response: `HTTP/1.1 200 OK\nContent-Type: application/json\n\n${initialize}` })

const resource: Hints = ({ origin, pathname }) => ({
  '@mcpx': `mcp(server, { authenticate: bearer({ issuer: 'https://login.example.com', audience: '${origin}${pathname}' }) })`,
  [`${origin}/.well-known/oauth-protected-resource${pathname}`]: `{\n  "resource": "${origin}${pathname}",\n  "authorization_servers": ["https://login.example.com"]\n}`,
})

const authorizationServer: Hints = () => ({
  'https://login.example.com/.well-known/oauth-authorization-server': `{
  "issuer": "https://login.example.com",
  "authorization_endpoint": "https://login.example.com/authorize",
  "token_endpoint": "https://login.example.com/token",
  "registration_endpoint": "https://login.example.com/register",
  "code_challenge_methods_supported": ["S256"]
}`,
})

const tool: Hints = () => ({
  '@mcpx': `.tool('search_orders', {\n  description: 'Search the orders of the user. Use it before you change an order.',\n  input: z.object({ query: z.string().describe('words to look for') }),\n}, handler)`,
})

const search: Hints = () => ({
  '@mcpx/toolset': `import { createToolset, searchTools } from '@mcpx/toolset'\nconst toolset = searchTools(await createToolset(client))`,
})

/** The hints by finding. */
const HINTS: Readonly<Record<HintedId, Hints>> = {
  'no-address': ({ hostname }) => ({ shell: `dig +short ${hostname} A ${hostname} AAAA` }),
  'no-connection': ({ port }) => ({ shell: `ss -ltnp 'sport = :${port}'` }),
  'connection-lost': log,
  'no-response': log,
  'certificate-expired': certificate,
  'certificate-name': certificate,
  'certificate-untrusted': certificate,
  'tls-on-http': ({ host, pathname }) => ({ URL: `http://${host}${pathname}` }),
  'plain-http': ({ hostname }) => ({ Caddy: `${hostname} {\n  reverse_proxy 127.0.0.1:3000\n}` }),
  slow: () => ({
    Node: 'const catalogue = loadCatalogue() // await it in the handlers, not before the server listens',
  }),
  redirect: ({ pathname }) => ({
    nginx: `location = ${pathname} {\n  proxy_pass http://127.0.0.1:3000;\n}`,
    Python: 'app = FastAPI(redirect_slashes=False)',
  }),
  'not-found': routes,
  'post-refused': routes,
  'accept-refused': transport,
  'content-type-refused': transport,
  'handshake-refused': handshake,
  forbidden: ({ hostname }) => ({
    '@mcpx': `mcp(server, { allowedHosts: ['${hostname}'] })`,
    nginx: 'proxy_set_header Host $host;',
    Cloudflare: 'In Security > WAF > Custom rules, add a rule that skips bot checks for this path.',
  }),
  'server-failed': log,
  'rate-limited': ({ pathname }) => ({
    response: 'HTTP/1.1 429 Too Many Requests\nRetry-After: 5',
    nginx: `location ${pathname} {\n  limit_req zone=mcp burst=50 nodelay;\n}`,
  }),
  'content-type': handshake,
  'invalid-json': handshake,
  'not-json-rpc': handshake,
  'invalid-handshake': handshake,
  'unknown-revision': handshake,
  'empty-stream': () => ({ response: `Content-Type: text/event-stream\n\nevent: message\ndata: ${initialize}\n` }),
  'compressed-stream': unbuffered,
  'buffered-stream': unbuffered,
  'held-stream': unbuffered,
  'notification-status': () => ({ response: 'HTTP/1.1 202 Accepted\nContent-Length: 0' }),
  'get-status': () => ({ response: 'HTTP/1.1 405 Method Not Allowed\nAllow: POST, DELETE', ...transport(EXAMPLE) }),
  'session-id': () => ({ Node: "import { randomUUID } from 'node:crypto'\nconst sessionId = randomUUID()" }),
  'lost-session': () => ({ response: 'HTTP/1.1 404 Not Found', ...transport(EXAMPLE) }),
  'delete-status': () => ({ response: 'HTTP/1.1 204 No Content', ...transport(EXAMPLE) }),
  'version-unchecked': () => ({ response: 'HTTP/1.1 400 Bad Request', ...transport(EXAMPLE) }),
  'discover-failed': () => ({
    response: `HTTP/1.1 404 Not Found\nContent-Type: application/json\n\n{ "jsonrpc": "2.0", "id": 4, "error": { "code": -32601, "message": "Method not found" } }`,
  }),
  'no-preflight': cors,
  'cors-headers': cors,
  'origin-unchecked': ({ host }) => ({
    '@mcpx': 'export default mcp(server) // refuses foreign origins by default',
    'official SDK': `new StreamableHTTPServerTransport({ enableDnsRebindingProtection: true, allowedHosts: ['${host}'] })`,
  }),
  'no-challenge': ({ origin, pathname }) => ({
    response: `HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource${pathname}"`,
    nginx: 'proxy_pass_header WWW-Authenticate;',
  }),
  'no-resource-metadata': resource,
  'resource-mismatch': resource,
  'no-authorization-server': resource,
  'no-server-metadata': authorizationServer,
  'issuer-mismatch': authorizationServer,
  'missing-endpoints': authorizationServer,
  'no-pkce': authorizationServer,
  'no-registration': () => ({
    '@mcpx': `const front = oauthFront({ issuer: 'https://login.example.com', provider: github({ clientId, clientSecret }), secrets: [secret], allowUser })`,
    ...authorizationServer(EXAMPLE),
  }),
  'scope-resource': () => ({ metadata: '"resource": "api://<application id>"' }),
  'lists-failed': () => ({ shell: 'mcpx list <server> --verbose' }),
  'no-tools': tool,
  'tool-name': tool,
  'tool-twice': tool,
  'no-description': tool,
  'tool-schema': () => ({
    tool: '"inputSchema": { "type": "object", "properties": { "query": { "type": "string" } } }',
  }),
  'model-schema': () => ({ tool: '"kind": { "type": "string", "enum": ["order", "invoice"] }' }),
  'many-tools': search,
  'large-list': search,
}

const EXAMPLE: Place = { origin: '', host: '', hostname: '', pathname: '', port: '' }
