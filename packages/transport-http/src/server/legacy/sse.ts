/**
 * The HTTP+SSE transport of revision 2024-11-05. A GET opens one stream for all messages of the server. The first event
 * contains the URL for the POSTs of the client. The session ends with the stream. A POST that reaches another process is
 * forwarded to the process of the stream.
 */

import {
  type AuthInfo,
  BATCH_REVISION,
  ConnectionError,
  claimsModern,
  errorMessage,
  invalidRequest,
  isRequest,
  type Message,
  methodNotFound,
  type NotificationMessage,
  principalOf,
  Refusal,
  type RequestMessage,
  type ResponseMessage,
} from '@mcpx/protocol'
import { encodeEvent } from '@mcpx/sse/encode'
import { Admission } from '../admission.ts'
import type { EndpointContext } from '../endpoint-context.ts'
import { EventStream, type StreamOwner } from '../event-stream.ts'
import { HttpExchange, type MessageSink } from '../exchange.ts'
import { type HttpRequest, type PostBody, pathOf, withoutLastSlash } from '../http-request.ts'
import { readPath } from '../options.ts'
import {
  accepted,
  answerText,
  eventsNotAccepted,
  type HttpAnswer,
  messageText,
  methodNotAllowed,
  refusal,
  shuttingDown,
  tooMuchUnread,
  unavailable,
} from '../responses.ts'
import {
  batchesNotAllowed,
  HttpSession,
  LiveSession,
  sessionEnded,
  tooManyRequests,
  updateTemporary,
} from './session.ts'
import type { ForwardedPost, Sessions } from './sessions.ts'

const SESSION_PARAMETER = 'sessionId'

export class SseConnections {
  readonly #endpoint: EndpointContext
  readonly #path: string
  readonly #sessions: Sessions
  readonly #open = new Map<string, SseConnection>()
  #isStopped = false

  constructor(endpoint: EndpointContext, path: string, sessions: Sessions) {
    this.#endpoint = endpoint
    this.#path = withoutLastSlash(readPath('sse', path, '/sse'))
    this.#sessions = sessions
    sessions.onForwarded = (id, post) => this.#receiveForwarded(id, post)
  }

  /** The number of open connections. */
  get size(): number {
    return this.#open.size
  }

