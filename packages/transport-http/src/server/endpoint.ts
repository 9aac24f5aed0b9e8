/** One MCP endpoint as a function from requests to answers: guards first, then the body, then its era. */

import {
  type AuthInfo,
  type Awaitable,
  ConnectionError,
  decode,
  encode,
  errorMessage,
  isPromise,
  type Message,
  Refusal,
  type Responder,
} from '@mcpx/protocol'
import { faultAnswer, jsonAnswer, notAllowed, shuttingDown, unavailable } from './answers.ts'
import { Arrivals } from './arrival-limits.ts'
import { type Cors, createCors } from './cors.ts'
import type { Eras } from './eras/era.ts'
import { acceptsEvents, checkAccept, checkContentType, createGuards, type Guards } from './guards.ts'
import { createHost, type Host, type Inbound } from './host.ts'
import type { HttpAnswer } from './http-answer.ts'
import type { HttpRequest, Read } from './http-request.ts'
import { checkOptions } from './option-checks.ts'
import type { EndpointOptions } from './options.ts'
import { fromResponse } from './web.ts'

export type Send<Sent> = (answer: HttpAnswer) => Sent

export interface Endpoint {
  /** Gives what `send` makes of the answer: that is called where the answer is found, once, and must not throw. */
  answer<Sent>(request: HttpRequest, send: Send<Sent>): Awaitable<Sent>
  /** Ends everything that runs. What comes later is refused with 503. */
  close(): void
  /** Refuses what is new, gives what runs this many ms to end, then closes. Default: 5,000. */
  drain(ms?: number): Promise<void>
}

export function createEndpoint(
  responder: Responder,
  options: EndpointOptions,
  createEras: (host: Host) => Eras,
): Endpoint {
  checkOptions(responder, options)
  return new GuardedEndpoint(responder, options, createEras)
}

class GuardedEndpoint implements Endpoint {
  readonly #host: Host
  readonly #guards: Guards
  readonly #cors: Cors | undefined
  readonly #eras: Eras
  readonly #arrivals: Arrivals
  readonly #fault = (error: unknown) => faultAnswer(error, this.#host.report)
  #isClosing = false
  #isClosed = false

  constructor(responder: Responder, options: EndpointOptions, createEras: (host: Host) => Eras) {
    this.#host = createHost(responder, options)
    this.#guards = createGuards(options)
    this.#cors = createCors(options)
    this.#eras = createEras(this.#host)
    this.#arrivals = new Arrivals(options.requestTimeout ?? Number.POSITIVE_INFINITY)
  }

  answer<Sent>(request: HttpRequest, send: Send<Sent>): Awaitable<Sent> {
    // Whoever may not call at all may still read where to get credentials.
    const open = request.method === 'POST' ? undefined : this.#host.options.authenticate?.metadata?.(request.web)
    if (open !== undefined) return send(fromResponse(open))
    const refused = this.#guards.checkCaller(request)
    if (refused !== undefined) return send(refused)
    const cors = this.#cors
    if (cors === undefined) return this.#handleSafely(request, send)
    if (isPreflight(request)) return send(cors.preflight(request))
    return this.#handleSafely(request, (answer) => send(cors.open(request, answer)))
  }

