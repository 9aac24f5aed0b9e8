/** Sends HTTP requests to the server, reads bodies with a size limit, and creates the errors for failures and HTTP statuses. */

import {
  ConnectionError,
  ErrorCode,
  type ErrorMessage,
  encode,
  isIdOf,
  type Message,
  quoted,
  type RequestId,
  type RequestMessage,
  RpcError,
} from '@mcpx/protocol'
import { EVENTS_TYPE, JSON_TYPE } from '../headers.ts'
import type { Settings } from './options.ts'

export type HeaderValues = Readonly<Record<string, string | undefined>>

export interface OutgoingRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  /** The URL. Default: the URL of the server. */
  readonly url?: URL | undefined
  /** The headers. Undefined values are not sent. */
  readonly headers: HeaderValues
  readonly body?: string | undefined
  /** The name of the JSON-RPC request in the body, for error messages. Default: none. */
  readonly label?: string | undefined
  readonly signal: AbortSignal
}

/** Maximum number of redirects of one request. */
const MAX_REDIRECTS = 5

/**
 * Resolves to a response with any status. Follows only redirects within the server's origin. Rejects with
 * `ConnectionError`: reason `unreachable` without a response, reason `refused` for a redirect that is not followed.
 */
export async function send(settings: Settings, request: OutgoingRequest): Promise<Response> {
  const headers = new Headers(await settings.headers())
  for (const [name, value] of Object.entries(request.headers)) if (value !== undefined) headers.set(name, value)
  let url = request.url ?? settings.url
  for (let redirects = 0; ; redirects++) {
    const response = await sendOnce(settings, request, url, headers)
    // Wrappers of `fetch` sometimes forget to return the response.
    if (typeof response?.status !== 'number') {
      const message = 'The fetch option returned no Response: return the response of the fetch that it calls'
      throw new ConnectionError('invalid-message', message)
    }
    if (!isRedirect(response)) return response
    await response.body?.cancel()
    if (redirects === MAX_REDIRECTS) throw redirectError(response, `more than ${MAX_REDIRECTS} in a row`)
    url = redirectTarget(response, request.method, url)
  }
}

/** Sends one message as a POST. Resolves to a response with any status. */
export function post(
  settings: Settings,
  message: Message,
  headers: HeaderValues,
  signal: AbortSignal,
  url?: URL,
): Promise<Response> {
  settings.onMessage?.('out', message)
  return send(settings, {
    method: 'POST',
    url,
    headers: { accept: `${JSON_TYPE}, ${EVENTS_TYPE}`, 'content-type': JSON_TYPE, ...headers },
    body: encode(message),
    label: 'method' in message && 'id' in message ? labelOf(message) : undefined,
    signal,
  })
}

/** Rejects with `ConnectionError` (reason `refused`) if the server did not accept a message that has no response. */
export async function expectAccepted(response: Response, message: Message): Promise<void> {
  await discardBody(response)
  if (!response.ok) throw statusError(response, 'method' in message ? message.method : 'A response')
}

export async function discardBody(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {})
}

/**
 * Reads a body as a string. Rejects with `ConnectionError` (reason `limit`) as soon as there are more bytes, and with
 * the runtime's error if the connection breaks.
 */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return ''
  if (Number(response.headers.get('content-length')) > maxBytes) {
    await discardBody(response)
    throw sizeError(maxBytes)
  }
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > maxBytes) {
      await reader.cancel().catch(() => {})
      throw sizeError(maxBytes)
    }
    text += decoder.decode(value, { stream: true })
  }
}

function sizeError(maxBytes: number): ConnectionError {
  const hint = 'Raise maxResponseSize, or request less data.'
  return new ConnectionError('limit', `The response is larger than ${maxBytes} bytes`, { hint })
}

