/** Sends one HTTP request to the server, and to nobody else: a redirect is followed within the server's origin only. */

import { ConnectionError } from '@mcpx/protocol'
import type { Settings } from './options.ts'
import { answerLost } from './refusals.ts'

export interface Outgoing {
  readonly method: 'POST' | 'GET' | 'DELETE'
  /** Default: the URL of the server. */
  readonly url?: URL | undefined
  /** Absent values are not sent. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body?: string | undefined
  /** The method of the protocol whose answer is lost when nothing comes back; none where nothing is asked. */
  readonly asks?: string | undefined
  readonly signal: AbortSignal
}

/**
 * Resolves to a response, whatever its status. Rejects with `ConnectionError`: `unreachable` when nothing came back,
 * `refused` for a redirect that is not followed.
 */
export type Carrier = (outgoing: Outgoing) => Promise<Response>

/** How many redirects one request may meet. */
const MOST_REDIRECTS = 5

export function createCarrier(settings: Settings): Carrier {
  return async (outgoing) => {
    const headers = new Headers(await settings.headers())
    for (const [name, value] of Object.entries(outgoing.headers)) if (value !== undefined) headers.set(name, value)
    let url = outgoing.url ?? settings.url
    for (let redirects = 0; ; redirects++) {
      const response = await send(settings, outgoing, url, headers)
      // By contract it is one; who wraps fetch forgets at times to return it.
      if (typeof response?.status !== 'number') throw new ConnectionError('invalid-message', NO_RESPONSE)
      if (!isRedirect(response)) return response
      await response.body?.cancel()
      if (redirects === MOST_REDIRECTS) throw refusedRedirect(response, `more than ${MOST_REDIRECTS} in a row`)
      url = nextUrl(response, outgoing.method, url)
    }
  }
}

async function send(settings: Settings, outgoing: Outgoing, url: URL, headers: Headers): Promise<Response> {
  const { method, body, signal } = outgoing
  const init: RequestInit = { ...settings.patience(), ...settings.init, method, headers, signal, redirect: 'manual' }
  if (body !== undefined) init.body = body
  try {
    return await settings.fetch(url, init)
  } catch (cause) {
    if (cause instanceof ConnectionError || isAuthError(cause)) throw cause
    const code = codeOf(cause)
    if (outgoing.asks !== undefined && !notSent.has(code)) throw answerLost(outgoing.asks, cause)
    const hint =
      'See that the server runs, and that the URL names it. In a browser, it must also allow this page (CORS).'
    const message = `${method} ${url.origin}${url.pathname} failed (${code})`
    throw new ConnectionError('unreachable', message, { retryable: true, hint, cause })
  }
}

const NO_RESPONSE = 'The fetch of the options gave no Response: it has to return what the fetch that it calls returns'

/** It says by itself what went wrong and where, and the request was not dealt with. */
function isAuthError(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'AuthError'
}

/** What runtimes say when there was no connection to send anything over. */
const notSent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ConnectionRefused'])

/** Runtimes say "fetch failed" and keep what happened in the cause. */
function codeOf(problem: unknown): string {
  const { code, cause, message } = problem as { code?: unknown; cause?: { code?: unknown }; message?: unknown }
  return [cause?.code, code, message].find((each) => typeof each === 'string') ?? 'no reason given'
}

/** Browsers show of a redirect only that there is one. */
function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || (status > 300 && status < 309 && status !== 304)
}

/** Where a redirect leads, if it keeps the method and stays where the credentials may go. */
function nextUrl(response: Response, method: string, from: URL): URL {
  const { status, headers } = response
  const location = headers.get('location')
  if (location === null) throw refusedRedirect(response, 'it does not say where to')
  if (!URL.canParse(location, from.href)) throw refusedRedirect(response, 'where it leads to is no URL')
  const to = new URL(location, from)
  if (to.origin !== from.origin) throw refusedRedirect(response, `it leads to another origin, ${to.origin}`)
  if (status !== 307 && status !== 308 && method !== 'GET') {
    throw refusedRedirect(response, `${status} would turn ${method} into GET`)
  }
  to.username = to.password = to.hash = ''
  return to
}

function refusedRedirect({ status }: Response, why: string): ConnectionError {
  const hint = 'Connect to the URL that the server wants to be reached by.'
  return new ConnectionError('refused', `A redirect was not followed: ${why}`, { status, hint })
}
