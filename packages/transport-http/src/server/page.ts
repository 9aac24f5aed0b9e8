/** The page for people who open the URL of an endpoint in a browser. MCP clients never receive it. */

import { type Implementation, LATEST_MODERN_REVISION, type RequestMessage, withEnvelope } from '@mcpx/protocol'
import { EVENTS_TYPE, JSON_TYPE, LAST_EVENT_HEADER, SESSION_HEADER, VERSION_HEADER } from '../headers.ts'
import type { HttpAnswer } from './responses.ts'

/** Returns whether a browser navigates to the endpoint: it accepts HTML, and sends no header of MCP clients. */
export function isVisit({ method, headers }: Request): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const accept = headers.get('accept')?.toLowerCase() ?? ''
  if (!accept.includes('text/html') || accept.includes(JSON_TYPE) || accept.includes(EVENTS_TYPE)) return false
  return ![SESSION_HEADER, VERSION_HEADER, LAST_EVENT_HEADER].some((name) => headers.has(name))
}

/** Returns a request for the name of a server, as a modern client without capabilities sends it. */
export function infoRequest(): RequestMessage {
  const envelope = { protocolVersion: LATEST_MODERN_REVISION, clientCapabilities: {} } as const
  return { jsonrpc: '2.0', id: 0, method: 'server/discover', params: withEnvelope(undefined, envelope) }
}

/** Responds with the name of a server and with ways to connect to it. The info is undefined if the server did not return it. */
export function welcomePage(request: Request, info: Implementation | undefined): HttpAnswer {
  const name = info?.title ?? info?.name ?? 'MCP server'
  const url = endpointUrl(request)
  const entry = { mcpServers: { [keyOf(info?.name)]: { type: 'http', url } } }
  const version = info === undefined ? '' : `<p>Version ${escapeHtml(info.version)}</p>`
  const description = info?.description === undefined ? '' : `<p>${escapeHtml(info.description)}</p>`
  return page(
    200,
    name,
    `${version}${description}
<p>This is a server of the <a href="https://modelcontextprotocol.io">Model Context Protocol</a>. It is used by assistants and editors, not by browsers.
Add its address to your host:</p>
<pre>${escapeHtml(url)}</pre>
<p>Many hosts read such settings:</p>
<pre>${escapeHtml(JSON.stringify(entry, undefined, 2))}</pre>`,
  )
}

/** Responds with a page to a browser that a guard has refused, with the status and the headers of the guard. */
export function refusedPage(request: Request, refused: Response): Response {
  const text = `<p>This is a server of the Model Context Protocol, and it requires credentials. Add its address to your host, which logs in:</p>
<pre>${escapeHtml(endpointUrl(request))}</pre>`
  const { body, headers } = page(refused.status, 'MCP server', text)
  const merged = new Headers(refused.headers)
  merged.delete('content-length')
  for (const [name, value] of Object.entries(headers)) merged.set(name, value as string)
  return new Response(body as string, { status: refused.status, headers: merged })
}

/** Responds with 404 and the path of the endpoint. */
export function notFoundPage(path: string): HttpAnswer {
  const link = `<a href="${escapeHtml(path)}">${escapeHtml(path)}</a>`
  return page(404, 'Not found', `<p>The MCP server of this address is at ${link}.</p>`)
}

/** Returns the address of the page, as the browser sees it behind a proxy that ends TLS. */
function endpointUrl({ url, headers }: Request): string {
  const { protocol, host, pathname } = new URL(url)
  const isSecure = protocol === 'https:' || headers.get('x-forwarded-proto')?.toLowerCase() === 'https'
  return `${isSecure ? 'https' : 'http'}://${host}${pathname}`
}

/** Returns a key for the settings of hosts: a letter, then letters, digits, hyphens and underscores. */
function keyOf(name = ''): string {
  const key = name
    .replace(/[^\w-]+/g, '-')
    .replace(/^[^A-Za-z]+/, '')
    .slice(0, 40)
  return key === '' ? 'server' : key
}

const STYLE =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem}pre{overflow:auto;padding:.75rem;border:1px solid}'
/** The SHA-256 of `STYLE`, which is the only style that browsers apply. */
export const STYLE_HASH = 'sha256-wTKDnTJBhsC1pobkx3oBqrXKOt/dFhD4F3IPBqv7OBw='

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src '${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  vary: 'Accept',
}

function page(status: number, title: string, body: string): HttpAnswer {
  const text = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body>
<h1>${escapeHtml(title)}</h1>
${body}
</body>
</html>
`
  return { body: text, status, headers: HEADERS }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
