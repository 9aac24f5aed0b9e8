/** Requests to authorization servers: only to permitted URLs, with limits, and with errors that name the step. */

import { AuthError, type AuthStep } from '../auth-error.ts'
import type { Fetch } from '../bounded-fetch.ts'
import { boundedFetch, type FetchError, type FetchLimits, readJson, type SendRequest } from '../bounded-fetch.ts'
import type { CommonOptions } from './create-login.ts'
import { createUrlPolicy, type UrlPolicy, type UrlPolicyOptions } from './url-policy.ts'

export type ConnectionOptions = UrlPolicyOptions & Pick<CommonOptions, 'timeout' | 'maxResponseSize'>

/** Sends requests to authorization servers with the `fetch` of one caller. */
export interface Connection {
  readonly urls: UrlPolicy
  /** Returns a function that sends a request of a step, within the limits. It rejects with `AuthError`. */
  sender(step: AuthStep): SendRequest
}

export type ConnectionFactory = (fetch: Fetch) => Connection

/** The longest wait for a response, in ms. */
const DEFAULT_TIMEOUT = 10_000
/** The largest response, in bytes. */
const DEFAULT_MAX_RESPONSE_SIZE = 131_072
const MAX_REDIRECTS = 3

export function createConnectionFactory(options: ConnectionOptions): ConnectionFactory {
  const urls = createUrlPolicy(options)
  const limits: FetchLimits = {
    timeout: positiveInteger('timeout', options.timeout ?? DEFAULT_TIMEOUT),
    maxResponseSize: positiveInteger('maxResponseSize', options.maxResponseSize ?? DEFAULT_MAX_RESPONSE_SIZE),
  }
  return (fetch) => ({ urls, sender: (step) => createSender(fetch, step, limits) })
}

export function positiveInteger(option: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value
  throw new RangeError(`${option}: expected an integer from 1, got ${value}`)
}

/** Requests a JSON document. The body is undefined if it is not JSON. */
export async function getJson(connection: Connection, url: URL): Promise<{ status: number; body: unknown }> {
  const send = connection.sender('discovery')
  const response = await send(url.href, { method: 'GET', headers: { accept: 'application/json' } })
  return { status: response.status, body: await readJson(response) }
}

function createSender(fetch: Fetch, step: AuthStep, limits: FetchLimits): SendRequest {
  return async (url, init) => {
    try {
      return await boundedFetch((first, request) => followRedirects(fetch, step, first, request), url, init, limits)
    } catch (error) {
      throw error instanceof AuthError ? error : requestError(step, url, error as FetchError, limits)
    }
  }
}

function requestError(step: AuthStep, url: string, error: FetchError, limits: FetchLimits): AuthError {
  switch (error.reason) {
    case 'timeout': {
      const hint = 'Check that the server runs, or pass a longer timeout.'
      return new AuthError(`No response within ${limits.timeout} ms`, { step, url, hint })
    }
    case 'too_large': {
      const hint = 'Raise maxResponseSize if such a large response is expected.'
      return new AuthError(`The response is over ${limits.maxResponseSize} bytes`, { step, url, hint })
    }
    case 'unreachable': {
      const hint = 'Check that the server runs. In a browser, it must also allow this page (CORS).'
      return new AuthError('The request failed without a response', { step, url, hint, cause: error.cause })
    }
  }
}

/** Follows redirects of GET requests within one origin. Other requests are not redirected, because they contain secrets. */
async function followRedirects(fetch: Fetch, step: AuthStep, first: string, init: RequestInit): Promise<Response> {
  let url = new URL(first)
  for (let redirects = 0; ; redirects++) {
    const response = await fetch(url, init)
    if (!isRedirect(response)) return response
    await response.body?.cancel().catch(() => {})
    const target = redirectTarget(response, url, init.method ?? 'GET', redirects)
    if (typeof target === 'string') {
      const hint = 'The server must respond at the URL that it publishes.'
      throw new AuthError(`A redirect was not followed: ${target}`, { step, url, hint })
    }
    url = target
  }
}

function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || (status > 300 && status < 309 && status !== 304)
}

/** Returns the next URL, or the reason why the redirect is not followed. */
function redirectTarget({ headers }: Response, from: URL, method: string, redirects: number): URL | string {
  if (method !== 'GET') return 'secrets are sent to the named URL only'
  const location = headers.get('location')
  if (location === null || !URL.canParse(location, from.href)) return 'its Location header is missing or not a URL'
  const target = new URL(location, from)
  if (target.origin !== from.origin) return `it leads to another origin, ${target.origin}`
  return redirects < MAX_REDIRECTS ? target : `more than ${MAX_REDIRECTS} in a row`
}
