/** Asks an authorization server for JSON, within bounds of size and time, and follows nobody elsewhere. */

import type { AuthError, AuthStep } from '../auth-error.ts'
import { failure } from './failure.ts'
import type { Fetch } from './fetch.ts'

export interface JsonRequest {
  readonly step: AuthStep
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
}

export interface JsonResponse {
  readonly status: number
  readonly headers: Headers
  /** What the body says; nothing where it is no JSON. */
  readonly body: unknown
}

export interface JsonBounds {
  /** In ms, body included. */
  readonly timeout: number
  /** In bytes. */
  readonly maxResponseSize: number
}

/** How many redirects a document may meet. */
const MOST_REDIRECTS = 3

/** Resolves to an answer, whatever its status. Rejects with `AuthError` where there is none that may be used. */
export async function requestJson(fetch: Fetch, request: JsonRequest, bounds: JsonBounds): Promise<JsonResponse> {
  const signal = AbortSignal.timeout(bounds.timeout)
  let { url } = request
  for (let redirects = 0; ; redirects++) {
    const response = await send(fetch, { ...request, url }, signal, bounds)
    if (!isRedirect(response)) {
      const text = await readText(response, { ...request, url }, signal, bounds)
      return { status: response.status, headers: response.headers, body: parse(text) }
    }
    await response.body?.cancel().catch(() => {})
    url = nextUrl(response, request, url, redirects)
  }
}

async function send(fetch: Fetch, request: JsonRequest, signal: AbortSignal, bounds: JsonBounds): Promise<Response> {
  const { method, url, headers, body } = request
  const init: RequestInit = {
    method,
    headers: { accept: 'application/json', ...headers },
    redirect: 'manual',
    signal,
  }
  if (body !== undefined) init.body = body
  try {
    return await fetch(url, init)
  } catch (cause) {
    throw lost(request, signal, bounds, cause)
  }
}

async function readText(
  response: Response,
  request: JsonRequest,
  signal: AbortSignal,
  bounds: JsonBounds,
): Promise<string> {
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  let text = ''
  let size = 0
  try {
    for (;;) {
      const chunk = await reader?.read()
      if (chunk?.value === undefined) return text + decoder.decode()
      size += chunk.value.byteLength
      if (size > bounds.maxResponseSize) break
      text += decoder.decode(chunk.value, { stream: true })
    }
  } catch (cause) {
    throw lost(request, signal, bounds, cause)
  }
  await reader?.cancel().catch(() => {})
  const hint = 'No such document is this large; raise maxResponseSize if it is meant.'
  throw failure(request.step, `The answer is over ${bounds.maxResponseSize} bytes`, { url: request.url, hint })
}

function lost({ step, url }: JsonRequest, signal: AbortSignal, { timeout }: JsonBounds, cause: unknown): AuthError {
  if (signal.aborted) {
    const hint = 'See whether the server is up, or pass a longer timeout.'
    return failure(step, `No answer within ${timeout} ms`, { url, hint })
  }
  const hint = 'See that the server runs. In a browser, it must also allow this page (CORS).'
  return failure(step, 'No answer came', { url, hint, cause })
}

/** Browsers show of a redirect only that there is one. */
function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || (status > 300 && status < 309 && status !== 304)
}

function nextUrl(response: Response, { step, method }: JsonRequest, from: URL, redirects: number): URL {
  const location = response.headers.get('location')
  const to = location !== null && URL.canParse(location, from.href) ? new URL(location, from) : undefined
  const refuse = (why: string) =>
    failure(step, `A redirect was not followed: ${why}`, {
      url: from,
      hint: 'The server must answer at the URL that it gives out.',
    })
  if (method !== 'GET') throw refuse('secrets go nowhere but to the URL that was named')
  if (to === undefined) throw refuse('it does not say where to')
  if (to.origin !== from.origin) throw refuse(`it leads to another origin, ${to.origin}`)
  if (redirects >= MOST_REDIRECTS) throw refuse(`more than ${MOST_REDIRECTS} in a row`)
  return to
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a value of a peer is an object with members. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
