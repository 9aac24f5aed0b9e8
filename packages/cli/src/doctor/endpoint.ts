/** Checks the endpoint: the handshake, sessions, methods, revisions, streams and CORS. */

import { isObject, isRevision } from '@mcpx/protocol'
import { VERSION } from '../version.ts'
import { checkAuthorization } from './authorization.ts'
import type { Diagnosis, FindingId } from './findings.ts'
import { recognize } from './hints.ts'
import { addNetworkError, excerptOf, messageOf, POST_HEADERS, type Probe, type Prober } from './probe.ts'

const REVISION = '2025-11-25'
const CLIENT = { name: 'mcpx-doctor', version: VERSION }
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: REVISION, capabilities: {}, clientInfo: CLIENT },
}
/** How long a handshake may take without a warning, in ms. */
const SLOW = 5_000
/** How long the beginning of a stream may take, in ms. */
const STREAM_TIMEOUT = 5_000

/** Checks an endpoint. Returns whether clients can connect without a login. */
export async function checkEndpoint(url: URL, prober: Prober, diagnosis: Diagnosis): Promise<boolean> {
  if (url.protocol === 'http:' && !isLoopback(url)) diagnosis.add('plain-http', url.origin)
  let handshake: Probe
  try {
    handshake = await prober.post(url, INITIALIZE)
  } catch (error) {
    addNetworkError(diagnosis, error, `POST ${url}`)
    return false
  }
  diagnosis.recognized.push(...recognize(handshake.headers))
  diagnosis.pass(`${url.host} answers in ${handshake.time.toFixed()} ms`)
  if (handshake.time > SLOW) diagnosis.add('slow', `initialize took ${(handshake.time / 1_000).toFixed(1)} s`)
  await checkCors(url, prober, diagnosis)
  if (handshake.status === 401) {
    await checkAuthorization(url, handshake, prober, diagnosis)
    return false
  }
  if (handshake.status >= 300) {
    // A modern server may refuse the legacy handshake.
    const isModern = handshake.status < 500 && (await checkDiscover(url, prober, diagnosis, true))
    if (!isModern) addRefusal(url, handshake, diagnosis)
    return isModern
  }
  const result = readHandshake(handshake, diagnosis)
  checkStream(handshake, 'initialize', diagnosis)
  if (result === undefined) return false
  const session = handshake.headers.get('mcp-session-id') ?? undefined
  await checkSession(url, { session, revision: String(result.protocolVersion) }, prober, diagnosis)
  await checkDiscover(url, prober, diagnosis, false)
  if (isLoopback(url)) await checkOrigin(url, prober, diagnosis)
  return true
}

function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}

const REFUSALS: Readonly<Record<number, FindingId>> = {
  403: 'forbidden',
  404: 'not-found',
  405: 'post-refused',
  406: 'accept-refused',
  415: 'content-type-refused',
  429: 'rate-limited',
}

function addRefusal(url: URL, { status, headers, text }: Probe, diagnosis: Diagnosis): void {
  const location = headers.get('location')
  if (status < 400) {
    const target = location !== null && URL.canParse(location, url.href) ? new URL(location, url).href : location
    diagnosis.add('redirect', `POST ${url}: ${status} to ${target}`)
    return
  }
  const id = status >= 500 ? 'server-failed' : (REFUSALS[status] ?? 'handshake-refused')
  diagnosis.add(id, `POST ${url}: ${status} ${excerptOf(text)}`.trim())
}

/** Returns the result of the handshake, or undefined if clients cannot use it. */
function readHandshake(probe: Probe, diagnosis: Diagnosis): Record<string, unknown> | undefined {
  const type = probe.headers.get('content-type') ?? 'no Content-Type'
  if (!/^(?:application\/json|text\/event-stream)\b/.test(type)) {
    diagnosis.add('content-type', `initialize: ${type}, ${excerptOf(probe.text)}`)
    return undefined
  }
  let message: unknown
  try {
    message = messageOf(probe)
  } catch {
    diagnosis.add('invalid-json', `initialize: ${excerptOf(probe.text)}`)
    return undefined
  }
  if (message === undefined) {
    diagnosis.add('empty-stream', `initialize: ${type}, ${probe.text.length} characters`)
    return undefined
  }
  const { jsonrpc, id, result, error } = isObject(message) ? message : {}
  if (jsonrpc !== '2.0' || id !== 1 || (result === undefined && error === undefined)) {
    diagnosis.add('not-json-rpc', `initialize: ${excerptOf(JSON.stringify(message))}`)
    return undefined
  }
  if (!isObject(result)) {
    diagnosis.add('handshake-refused', `initialize: ${excerptOf(JSON.stringify(error ?? result))}`)
    return undefined
  }
  const { protocolVersion, capabilities, serverInfo } = result
  const { name, version } = isObject(serverInfo) ? serverInfo : {}
  const missing = Object.entries({
    protocolVersion: typeof protocolVersion === 'string',
    capabilities: isObject(capabilities),
    'serverInfo.name': typeof name === 'string',
    'serverInfo.version': typeof version === 'string',
  }).flatMap(([member, isThere]) => (isThere ? [] : [member]))
  if (missing.length > 0) diagnosis.add('invalid-handshake', `initialize: the result has no ${missing.join(', ')}`)
  else if (!isRevision(protocolVersion)) diagnosis.add('unknown-revision', `initialize: ${String(protocolVersion)}`)
  else diagnosis.pass(`initialize: ${String(name)} ${String(version)} speaks ${protocolVersion}`)
  return result
}

