/** A `fetch` with limits on the time and the size of a response, for servers that are not trusted. */

import { abortable, LONGEST_TIMER } from '@mcpx/protocol'
import { AuthError } from './auth-error.ts'

/** A function with the signature of the global `fetch`. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Sends one request. */
export type SendRequest = (url: string, init: RequestInit) => Promise<Response>

export interface FetchLimits {
  /** How long the response may take, including its body, in ms. */
  readonly timeout: number
  /** The largest body, in bytes. */
  readonly maxResponseSize: number
}

/** The error of a request without a usable response. */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  readonly reason: 'timeout' | 'too_large' | 'unreachable'

  constructor(reason: FetchError['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/**
 * Sends a request, follows no redirect, and reads the whole body. Rejects with `FetchError`, even if `fetch` ignores
 * its signal. An `AuthError` of `fetch` is rethrown.
 */
export async function boundedFetch(
  fetch: SendRequest,
  url: string,
  init: RequestInit,
  { timeout, maxResponseSize }: FetchLimits,
): Promise<Response> {
  const controller = new AbortController()
  const fail = () => controller.abort(new FetchError('timeout', `no response within ${timeout} ms`))
  const timer = setTimeout(fail, Math.min(timeout, LONGEST_TIMER))
  const send = async () => {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: controller.signal })
    return withWholeBody(response, maxResponseSize)
  }
  try {
    return await abortable(send(), controller.signal)
  } catch (cause) {
    if (cause instanceof FetchError || cause instanceof AuthError) throw cause
    throw new FetchError('unreachable', 'no response', { cause })
  } finally {
    clearTimeout(timer)
    controller.abort()
  }
}

async function withWholeBody(response: Response, maxResponseSize: number): Promise<Response> {
  // Browsers hide all other properties of a redirect.
  if (response.type === 'opaqueredirect') return response
  const { status, headers } = response
  const text = await readText(response, maxResponseSize)
  return new Response(text === '' ? null : text, { status, headers })
}

async function readText({ body, headers }: Response, maxResponseSize: number): Promise<string> {
  const tooLarge = new FetchError('too_large', `the response is larger than ${maxResponseSize} bytes`)
  if (Number(headers.get('content-length') ?? 0) > maxResponseSize) {
    await body?.cancel().catch(() => {})
    throw tooLarge
  }
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for (;;) {
    const chunk = await reader?.read()
    if (chunk?.value === undefined) return text + decoder.decode()
    size += chunk.value.byteLength
    if (size > maxResponseSize) {
      await reader?.cancel().catch(() => {})
      throw tooLarge
    }
    text += decoder.decode(chunk.value, { stream: true })
  }
}

/** Returns the JSON value of a body, or undefined if it is not JSON. */
export async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return undefined
  }
}

/**
 * Returns the `authorization` header of HTTP Basic authentication (RFC 6749, section 2.3.1). The id and the secret are
 * encoded like form fields, except that `-`, `_` and `.` stay as they are, because many servers do not decode them.
 */
export function basicAuthorization(clientId: string, secret: string): string {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
  return `Basic ${btoa(`${encode(clientId)}:${encode(secret)}`)}`
}