  close(): void {
    this.#isClosed = true
    const reason = new ConnectionError('closed', 'The server is shutting down')
    this.#host.ended = reason
    this.#eras.close(reason)
    for (const each of [...this.#host.running]) each.abort(reason)
    this.#host.running.stop()
    this.#host.streams.stop()
    this.#arrivals.stop()
  }

  async drain(ms = DRAIN_TIMEOUT): Promise<void> {
    this.#isClosing = true
    this.#eras.endFeeds()
    for (const each of this.#host.running) each.finish()
    await idle(this.#host, ms)
    this.close()
  }

  #handleSafely<Sent>(request: HttpRequest, send: Send<Sent>): Awaitable<Sent> {
    try {
      return this.#handle(request, send)
    } catch (error) {
      return send(this.#fault(error))
    }
  }

  /** What is still to come is answered in any case, as what is there already. */
  #send<Sent>(answer: Awaitable<HttpAnswer>, send: Send<Sent>): Awaitable<Sent> {
    return isPromise(answer) ? answer.then(send, (error) => send(this.#fault(error))) : send(answer)
  }

  #handle<Sent>(request: HttpRequest, send: Send<Sent>): Awaitable<Sent> {
    const { method } = request
    if (this.#isClosed || (this.#isClosing && method === 'GET')) return send(shuttingDown())
    const hasOthers = this.#eras.other !== undefined
    if (method !== 'POST' && !(hasOthers && (method === 'GET' || method === 'DELETE'))) {
      return send(notAllowed(hasOthers ? 'GET, POST, DELETE' : 'POST'))
    }
    const { authenticate } = this.#host.options
    if (authenticate === undefined) return this.#answer(request, undefined, send)
    return this.#authenticated(request, authenticate, send)
  }

  async #authenticated<Sent>(
    request: HttpRequest,
    authenticate: NonNullable<EndpointOptions['authenticate']>,
    send: Send<Sent>,
  ): Promise<Sent> {
    try {
      const auth = await authenticate(request.web)
      // Hono's server for Node replaces the global Response: one that is not made by its name is none of its instances.
      const isKnown = auth === undefined || 'subject' in auth
      return isKnown ? await this.#answer(request, auth, send) : send(fromResponse(auth))
    } catch (error) {
      return send(this.#fault(error))
    }
  }

  #answer<Sent>(request: HttpRequest, auth: AuthInfo | undefined, send: Send<Sent>): Awaitable<Sent> {
    const { responses, strictAccept } = this.#host.options
    const inbound: Inbound = { request, auth, takesEvents: responses !== 'json' && acceptsEvents(request) }
    if (request.method !== 'POST') return this.#send(this.#eras.other?.(inbound) ?? notAllowed('POST'), send)
    const refused = checkContentType(request) ?? checkAccept(request, strictAccept === true) ?? this.#busy()
    return refused === undefined ? this.#post(inbound, send) : send(refused)
  }

  #busy(): HttpAnswer | undefined {
    const { running, limits } = this.#host
    if (running.size + this.#arrivals.size < limits.running) return undefined
    return unavailable(`Too many requests at once: at most ${limits.running} (limits.running)`)
  }

  #post<Sent>(inbound: Inbound, send: Send<Sent>): Awaitable<Sent> {
    const { request } = inbound
    return request.readText(this.#host.limits.body, this.#arrivals, (read) => this.#receiveSafely(read, inbound, send))
  }

  #receiveSafely<Sent>(read: Read, inbound: Inbound, send: Send<Sent>): Awaitable<Sent> {
    let answer: Awaitable<HttpAnswer>
    try {
      answer = this.#receive(read, inbound)
    } catch (error) {
      answer = this.#fault(error)
    }
    return this.#send(answer, send)
  }

  #receive(read: Read, inbound: Inbound): Awaitable<HttpAnswer> {
    if (typeof read !== 'string') return read
    // Of those that came together, others may have begun to run.
    const refused = this.#busy()
    if (refused !== undefined) return refused
    const arrived = decode(read)
    if (arrived instanceof Refusal) {
      return jsonAnswer(encode(arrived.answer ?? errorMessage(undefined, arrived.error)), 400)
    }
    // Answers to what was asked are still let in while the requests that asked are given time to end.
    if (this.#isClosed || (this.#isClosing && asks(arrived)))
      return shuttingDown('id' in arrived ? arrived.id : undefined)
    return this.#eras.post(arrived, inbound)
  }
}

function asks(arrived: Message | (Message | Refusal)[]): boolean {
  const isAsking = (item: Message | Refusal) => !(item instanceof Refusal) && 'method' in item && 'id' in item
  return Array.isArray(arrived) ? arrived.some(isAsking) : isAsking(arrived)
}

function isPreflight(request: HttpRequest): boolean {
  if (request.method !== 'OPTIONS') return false
  return request.header('origin') !== null && request.header('access-control-request-method') !== null
}

/** How long what runs is given to end, in ms. */
const DRAIN_TIMEOUT = 5_000
/** How often a draining endpoint looks whether it is done, in ms. */
const LOOK = 20

async function idle({ running }: Host, ms: number): Promise<void> {
  const until = Date.now() + ms
  while (running.size > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, LOOK))
}