async function sendOnce(settings: Settings, request: OutgoingRequest, url: URL, headers: Headers): Promise<Response> {
  const { method, body, label, signal } = request
  const init: RequestInit = { ...settings.init, method, headers, signal, redirect: 'manual' }
  if (body !== undefined) init.body = body
  try {
    return await settings.fetch(url, init)
  } catch (cause) {
    if (cause instanceof ConnectionError || isAuthError(cause)) throw cause
    const code = codeOf(cause)
    if (isTlsFault(code)) throw tlsError(method, url, code, cause)
    if (label !== undefined && !notSentCodes.has(code)) throw responseLostError(label, cause)
    const hint =
      'Check that the server runs and that the URL is right. In a browser, the server must also allow this page (CORS).'
    const message = `${method} ${url.origin}${url.pathname} failed (${code})`
    throw new ConnectionError('unreachable', message, { retryable: true, hint, cause })
  }
}

/**
 * Returns whether an error is an `AuthError`. It is not wrapped, because its message names the failed step, and the
 * server did not process the request.
 */
function isAuthError(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'AuthError'
}

/** The codes of runtimes for requests that were not sent, because there was no connection. */
const notSentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ConnectionRefused',
])

/** Returns whether no TLS connection could be made, so that the request was not sent. */
function isTlsFault(code: string): boolean {
  return /^(?:ERR_SSL_|ERR_TLS_|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(code)
}

function tlsError(method: string, url: URL, code: string, cause: unknown): ConnectionError {
  const isProtocol = /^(?:ERR_SSL_|EPROTO$)/.test(code)
  const hint = isProtocol
    ? 'No TLS version in common with the server: check whether its URL begins with http:.'
    : 'The certificate of the server is not trusted: install its authority, or connect by the name in the certificate.'
  const message = `${method} ${url.origin}${url.pathname} failed: no TLS connection (${code})`
  return new ConnectionError('unreachable', message, { hint, cause })
}

/** Returns the error code of a failed `fetch`. The error itself only says "fetch failed"; its cause has the reason. */
function codeOf(problem: unknown): string {
  const { code, cause, message } = problem as { code?: unknown; cause?: { code?: unknown }; message?: unknown }
  return [cause?.code, code, message].find((each) => typeof each === 'string') ?? 'no reason given'
}

/** Returns whether a response is a redirect. Browsers hide its status. */
function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || (status > 300 && status < 309 && status !== 304)
}

/**
 * Returns the target of a redirect. Throws if the method or the origin would change, because only this origin may
 * receive the credentials.
 */
function redirectTarget(response: Response, method: string, from: URL): URL {
  const { status, headers } = response
  const location = headers.get('location')
  if (location === null) throw redirectError(response, 'it has no Location header')
  if (!URL.canParse(location, from.href)) throw redirectError(response, 'its Location header is not a URL')
  const to = new URL(location, from)
  if (to.origin !== from.origin) throw redirectError(response, `it leads to another origin, ${to.origin}`)
  if (status !== 307 && status !== 308 && method !== 'GET') {
    throw redirectError(response, `${status} would turn ${method} into GET`)
  }
  to.username = to.password = to.hash = ''
  return to
}

function redirectError({ status }: Response, why: string): ConnectionError {
  const hint = 'Connect to the final URL of the server.'
  return new ConnectionError('refused', `A redirect was not followed: ${why}`, { status, hint })
}

/** Statuses of requests that were not processed and may succeed later. */
const temporaryStatuses = new Set([408, 425, 429, 503])

/** Statuses of a gateway that received no response. The server may have processed the request. */
const lostStatuses = new Set([502, 504])

/**
 * Methods that can safely be repeated. A server ignores answers that a task has already received, and removes unused
 * sessions.
 */
const repeatable =
  /^(?:ping|initialize|notifications\/initialized|server\/discover|completion\/complete|subscriptions\/listen|resources\/(?:read|(?:un)?subscribe)|logging\/setLevel|tasks\/(?:update|cancel)|.+\/(?:list|get))$/

/** The name of a request in error messages: `tools/call "add"`. */
export function labelOf({ method, params = {} }: RequestMessage): string {
  const name = params.name ?? params.uri
  return typeof name === 'string' ? `${method} ${quoted(name)}` : method
}

/** Returns whether a request can safely be repeated. Its label begins with the method. */
function isRepeatable(label: string): boolean {
  return repeatable.test(label.split(' ', 1)[0] as string)
}

