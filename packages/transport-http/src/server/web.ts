/** The endpoint's view of requests and answers on runtimes that speak `Request` and `Response`. */

import { type Awaitable, isPromise } from '@mcpx/protocol'
import { notText, readBefore, tooLarge, unreadable } from './answers.ts'
import type { EventStream } from './event-stream.ts'
import { HttpAnswer } from './http-answer.ts'
import { AROUND_HEADER, type Arriving, type GoOn, goneError, type HttpRequest, type Read } from './http-request.ts'
import { toReadable } from './readable.ts'
import { remembered } from './remembered.ts'

/** It says so itself, where it may have been given no execution context that would show it. Node takes long to say. */
let isWorkerd: boolean | undefined

export class WebRequest implements HttpRequest {
  readonly outlive: HttpRequest['outlive']
  readonly #request: Request
  /** Names and values in turn: to look for each header in the request costs more than to read all of them once. */
  #headers: readonly string[] | undefined
  #headerSize = 0

  constructor(request: Request, outlive?: HttpRequest['outlive']) {
    this.#request = request
    this.outlive = outlive
  }

  /** Who is given the request may change its headers: then they are read once more. */
  get web(): Request {
    this.#headers = undefined
    return this.#request
  }

  /** Whether the runtime ends with a request all that was begun for it. */
  get isAlone(): boolean {
    if (this.outlive !== undefined) return true
    isWorkerd ??= globalThis.navigator?.userAgent === 'Cloudflare-Workers'
    return isWorkerd
  }

  get method(): string {
    return this.#request.method
  }

  get target(): string {
    const { url } = this.#request
    return url.slice(url.indexOf('/', url.indexOf('//') + 2))
  }

  get headerSize(): number {
    this.#listed()
    return this.#headerSize
  }

  header(name: string): string | null {
    const headers = this.#listed()
    for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1] as string
    return name === 'host' ? hostOf(this.#request.url) : null
  }

  readText<Done>(limit: number, arrivals: Arriving, goOn: GoOn<Done>): Awaitable<Done> {
    const announced = this.header('content-length')
    if (announced !== null && Number(announced) > limit) return goOn(tooLarge(limit))
    return arrivals.inTime(readWebText(this.#request, announced !== null, limit), this.isAlone, goOn)
  }

  #listed(): readonly string[] {
    if (this.#headers !== undefined) return this.#headers
    const all: string[] = []
    let size = 0
    this.#request.headers.forEach((value, name) => {
      all.push(name, value)
      size += name.length + value.length + AROUND_HEADER
    })
    this.#headers = all
    this.#headerSize = size
    return all
  }

  get hasGone(): boolean {
    return this.#request.signal.aborted
  }

  onGone(listener: (reason: Error) => void): () => void {
    const { signal } = this.#request
    const heard = () => listener(goneError(signal.reason))
    if (signal.aborted) heard()
    else signal.addEventListener('abort', heard, { once: true })
    return () => signal.removeEventListener('abort', heard)
  }
}

const hostOf = remembered((url) => new URL(url).host)

/** A runtime gives no more than was announced: then there is nothing to count. */
export function readWebText(request: Request, isAnnounced: boolean, limit: number): Promise<Read> {
  if (request.bodyUsed) return Promise.resolve(readBefore())
  return isAnnounced ? readAnnounced(request, limit) : readCounted(request, limit)
}

async function readAnnounced(request: Request, limit: number): Promise<Read> {
  try {
    const bytes = new Uint8Array(await request.arrayBuffer())
    return bytes.byteLength > limit ? tooLarge(limit) : decodeText(bytes)
  } catch {
    return unreadable()
  }
}

async function readCounted(request: Request, limit: number): Promise<Read> {
  try {
    const reader = request.body?.getReader()
    if (reader === undefined) return ''
    const chunks: Uint8Array[] = []
    let length = 0
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return decodeText(joined(chunks, length))
      length += value.byteLength
      if (length > limit) {
        await reader.cancel().catch(() => {})
        return tooLarge(limit)
      }
      chunks.push(value)
    }
  } catch {
    return unreadable()
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = chunks
  if (chunks.length === 1 && first !== undefined) return first
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

/** What runtimes give besides the request, where they end the work of a request when its client goes away. */
export interface Execution {
  waitUntil(work: Promise<unknown>): void
}

export function webRequest(request: Request, execution: Partial<Execution> | undefined): WebRequest {
  if (typeof execution?.waitUntil !== 'function') return new WebRequest(request)
  return new WebRequest(request, (work) => execution.waitUntil?.(Promise.resolve(work)))
}

export type Respond = (answer: HttpAnswer) => Response

/** How requests and answers of the web are met. */
export interface Runtime {
  viewOf(request: Request, env: unknown, execution: Partial<Execution> | undefined): HttpRequest
  /** What makes the response to a request. */
  respondTo(request: HttpRequest): Respond
}

const respondToWeb: Respond = (answer) => toResponse(answer, toReadable)

/** By what the web gives, and nothing else. */
export const onWeb: Runtime = {
  viewOf: (request, _env, execution) => webRequest(request, execution),
  respondTo: () => respondToWeb,
}

interface Answering {
  answer<Sent>(request: HttpRequest, send: (answer: HttpAnswer) => Sent): Awaitable<Sent>
}

/** An endpoint as a function of the web. */
export function answerWeb(
  endpoint: Answering,
  runtime: Runtime,
): (request: HttpRequest) => Response | Promise<Response> {
  return (request) => {
    const sent = endpoint.answer(request, runtime.respondTo(request))
    return isPromise(sent) ? Promise.resolve(sent) : sent
  }
}

export function toResponse(
  { status, headers, body }: HttpAnswer,
  bodyOf: (stream: EventStream) => ReadableStream<Uint8Array<ArrayBuffer>>,
): Response {
  const init = { status, headers }
  if (body === null || typeof body === 'string' || body instanceof ReadableStream) return new Response(body, init)
  return new Response(body.whole ?? bodyOf(body), init)
}

/** The answer that a hook of the user's gave as a response. */
export function fromResponse({ status, headers, body }: Response): HttpAnswer {
  return new HttpAnswer(status, headers, body as ReadableStream<Uint8Array<ArrayBuffer>> | null)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

export function decodeText(bytes: Uint8Array): Read {
  try {
    return utf8.decode(bytes)
  } catch {
    return notText()
  }
}
