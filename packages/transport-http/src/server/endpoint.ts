/** One MCP endpoint behind its guards: reads the body, chooses the era, and ends everything when it is closed. */

import { ConnectionError, decode, encode, errorMessage, type Message, Refusal, type Responder } from '@mcpx/protocol'
import type { Context } from 'hono'
import { readBody } from './body.ts'
import { EndpointContext } from './endpoint-context.ts'
import type { HttpEra, Posted } from './era.ts'
import { acceptsEvents, checkPostHeaders, type EndpointVariables } from './guards.ts'
import { bindingsOf, HttpRequest } from './http-request.ts'
import { LegacyEra } from './legacy/handler.ts'
import { isModern, ModernEra } from './modern.ts'
import type { EndpointOptions } from './options.ts'
import { faultResponse, jsonResponse, methodNotAllowed, shuttingDown, unavailable } from './responses.ts'

/** The time that running requests have to end, in ms. */
const DRAIN_TIMEOUT = 5_000
/** The interval at which a draining endpoint looks whether it is done, in ms. */
const DRAIN_POLL = 20

export class Endpoint {
  readonly #context: EndpointContext
  readonly #modern: HttpEra
  /** Absent where only the modern revisions are served. */
  readonly #legacy: HttpEra | undefined
  /** The number of requests whose body is being read. */
  #arriving = 0
  #isClosing = false
  /** Whether requests may come with an execution context. */
  #mayHaveExecution = true

  constructor(responder: Responder, options: EndpointOptions) {
    this.#context = new EndpointContext(responder, options)
    this.#modern = new ModernEra(this.#context)
    const hasLegacy = options.legacy !== false && responder.legacy !== false
    this.#legacy = hasLegacy ? new LegacyEra(this.#context) : undefined
  }

  async handle(context: Context<{ Variables: Partial<EndpointVariables> }>): Promise<Response> {
    const { method, raw } = context.req
    const { responses, strictAccept } = this.#context.options
    const isOther = method === 'GET' || method === 'DELETE'
    if (this.#context.closedReason !== undefined || (this.#isClosing && method === 'GET')) return shuttingDown()
    if (method !== 'POST' && !(isOther && this.#legacy)) {
      return methodNotAllowed(this.#legacy ? 'GET, POST, DELETE' : 'POST')
    }
    const canStream = responses !== 'json' && acceptsEvents(raw)
    const request = new HttpRequest(context, context.get('auth'), canStream, this.#waitUntilOf(context))
    if (isOther) return this.#eraOf(undefined, request).other(request)
    return checkPostHeaders(raw, strictAccept === true) ?? this.#post(request)
  }

  fault(error: unknown): Response {
    return faultResponse(error, this.#context.report)
  }

  close(): void {
    const reason = new ConnectionError('closed', 'The server is shutting down')
    this.#context.closedReason = reason
    this.#legacy?.close(reason)
    for (const exchange of this.#context.running.all()) exchange.abort(reason)
  }

  async drain(ms = DRAIN_TIMEOUT): Promise<void> {
    const { running } = this.#context
    this.#isClosing = true
    this.#legacy?.closeStreams()
    for (const exchange of running.all()) exchange.finish()
    const end = Date.now() + ms
    while (running.size > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL))
    this.close()
  }

  /** The one place where the era is chosen. */
  #eraOf(posted: Posted | undefined, request: HttpRequest): HttpEra {
    return this.#legacy === undefined || isModern(posted, request) ? this.#modern : this.#legacy
  }

  async #post(request: HttpRequest): Promise<Response> {
    const { running, limits, closedReason } = this.#context
    if (running.size + this.#arriving >= limits.running) {
      return unavailable(`Too many requests at once: at most ${limits.running} (limits.running)`)
    }
    this.#arriving += 1
    const body = await readBody(request, limits.body)
    this.#arriving -= 1
    if (typeof body !== 'string') return body
    const posted = decode(body)
    if (posted instanceof Refusal) {
      return jsonResponse(encode(posted.answer ?? errorMessage(undefined, posted.error)), 400)
    }
    // Answers to requests of the server are accepted while those that sent them have time to end.
    if (closedReason !== undefined || this.#context.closedReason !== undefined || (this.#isClosing && asks(posted))) {
      return shuttingDown('id' in posted ? posted.id : undefined)
    }
    return this.#eraOf(posted, request).post(posted, request)
  }

  /** Hono throws where a runtime has no execution context. The first request shows whether this one has. */
  #waitUntilOf(context: Context): HttpRequest['waitUntil'] {
    if (!this.#mayHaveExecution || bindingsOf(context).incoming !== undefined) return undefined
    try {
      const { executionCtx } = context
      if (typeof executionCtx.waitUntil === 'function') return (work) => executionCtx.waitUntil(work)
    } catch {
      this.#mayHaveExecution = false
    }
    return undefined
  }
}

function asks(posted: Posted): boolean {
  const isRequest = (item: Message | Refusal) => !(item instanceof Refusal) && 'method' in item && 'id' in item
  return Array.isArray(posted) ? posted.some(isRequest) : isRequest(posted)
}
