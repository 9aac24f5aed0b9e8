/** Handles requests of the legacy era: the handshake opens a session, and later requests name it in a header. */

import {
  BATCH_REVISION,
  ErrorCode,
  eraOf,
  errorMessage,
  internalError,
  isRevision,
  type JsonObject,
  type Message,
  type NotificationMessage,
  REVISIONS,
  Refusal,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
  unsupportedVersion,
} from '@mcpx/protocol'
import { SESSION_HEADER, VERSION_HEADER } from '../../headers.ts'
import type { EndpointContext } from '../endpoint-context.ts'
import { HttpExchange } from '../exchange.ts'
import type { HttpRequest, PostBody } from '../http-request.ts'
import { Reply, type ReplyPolicy } from '../reply.ts'
import {
  accepted,
  answerText,
  asError,
  emptyEventsResponse,
  type HttpAnswer,
  jsonResponse,
  methodNotAllowed,
  refusal,
  unavailable,
} from '../responses.ts'
import { batchesNotAllowed, HttpSession, LiveSession, sessionEnded, unreachable, updateTemporary } from './session.ts'
import { Sessions } from './sessions.ts'
import { SseConnections } from './sse.ts'
import { SessionStreams, tooManyStreams } from './streams.ts'

/**
 * HTTP statuses of error codes. All other errors are sent with 200, because legacy clients interpret 404 as the end of
 * the session.
 */
const statuses: Readonly<Record<number, number>> = { [ErrorCode.UnsupportedProtocolVersion]: 400 }

export class LegacyEra {
  readonly #endpoint: EndpointContext
  readonly #sessions: Sessions
  readonly #streams: SessionStreams
  readonly #sse: SseConnections | undefined

  constructor(endpoint: EndpointContext) {
    const { sse } = endpoint.options
    this.#endpoint = endpoint
    this.#sessions = new Sessions(endpoint)
    this.#streams = new SessionStreams(endpoint, this.#sessions)
    this.#sse = sse === undefined ? undefined : new SseConnections(endpoint, sse, this.#sessions)
  }