function checkStream({ headers }: Probe, request: string, diagnosis: Diagnosis): void {
  if (headers.get('content-type')?.startsWith('text/event-stream') !== true) return
  const encoding = headers.get('content-encoding')
  if (encoding !== null) diagnosis.add('compressed-stream', `${request}: Content-Encoding: ${encoding}`)
  const isProxied = headers.has('via') || /nginx|cloudflare|envoy/i.test(headers.get('server') ?? '')
  const buffering = headers.get('x-accel-buffering')
  if (isProxied && buffering !== 'no' && !/no-cache|no-store/.test(headers.get('cache-control') ?? '')) {
    diagnosis.add('buffered-stream', `${request}: neither X-Accel-Buffering nor Cache-Control, behind a proxy`)
  }
}

async function checkSession(
  url: URL,
  { session, revision }: { readonly session: string | undefined; readonly revision: string },
  prober: Prober,
  diagnosis: Diagnosis,
): Promise<void> {
  // Earlier revisions do not have this header.
  const hasVersionHeader = revision >= '2025-06-18'
  const headers = {
    ...(hasVersionHeader && { 'mcp-protocol-version': revision }),
    ...(session !== undefined && { 'mcp-session-id': session }),
  }
  const attempt = async (request: string, check: () => Promise<void>) => {
    try {
      await check()
    } catch (error) {
      addNetworkError(diagnosis, error, request)
    }
  }
  if (session !== undefined && !/^[\x21-\x7e]+$/.test(session)) {
    diagnosis.add('session-id', `Mcp-Session-Id: ${JSON.stringify(session)}`)
    return
  }
  await attempt('POST notifications/initialized', async () => {
    const { status, text } = await prober.post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers)
    if (status === 202 && text === '') diagnosis.pass('notifications are answered with 202')
    else diagnosis.add('notification-status', `POST notifications/initialized: ${status} ${excerptOf(text)}`.trim())
  })
  await attempt(`GET ${url}`, async () => {
    const accept = { accept: 'text/event-stream' }
    const options = { headers: { ...headers, ...accept }, timeout: STREAM_TIMEOUT, withBody: false }
    const probe = await prober.send(url, options).catch(ignoreTimeout)
    if (probe === undefined) {
      diagnosis.add('held-stream', `GET ${url}: no response within ${STREAM_TIMEOUT / 1_000} s`)
      return
    }
    const isStream = probe.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (isStream) checkStream(probe, 'GET', diagnosis)
    if (probe.status === 405 || (probe.status === 200 && isStream)) diagnosis.pass('GET is a stream, or 405')
    else diagnosis.add('get-status', `GET ${url}: ${probe.status} ${probe.headers.get('content-type') ?? ''}`.trim())
  })
  const checkVersionHeader = async () => {
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
    const { status } = await prober.post(url, ping, { ...headers, 'mcp-protocol-version': '1999-01-01' })
    if (status === 400) diagnosis.pass('an unknown revision is refused with 400')
    else diagnosis.add('version-unchecked', `POST with MCP-Protocol-Version: 1999-01-01: ${status}`)
  }
  if (hasVersionHeader) await attempt('POST ping with an unknown revision', checkVersionHeader)
  if (session === undefined) return
  await attempt('POST with an unknown session', async () => {
    const unknown = { ...headers, 'mcp-session-id': '00000000-0000-4000-8000-000000000000' }
    const { status, text } = await prober.post(url, { jsonrpc: '2.0', id: 3, method: 'ping' }, unknown)
    if (status === 404) diagnosis.pass('an unknown session is refused with 404')
    else diagnosis.add('lost-session', `POST with an unknown Mcp-Session-Id: ${status} ${excerptOf(text)}`.trim())
  })
  await attempt(`DELETE ${url}`, async () => {
    const { status } = await prober.send(url, { method: 'DELETE', headers })
    if ([200, 202, 204, 405].includes(status)) diagnosis.pass('DELETE ends the session, or is refused with 405')
    else diagnosis.add('delete-status', `DELETE ${url}: ${status}`)
  })
}

function ignoreTimeout(error: unknown): undefined {
  if (error instanceof Error && error.name === 'TimeoutError') return undefined
  throw error
}

