/** Handles the requests of one MCP endpoint after its guards: reads the body, chooses the era, and closes everything. */

import {
  ConnectionError,
  decode,
  encode,
  errorMessage,
  estimateBytes,
  isRequest,
  Refusal,
  type Responder,
  serverInfoOf,
} from '@mcpx/protocol'
import type { Context } from 'hono'
import type { SharedLimits } from './admission.ts'
import { readBody } from './body.ts'
import { EndpointContext } from './endpoint-context.ts'
import { HttpExchange } from './exchange.ts'
import { checkPostHeaders } from './guards.ts'
import { bindingsOf, type EndpointVariables, HttpRequest, type PostBody, type WaitUntil } from './http-request.ts'
import { LegacyEra } from './legacy/handler.ts'
import { isModern, namesModern, postModern, refuseLegacy } from './modern.ts'
import type { EndpointOptions } from './options.ts'
import { infoRequest, isVisit, welcomePage } from './page.ts'
import {
  faultResponse,
  type HttpAnswer,
  jsonResponse,
  methodNotAllowed,
  shuttingDown,
  tooMuchUnread,
  toResponse,
} from './responses.ts'

/** Default time for running requests to finish, in ms. */
const DRAIN_TIMEOUT = 5_000
/** How often a draining endpoint checks whether all requests have ended, in ms. */
const DRAIN_POLL = 20

export class Endpoint {
  readonly #context: EndpointContext
  /** The legacy era. Undefined if only modern revisions are served. */
  readonly #legacy: LegacyEra | undefined
  readonly #stopObserving: (() => void) | undefined
  #isClosing = false
  /** Whether requests may have an execution context. */
  #mayHaveExecution = true

  constructor(responder: Responder, options: EndpointOptions) {
    this.#context = new EndpointContext(responder, options)
    const hasLegacy = options.legacy !== false && responder.legacy !== false
    this.#legacy = hasLegacy ? new LegacyEra(this.#context) : undefined
    this.#stopObserving = responder.telemetry?.onServe?.(() => ({
      requests: this.#context.running.size,
      sessions: this.#legacy?.sessions ?? 0,
      streams: this.#context.openStreams,
    }))
  }

  /** The limits that callers share. */
  get limits(): SharedLimits {
    return this.#context.shared
  }

  /** Answers a request that the guards have admitted. */
  async handle(context: Context<{ Variables: EndpointVariables }>): Promise<Response> {
    const admission = context.get('admission')
    // Middleware may respond before the endpoint does, for example after a timeout.
    admission.hold()
    try {
      const isOnNode = bindingsOf(context).incoming !== undefined
      const waitUntil = isOnNode ? undefined : this.#waitUntilOf(context)
      const request = new HttpRequest(context, this.#context.options.responses !== 'json', waitUntil)
      const isPost = context.req.method === 'POST'
      const answer = isPost ? await this.#post(context, request) : await this.#answerOther(request)
      this.#context.watchResponse(request, answer)
      return toResponse(context, answer)
    } finally {
      admission.release()
    }
  }

  async #answerOther(request: HttpRequest): Promise<HttpAnswer> {
    const { raw } = request
    if (this.#context.closedReason !== undefined || (this.#isClosing && raw.method === 'GET')) return shuttingDown()
    const isPage = this.#context.options.page !== false && isVisit(raw) && this.#legacy?.handlesSse(request) !== true
    if (isPage) return this.#welcome(request)
    if (this.#legacy === undefined) return methodNotAllowed('POST')
    if (raw.method !== 'GET' && raw.method !== 'DELETE') return methodNotAllowed('GET, POST, DELETE')
    if (namesModern(request)) return methodNotAllowed('POST')
    return this.#legacy.other(request)
  }

  /** Requests the name of the server, through its middleware and for the authenticated caller. */
  async #welcome(request: HttpRequest): Promise<HttpAnswer> {
    const exchange = new HttpExchange({ request, endsWithClient: true })
    const answer = await this.#context.answerRequest(infoRequest(), exchange)
    const info = answer !== undefined && 'result' in answer ? serverInfoOf(answer.result) : undefined
    return welcomePage(request.raw, info)
  }

  fault(error: unknown): HttpAnswer {
    return faultResponse(error, this.#context.report)
  }

  close(): void {
    const reason = new ConnectionError('closed', 'The server is shutting down')
    this.#context.closedReason = reason
    this.#legacy?.close(reason)
    this.#stopObserving?.()
    for (const exchange of this.#context.running.all()) exchange.abort(reason)
  }

  async drain(ms = DRAIN_TIMEOUT): Promise<void> {
    const { running } = this.#context
    this.#isClosing = true
    this.#legacy?.closeStreams()
    for (const exchange of running.all()) exchange.finish()
    const end = Date.now() + ms
    // Results of finished calls may still have to be stored for disconnected clients, or wait for clients of HTTP+SSE.
    const isBusy = () => running.size > 0 || this.#legacy?.isSending === true
    while (isBusy() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL))
    this.close()
  }

  async #post(context: Context, request: HttpRequest): Promise<HttpAnswer> {
    const { bodyTimeout, closedReason, limits, options, unread } = this.#context
    const { admission } = request
    if (closedReason !== undefined) return shuttingDown()
    const problem = checkPostHeaders(request.raw, options.strictAccept === true)
    if (problem !== undefined) return problem
    const body = await readBody(context, limits.body, bodyTimeout, admission)
    if (typeof body !== 'string') return body
    if (unread.isFull(admission.caller)) return tooMuchUnread()
    const refused = admission.setBytes(estimateBytes(body))
    if (refused !== undefined) return refused
    const posted = decode(body)
    this.#context.onMessage?.('in', posted)
    if (posted instanceof Refusal) {
      return jsonResponse(encode(posted.answer ?? errorMessage(undefined, posted.error)), 400)
    }
    // While draining, responses of clients are still accepted, because running requests may wait for them.
    if (this.#context.closedReason !== undefined || (this.#isClosing && hasRequest(posted))) {
      return shuttingDown('id' in posted ? posted.id : undefined)
    }
    // Only this place chooses the era.
    if (isModern(posted, request) && !this.#legacy?.isAddressed(request))
      return await postModern(this.#context, posted, request)
    if (this.#legacy !== undefined) return await this.#legacy.post(posted, request)
    const isSingle = !Array.isArray(posted) && isRequest(posted)
    return isSingle ? refuseLegacy(posted, request) : postModern(this.#context, posted, request)
  }

  /**
   * Returns `waitUntil` of the runtime, if it has one. Hono throws if the runtime has no execution context, so after the
   * first throw it is not read again.
   */
  #waitUntilOf(context: Context): WaitUntil {
    if (!this.#mayHaveExecution) return undefined
    try {
      const { executionCtx } = context
      if (typeof executionCtx.waitUntil === 'function') return (work) => executionCtx.waitUntil(work)
    } catch {
      this.#mayHaveExecution = false
    }
    return undefined
  }
}

function hasRequest(posted: PostBody): boolean {
  return [posted].flat().some((item) => !(item instanceof Refusal) && isRequest(item))
}