  /** Whether answers wait for their clients. */
  get isSending(): boolean {
    return [...this.#open.values()].some(({ unsent }) => unsent > 0)
  }

  handles({ raw }: HttpRequest): boolean {
    return withoutLastSlash(pathOf(raw.url)).endsWith(this.#path)
  }

  /**
   * Returns whether a message of any era is addressed to a connection of this transport. The connection may be closed.
   */
  isAddressed(request: HttpRequest): boolean {
    return this.handles(request) && sessionIdIn(request) !== null
  }

  async post(posted: PostBody, request: HttpRequest): Promise<HttpAnswer> {
    const id = sessionIdIn(request)
    // Clients that try the newer transports first open the stream when they receive this status.
    if (id === null) return methodNotAllowed('GET')
    const connection = this.#find(id, request.auth)
    const post = toForward(posted, request)
    if (connection !== undefined) return connection.receive(post, request)
    return (await this.#sessions.forward(id, post)) ?? unknownConnection()
  }

  async other(request: HttpRequest): Promise<HttpAnswer> {
    if (request.raw.method !== 'GET') return methodNotAllowed('GET, POST')
    if (!request.acceptsEvents) return eventsNotAccepted()
    await this.#sessions.connect()
    if (this.#isStopped) return shuttingDown()
    const most = this.#endpoint.limits.running
    if (this.#open.size >= most) return unavailable(`Too many connections: at most ${most} (limits.running)`)
    const { processId } = this.#sessions
    const id = processId === undefined ? crypto.randomUUID() : `${processId}-${crypto.randomUUID()}`
    const connection = new SseConnection(this.#endpoint, request, id, () => this.#open.delete(id))
    this.#open.set(id, connection)
    return connection.stream.toResponse()
  }

  /** Stops accepting new connections. */
  stop(): void {
    this.#isStopped = true
  }

  close(reason: Error): void {
    for (const connection of [...this.#open.values()]) connection.close(reason)
  }

  /** Accepts a POST that reached another process. Its requests count in the limits of this process, too. */
  #receiveForwarded(id: string, post: ForwardedPost): HttpAnswer {
    const connection = this.#find(id, post.auth)
    if (connection === undefined) return unknownConnection()
    // Responses and notifications are always accepted, because running requests may wait for them.
    if (requestsOf(post).length === 0) return connection.receive(post)
    if (this.#isStopped) return shuttingDown()
    if (this.#endpoint.unread.isFull(post.caller)) return tooMuchUnread()
    const admission = new Admission(this.#endpoint.shared, 'running', post.caller)
    const refused = admission.enter()
    if (refused !== undefined) return refused
    const answer = admission.setBytes(post.bytes) ?? connection.receive(post, undefined, admission)
    admission.release()
    return answer
  }

  /** Returns a connection of this process, if it belongs to the caller. */
  #find(id: string, auth: AuthInfo | undefined): SseConnection | undefined {
    const connection = this.#open.get(id)
    return connection?.principal === principalOf(auth) ? connection : undefined
  }
}

function toForward(posted: PostBody, { auth, admission }: HttpRequest): ForwardedPost {
  const items = [posted].flat().map((item) => (item instanceof Refusal ? { answer: item.answer } : { message: item }))
  return { items, isBatch: Array.isArray(posted), auth, caller: admission.caller, bytes: admission.bytes }
}

function requestsOf({ items }: ForwardedPost): RequestMessage[] {
  return items.flatMap((item) => ('message' in item && isRequest(item.message) ? [item.message] : []))
}

function unknownConnection(): HttpAnswer {
  return refusal(404, invalidRequest('Unknown or closed connection: open a new stream'))
}

const toEvent = (data: string) => encodeEvent({ event: 'message', data })

function sessionIdIn({ raw }: HttpRequest): string | null {
  return new URL(raw.url).searchParams.get(SESSION_PARAMETER)
}

/** One client with its stream and its session. */
class SseConnection implements StreamOwner, MessageSink {
  readonly hasStream = true
  readonly principal: string | undefined
  readonly stream: EventStream
  /** The number of POSTs whose answers were not sent yet. */
  unsent = 0
  readonly #endpoint: EndpointContext
  readonly #request: HttpRequest
  readonly #live: LiveSession
  readonly #session: HttpSession
  readonly #onClosed: () => void

  /** @param request the request that opened the stream */
  constructor(endpoint: EndpointContext, request: HttpRequest, id: string, onClosed: () => void) {
    this.#endpoint = endpoint
    this.#request = request
    this.#live = new LiveSession(id, {})
    this.#session = new HttpSession(this.#live, updateTemporary, this)
    this.#onClosed = onClosed
    this.principal = principalOf(request.auth)
    this.stream = new EventStream(endpoint, request, this)
    const url = `${pathOf(request.raw.url)}?${SESSION_PARAMETER}=${id}`
    void this.stream.send(encodeEvent({ event: 'endpoint', data: url }))
  }

  get canSend(): boolean {
    return this.stream.isOpen
  }

  /** Sends a message. Without a message, has no effect, because the stream is already open. */
  send(message: Message | undefined): Promise<void> | undefined {
    const text = message && messageText(message, this.#endpoint)
    return text === undefined ? undefined : this.stream.send(toEvent(text))
  }

  /**
   * Accepts the messages of a POST. Their answers are sent on the stream.
   *
   * @param request what handlers see. Default: the request that opened the stream
   * @param admission counts the messages while they are handled
   */
  receive(post: ForwardedPost, request = this.#request, admission = request.admission): HttpAnswer {
    const most = this.#endpoint.limits.sessionRequests
    const [first] = requestsOf(post)
    if (post.isBatch && this.#live.state.revision !== BATCH_REVISION) return batchesNotAllowed()
    if (!post.isBatch && first !== undefined && this.#live.running.size >= most) {
      return refusal(429, tooManyRequests(most), first.id)
    }
    void this.#answer(post, request, admission)
    return accepted()
  }

  onGone(reason: Error): void {
    this.close(reason)
  }

  close(reason: Error): void {
    this.#onClosed()
    this.#live.end(new ConnectionError('closed', reason.message, { cause: reason }))
    this.stream.end()
    void sessionEnded(this.#endpoint, this.#session)
  }

  async #answer({ items, isBatch, auth }: ForwardedPost, request: HttpRequest, admission: Admission): Promise<void> {
    const facts = { request, admission, auth, session: this.#session, endsWithClient: false, sink: this }
    this.unsent += 1
    const answers = await Promise.all(
      items.map((item) => ('message' in item ? this.#handle(item.message, new HttpExchange(facts)) : item.answer)),
    )
    const texts = answers.flatMap((answer) => (answer ? [answerText(answer, this.#endpoint)] : []))
    if (texts.length > 0) await this.stream.sendInTurn(toEvent(isBatch ? `[${texts.join(',')}]` : texts.join()))
    this.unsent -= 1
  }

  async #handle(message: Message, exchange: HttpExchange): Promise<ResponseMessage | undefined> {
    const live = this.#live
    if (!('method' in message)) {
      if (live.requests.settle(message)) return undefined
      this.#endpoint.report(new ConnectionError('unmatched', 'Ignored a response: no pending request has its id'))
      return undefined
    }
    if (!('id' in message)) {
      await this.#handleNotification(message, exchange)
      return undefined
    }
    // Refuse modern requests: a client that supports both eras tries the modern era first, and then this one.
    if (claimsModern(message)) return errorMessage(message.id, methodNotFound(message.method))
    const refused = live.refusalOf(message.id, this.#endpoint.limits.sessionRequests)
    if (refused !== undefined) return errorMessage(message.id, refused.error)
    live.running.set(message.id, exchange)
    const answer = await this.#endpoint.answerRequest(message, exchange)
    live.running.delete(message.id)
    return answer
  }

  async #handleNotification(message: NotificationMessage, exchange: HttpExchange): Promise<void> {
    const { method } = message
    if (method === 'notifications/cancelled' || method === 'notifications/progress') {
      this.#live.handleNotification(message)
      return
    }
    await this.#endpoint.handleNotification(message, exchange)
    await this.#watchChanges()
  }

  /** Sends list changes, resource updates and logs after the session is initialized. */
  async #watchChanges(): Promise<void> {
    const { responder, report } = this.#endpoint
    const live = this.#live
    if (live.state.initialized !== true || live.serverStream !== undefined || !this.canSend) return
    live.serverStream = { end() {} }
    try {
      const stop = await responder.watchChanges?.(this.#session, async (change) => this.send(change))
      if (live.hasEnded) stop?.()
      live.serverStream = { end: () => stop?.() }
    } catch (problem) {
      report(problem as Error)
    }
  }
}
