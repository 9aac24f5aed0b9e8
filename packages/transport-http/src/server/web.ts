/** The endpoint's view of requests and answers on runtimes that speak `Request` and `Response`. */

import { type Awaitable, isPromise } from '@mcpx/protocol'
import { notText, readBefore, tooLarge, unreadable } from './answers.ts'
import type { EventStream } from './event-stream.ts'
import { HttpAnswer } from './http-answer.ts'
import { AROUND_HEADER, type Arriving, goneError, type HttpRequest } from './http-request.ts'
import { OutgoingBody } from './outgoing-body.ts'
import { toReadable } from './readable.ts'

/** It says so itself, where it may have been given no execution context that would show it. Node takes long to say. */
let isWorkerd: boolean | undefined

export class WebRequest implements HttpRequest {
  readonly web: Request
  readonly outlive: HttpRequest['outlive']

  constructor(request: Request, outlive?: HttpRequest['outlive']) {
    this.web = request
    this.outlive = outlive
  }

  /** Whether the runtime ends with a request all that was begun for it. */
  get isAlone(): boolean {
    if (this.outlive !== undefined) return true
    isWorkerd ??= globalThis.navigator?.userAgent === 'Cloudflare-Workers'
    return isWorkerd
  }

  get method(): string {
    return this.web.method
  }

  get target(): string {
    const { url } = this.web
    return url.slice(url.indexOf('/', url.indexOf('//') + 2))
  }

  get headerSize(): number {
    let size = 0
    this.web.headers.forEach((value, name) => {
      size += name.length + value.length + AROUND_HEADER
    })
    return size
  }

  header(name: string): string | null {
    const value = this.web.headers.get(name)
    return value === null && name === 'host' ? new URL(this.web.url).host : value
  }

  readText(limit: number, arrivals: Arriving): Awaitable<string | HttpAnswer> {
    const announced = this.web.headers.get('content-length')
    if (announced !== null && Number(announced) > limit) return tooLarge(limit)
    return arrivals.inTime(readWebText(this.web, announced !== null, limit), this.isAlone)
  }

  get hasGone(): boolean {
    return this.web.signal.aborted
  }

  onGone(listener: (reason: Error) => void): () => void {
    const { signal } = this.web
    const heard = () => listener(goneError(signal.reason))
    if (signal.aborted) heard()
    else signal.addEventListener('abort', heard, { once: true })
    return () => signal.removeEventListener('abort', heard)
  }
}

/** A runtime gives no more than was announced: then there is nothing to count. */
export async function readWebText(request: Request, isAnnounced: boolean, limit: number): Promise<string | HttpAnswer> {
  if (request.bodyUsed) return readBefore()
  try {
    const bytes = isAnnounced ? new Uint8Array(await request.arrayBuffer()) : await readCounted(request, limit)
    if (bytes === undefined || bytes.byteLength > limit) return tooLarge(limit)
    return decodeText(bytes)
  } catch {
    return unreadable()
  }
}

/** What runtimes give besides the request, where they end the work of a request when its client goes away. */
export interface Execution {
  waitUntil(work: Promise<unknown>): void
}

export function webRequest(request: Request, execution: Partial<Execution> | undefined): WebRequest {
  if (typeof execution?.waitUntil !== 'function') return new WebRequest(request)
  return new WebRequest(request, (work) => execution.waitUntil?.(Promise.resolve(work)))
}

export function sendWeb(answer: Awaitable<HttpAnswer>): Response | Promise<Response> {
  return isPromise(answer) ? Promise.resolve(answer.then(toResponse)) : toResponse(answer)
}

export function toResponse({ status, headers, body }: HttpAnswer): Response {
  const init = { status, headers }
  if (body === null || typeof body === 'string' || body instanceof ReadableStream) return new Response(body, init)
  return new Response(body.whole ?? bodyOf(body), init)
}

function bodyOf(stream: EventStream): BodyInit {
  const { outgoing } = stream
  if (outgoing === undefined) return toReadable(stream)
  return new OutgoingBody(stream, outgoing, toReadable) as unknown as ReadableStream
}

/** The answer that a hook of the user's gave as a response. */
export function fromResponse({ status, headers, body }: Response): HttpAnswer {
  return new HttpAnswer(status, headers, body as ReadableStream<Uint8Array<ArrayBuffer>> | null)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

export function decodeText(bytes: Uint8Array): string | HttpAnswer {
  try {
    return utf8.decode(bytes)
  } catch {
    return notText()
  }
}

async function readCounted(request: Request, limit: number): Promise<Uint8Array | undefined> {
  const reader = request.body?.getReader()
  if (reader === undefined) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return chunks.length === 1 ? chunks[0] : joined(chunks, length)
    length += value.byteLength
    if (length > limit) {
      await reader.cancel().catch(() => {})
      return undefined
    }
    chunks.push(value)
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}