const statusHints: Readonly<Record<number, string>> = {
  401: 'The server requires authentication: pass the auth option, or an authorization header.',
  403: 'The credentials, or the origin of the request, do not permit this.',
  404: 'Check that the URL is the endpoint of the server, including its path.',
  405: 'Check that the URL is the endpoint of the server, including its path.',
  413: 'The server accepts no request of this size: send less.',
  415: 'MCP servers accept application/json: check that the URL is the endpoint of one.',
  429: 'The server receives too many requests: wait before you send another.',
  431: 'The server accepts no headers of this size: shorten the arguments that are sent as headers.',
}

/** Returns the error for an unsuccessful status. `error` is the JSON-RPC error in the body. */
export function statusError(response: Response, what: string, error?: ErrorMessage): ConnectionError {
  const { status } = response
  const detail = error === undefined ? '' : `: ${error.error.message.slice(0, 200)}`
  const hint = statusHints[status] ?? (status >= 500 ? 'The server, or a proxy in front of it, failed.' : undefined)
  return new ConnectionError('refused', `${what} was refused with HTTP status ${status}${detail}`, {
    status,
    retryable: temporaryStatuses.has(status) || (lostStatuses.has(status) && isRepeatable(what)),
    ...(hint !== undefined && { hint }),
    ...(error !== undefined && { cause: new RpcError(error.error.code, error.error.message, error.error) }),
  })
}

/** Statuses that a guard or proxy sends instead of the server. */
const guardStatuses = new Set([401, 403, 407, 408, 429])

/** Error codes that only servers of the modern era send. */
const modernCodes: readonly number[] = [
  ErrorCode.HeaderMismatch,
  ErrorCode.MissingRequiredClientCapability,
  ErrorCode.UnsupportedProtocolVersion,
]

/**
 * Returns whether the JSON-RPC error in the body of a failure is the response to the request. It must have the id of
 * the request, or a code that only the protocol defines. A status of a guard, or a status from 500, never belongs to a
 * response.
 */
export function isResponseTo(status: number, error: ErrorMessage, id: RequestId): boolean {
  if (status >= 500 || guardStatuses.has(status)) return false
  return isIdOf(error.id, id) || (error.id === undefined && modernCodes.includes(error.error.code))
}

/** Returns the error of a request that has no response because the connection ended. */
export function noResponseError({ reason, message, status, cause }: ConnectionError, label: string): ConnectionError {
  return new ConnectionError(reason, message, {
    retryable: isRepeatable(label),
    hint: repeatHint(label),
    ...(status !== undefined && { status }),
    cause,
  })
}

/** Returns the error of a request whose connection broke after the request was sent and before its response arrived. */
export function responseLostError(label: string, cause?: unknown): ConnectionError {
  return new ConnectionError('unreachable', `The response to ${label} was lost${reasonsOf(cause)}`, {
    retryable: isRepeatable(label),
    hint: isFetchTimeout(cause) ? `${repeatHint(label)} ${FETCH_TIMEOUT_HINT}` : repeatHint(label),
    cause,
  })
}

/** The codes of runtimes for connections that the server closed before it began to respond. */
const closedCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ConnectionClosed'])

/**
 * Returns whether the connection of a request that can safely be repeated was closed before its response began. Servers
 * close idle connections, possibly while a request is on its way.
 */
export function wasClosedBeforeResponse(error: unknown): boolean {
  return error instanceof ConnectionError && error.retryable && closedCodes.has(codeOf(error.cause ?? {}))
}

function repeatHint(label: string): string {
  return isRepeatable(label)
    ? 'The same request can safely be sent again.'
    : 'The server may have processed the request: check before you send it again.'
}

const FETCH_TIMEOUT_HINT =
  '`fetch` timed out: raise its timeouts (in Node, headersTimeout and bodyTimeout of its dispatcher), or let the call report progress.'

/** Returns whether `fetch` timed out. */
function isFetchTimeout(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth === 3) return false
  const { code, name } = error as { code?: unknown; name: string }
  const isTimeout = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT' || name === 'TimeoutError'
  return isTimeout || isFetchTimeout(error.cause, depth + 1)
}

/** Joins the messages of an error and its causes: the error of `fetch` itself rarely has the reason. */
function reasonsOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth === 3) return ''
  const next = error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined)
  return `${error.message === '' ? '' : `: ${error.message}`}${reasonsOf(next, depth + 1)}`
}