/**
 * Sends `server/discover`, the first request of a client of 2026-07-28. Returns whether the server supports this
 * revision.
 */
async function checkDiscover(url: URL, prober: Prober, diagnosis: Diagnosis, isOnlyEra: boolean): Promise<boolean> {
  const prefix = 'io.modelcontextprotocol'
  const _meta = {
    [`${prefix}/protocolVersion`]: '2026-07-28',
    [`${prefix}/clientInfo`]: CLIENT,
    [`${prefix}/clientCapabilities`]: {},
  }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' }
  let probe: Probe
  try {
    probe = await prober.post(url, { jsonrpc: '2.0', id: 4, method: 'server/discover', params: { _meta } }, headers)
  } catch (error) {
    addNetworkError(diagnosis, error, 'POST server/discover')
    return false
  }
  const message = parsedMessage(probe)
  if (isObject(message) && isObject(message.result)) {
    diagnosis.pass('server/discover: the server speaks 2026-07-28')
    await checkListen(url, prober, diagnosis, _meta)
    return true
  }
  if (isOnlyEra) return false
  const isRefused = probe.status >= 400 && probe.status < 500
  if (isRefused || (isObject(message) && isObject(message.error))) diagnosis.pass('server/discover is refused properly')
  else diagnosis.add('discover-failed', `POST server/discover: ${probe.status} ${excerptOf(probe.text)}`.trim())
  return false
}

/** Opens a `subscriptions/listen` stream. The first event must arrive while the stream is still open. */
async function checkListen(url: URL, prober: Prober, diagnosis: Diagnosis, _meta: object): Promise<void> {
  if (diagnosis.findings.some(({ id }) => id === 'held-stream')) return
  const params = { _meta, notifications: { toolsListChanged: true } }
  const body = { jsonrpc: '2.0', id: 5, method: 'subscriptions/listen', params }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
  const options = { method: 'POST', headers: { ...POST_HEADERS, ...headers }, body, timeout: STREAM_TIMEOUT }
  const probe = await prober.send(url, { ...options, until: /\n\r?\n/ }).catch(ignoreTimeout)
  if (probe === undefined || (probe.status === 200 && probe.text === '')) {
    diagnosis.add('held-stream', `POST subscriptions/listen: no event within ${STREAM_TIMEOUT / 1_000} s`)
  } else if (probe.status === 200) {
    diagnosis.pass('events of a stream arrive while it is open')
    checkStream(probe, 'subscriptions/listen', diagnosis)
  }
}

function parsedMessage(probe: Probe): unknown {
  try {
    return messageOf(probe)
  } catch {
    return undefined
  }
}

const WEB_ORIGIN = 'https://inspector.example.com'
const CLIENT_HEADERS = ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-session-id']

/** Sends the preflight of a client in a browser. Servers on loopback need not allow web pages. */
async function checkCors(url: URL, prober: Prober, diagnosis: Diagnosis): Promise<void> {
  if (isLoopback(url)) return
  const headers = {
    origin: WEB_ORIGIN,
    'access-control-request-method': 'POST',
    'access-control-request-headers': CLIENT_HEADERS.join(', '),
  }
  try {
    const probe = await prober.send(url, { method: 'OPTIONS', headers, withCredentials: false })
    const origin = probe.headers.get('access-control-allow-origin')
    if (probe.status >= 300 || (origin !== '*' && origin !== WEB_ORIGIN)) {
      diagnosis.add('no-preflight', `OPTIONS ${url}: ${probe.status}, Access-Control-Allow-Origin: ${origin ?? 'none'}`)
      return
    }
    checkCorsHeaders(probe.headers, diagnosis)
  } catch (error) {
    addNetworkError(diagnosis, error, `OPTIONS ${url}`)
  }
}

/** Compares the headers that a preflight allows with the headers that clients send. */
export function checkCorsHeaders(headers: Headers, diagnosis: Diagnosis): void {
  const listed = (name: string) => (headers.get(name) ?? '').split(',').map((each) => each.trim().toLowerCase())
  const allowed = listed('access-control-allow-headers')
  const missing = CLIENT_HEADERS.filter(
    (name) => !allowed.includes(name) && (name === 'authorization' || !allowed.includes('*')),
  )
  if (missing.length > 0)
    diagnosis.add('cors-headers', `OPTIONS: Access-Control-Allow-Headers lacks ${missing.join(', ')}`)
  else diagnosis.pass('browsers may send the headers of clients')
}

async function checkOrigin(url: URL, prober: Prober, diagnosis: Diagnosis): Promise<void> {
  try {
    const { status } = await prober.post(url, INITIALIZE, { origin: 'https://evil.example.com' })
    if (status >= 400) diagnosis.pass('requests of foreign web pages are refused')
    else diagnosis.add('origin-unchecked', `POST with Origin: https://evil.example.com: ${status}`)
  } catch (error) {
    addNetworkError(diagnosis, error, 'POST with a foreign Origin')
  }
}