  async post(posted: PostBody, request: HttpRequest): Promise<HttpAnswer> {
    if (this.#sse?.handles(request)) return this.#sse.post(posted, request)
    if (isInitialize(posted) && request.header(SESSION_HEADER) === null) return this.#open(posted, request)
    const id = requestIdOf(posted)
    const refused = versionProblem(request, id)
    if (refused !== undefined) return refused
    const live = await this.#sessions.find(request, id)
    if (!(live instanceof LiveSession)) return live
    try {
      if (Array.isArray(posted)) return await this.#receiveBatch(posted, live, request)
      return await this.#receive(posted, live, request)
    } finally {
      this.#sessions.release(live)
    }
  }

  /** The number of sessions with a running request or an open stream in this process. */
  get sessions(): number {
    return this.#sessions.size + (this.#sse?.size ?? 0)
  }

  /** Whether messages are still being sent or stored. */
  get isSending(): boolean {
    return this.#sse?.isSending === true || this.#sessions.all.some(({ streams }) => streams.size > 0)
  }

  /** Returns whether a message is addressed to a connection of this era, even if the message itself is modern. */
  isAddressed(request: HttpRequest): boolean {
    return this.#sse?.isAddressed(request) === true
  }

  /** Whether a GET or DELETE belongs to the transport of the first revision. */
  handlesSse(request: HttpRequest): boolean {
    return this.#sse?.handles(request) === true
  }

  async other(request: HttpRequest): Promise<HttpAnswer> {
    if (this.#sse?.handles(request)) return this.#sse.other(request)
    if (!this.#sessions.areStored) return methodNotAllowed('POST')
    const isGet = request.raw.method === 'GET'
    if (isGet && this.#endpoint.options.responses === 'json') return methodNotAllowed('POST, DELETE')
    const refused = versionProblem(request)
    if (refused !== undefined) return refused
    // Some clients request a stream from every server. Without a session, they expect the status 405.
    if (isGet && request.header(SESSION_HEADER) === null) return methodNotAllowed('POST, DELETE')
    const live = await this.#sessions.find(request)
    if (!(live instanceof LiveSession)) return live
    try {
      return isGet ? await this.#streams.get(live, request) : await this.#delete(live)
    } finally {
      this.#sessions.release(live)
    }
  }

  closeStreams(): void {
    this.#sse?.stop()
    this.#streams.close()
  }

  close(reason: Error): void {
    this.closeStreams()
    this.#sse?.close(reason)
    void this.#sessions.close(reason)
  }

  async #delete(live: LiveSession): Promise<HttpAnswer> {
    await this.#sessions.end(live)
    await sessionEnded(this.#endpoint, new HttpSession(live, this.#sessions.update))
    return { body: null, status: 204, headers: {} }
  }

  /** Handles the handshake. It uses a temporary session record, which is stored if the handshake succeeds. */
  async #open(message: RequestMessage, request: HttpRequest): Promise<HttpAnswer> {
    const draft = new LiveSession(crypto.randomUUID(), {})
    const session = new HttpSession(draft, updateTemporary)
    const exchange = new HttpExchange({ request, session, endsWithClient: false })
    const answer = await this.#endpoint.answerRequest(message, exchange)
    if (answer === undefined) return emptyEventsResponse()
    const { areStored } = this.#sessions
    const hasServerStream = areStored && this.#endpoint.options.responses !== 'json'
    const text = answerText(hasServerStream ? answer : withoutChanges(answer), this.#endpoint)
    if ('error' in answer) return jsonResponse(text, statuses[answer.error.code])
    if (!areStored) return jsonResponse(text)
    await this.#sessions.create(draft.id, draft.state, request.auth, request.admission.caller)
    return jsonResponse(text, 200, { [SESSION_HEADER]: draft.id })
  }

  async #receive(message: Message, live: LiveSession, request: HttpRequest): Promise<HttpAnswer> {
    if (!('method' in message)) {
      return (await this.#sessions.answer(live, message)) ? accepted() : notDelivered()
    }
    if (!('id' in message)) {
      await this.#handleNotification(message, live, request)
      return accepted()
    }
    const { sessionRequests, sessionStreams } = this.#endpoint.limits
    const refused = live.refusalOf(message.id, sessionRequests)
    if (refused !== undefined) return refusal(refused.status, refused.error, message.id)
    if (live.readers >= sessionStreams) return tooManyStreams(sessionStreams, message.id)
    const reply = this.#createReply(live, request)
    return await reply.respondWith(this.#answer(message, live, request, reply))
  }

  async #receiveBatch(items: (Message | Refusal)[], live: LiveSession, request: HttpRequest): Promise<HttpAnswer> {
    if (live.state.revision !== BATCH_REVISION) return batchesNotAllowed()
    // Deliver the responses first. If one cannot be delivered, nothing else was done, and the client can send all again.
    for (const item of items) {
      const isResponse = !(item instanceof Refusal) && !('method' in item)
      if (isResponse && !(await this.#sessions.answer(live, item))) return notDelivered()
    }
    const reply = this.#createReply(live, request)
    const answers: (Promise<ResponseMessage | undefined> | ResponseMessage | undefined)[] = []
    for (const item of items) {
      if (item instanceof Refusal) answers.push(item.answer)
      else if (!('method' in item)) continue
      else if (!('id' in item)) await this.#handleNotification(item, live, request)
      else answers.push(this.#answerInBatch(item, live, request, reply))
    }
    if (answers.length === 0) return accepted()
    const all = Promise.all(answers).then((settled) => settled.filter((answer) => answer !== undefined))
    return reply.respondWith(all)
  }

  async #answerInBatch(message: RequestMessage, live: LiveSession, request: HttpRequest, reply: Reply) {
    const refused = live.refusalOf(message.id, this.#endpoint.limits.sessionRequests)
    if (refused !== undefined) return errorMessage(message.id, refused.error)
    try {
      return await this.#answer(message, live, request, reply)
    } catch (problem) {
      // Send no error status: the other requests of the batch have run, and the client would send all of them again.
      this.#endpoint.report(asError(problem))
      return errorMessage(message.id, internalError())
    }
  }

  #createReply(live: LiveSession, request: HttpRequest): Reply {
    const policy: ReplyPolicy = {
      // If the stream is lost, the client cannot respond to requests that were sent on it.
      openStream: (reply) =>
        this.#streams.openPost(live, request, () => live.requests.fail(unreachable('a request'), reply)),
      statuses,
      canClose: this.#streams.canClose(live),
    }
    return new Reply(this.#endpoint, request, policy)
  }

  async #answer(
    message: RequestMessage,
    live: LiveSession,
    request: HttpRequest,
    reply: Reply,
  ): Promise<ResponseMessage | undefined> {
    const session = new HttpSession(live, this.#sessions.update, this.#sessions.areStored ? reply : undefined)
    const exchange = new HttpExchange({ request, session, endsWithClient: false, sink: reply })
    live.running.set(message.id, exchange)
    this.#sessions.hold(live)
    try {
      return await this.#endpoint.answerRequest(message, exchange)
    } finally {
      live.running.delete(message.id)
      this.#sessions.release(live)
    }
  }

  async #handleNotification(message: NotificationMessage, live: LiveSession, request: HttpRequest): Promise<void> {
    if (await this.#sessions.handleNotification(live, message)) return
    const session = new HttpSession(live, this.#sessions.update)
    await this.#endpoint.handleNotification(message, new HttpExchange({ request, session, endsWithClient: false }))
  }
}

/** Removes the change notifications from the capabilities, because they need the GET stream, which is not available. */
function withoutChanges(answer: ResponseMessage): ResponseMessage {
  if (!('result' in answer)) return answer
  const capabilities = { ...(answer.result.capabilities as Record<string, JsonObject | undefined> | undefined) }
  for (const name of ['tools', 'prompts', 'resources']) {
    const capability = capabilities[name]
    if (capability === undefined) continue
    const { listChanged: _, subscribe: __, ...rest } = capability
    capabilities[name] = rest
  }
  return { ...answer, result: { ...answer.result, capabilities } as JsonObject }
}

/** Refuses a response of the client, because the process that waits for the response does not confirm it. */
function notDelivered(): HttpAnswer {
  return unavailable('The process that waits for this response does not reply; send the response again')
}

function versionProblem(request: HttpRequest, id?: RequestId): HttpAnswer | undefined {
  const version = request.header(VERSION_HEADER)
  if (version === null || (isRevision(version) && eraOf(version) === 'legacy')) return undefined
  return refusal(400, unsupportedVersion(version, REVISIONS), id)
}

function isInitialize(posted: PostBody): posted is RequestMessage {
  return !Array.isArray(posted) && 'method' in posted && posted.method === 'initialize' && 'id' in posted
}

/** Returns the id of a request. Returns undefined for other messages and for batches. */
function requestIdOf(posted: PostBody): RequestId | undefined {
  return 'method' in posted && 'id' in posted ? posted.id : undefined
}
