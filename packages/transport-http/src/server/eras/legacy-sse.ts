/**
 * The HTTP transport of the first revision: a GET opens one stream for everything that the server says, and names the
 * URL that the client posts to. Such a connection is a session that lives as long as its stream.
 */

import {
  type Awaitable,
  BATCH_REVISION,
  ConnectionError,
  errorMessage,
  internalError,
  invalidRequest,
  isRequest,
  type Message,
  type NotificationMessage,
  principalOf,
  Refusal,
  type ResponseMessage,
} from '@mcpx/protocol'
import { encodeEvent } from '@mcpx/sse/encode'
import { EVENTS_TYPE } from '../../headers.ts'
import { accepted, answerText, eventsAnswer, messageText, notAllowed, refusal, shuttingDown } from '../answers.ts'
import { EventStream, type StreamOwner } from '../event-stream.ts'
import { HttpExchange } from '../exchange.ts'
import { answerRequest, type Host, hearNotification, type Inbound } from '../host.ts'
import type { HttpAnswer } from '../http-answer.ts'
import { readPath } from '../path.ts'
import { LiveSession, LiveSessions } from './legacy-live.ts'
import { inFlight, noBatches, tooManyRequests } from './legacy-refusals.ts'
import { HttpSession, sessionEnded, updateHere } from './legacy-session.ts'

const SESSION_PARAMETER = 'sessionId'

type Item = Message | Refusal

export class SseConnections {
  readonly #host: Host
  readonly #path: string
  readonly #open = new Map<string, Connection>()
  #isStopped = false

  constructor(host: Host, path: string) {
    this.#host = host
    this.#path = readPath('sse', path, '/sse')
  }

  handles({ request }: Inbound): boolean {
    return pathOf(request.target).endsWith(this.#path)
  }

  async post(arrived: Message | Item[], inbound: Inbound): Promise<HttpAnswer> {
    const id = new URLSearchParams(inbound.request.target.split('?', 2)[1]).get(SESSION_PARAMETER)
    if (id === null) {
      return refusal(
        400,
        invalidRequest(`${SESSION_PARAMETER} is missing: open the stream first, and post to the URL it names`),
      )
    }
    const connection = this.#open.get(id)
    if (connection === undefined || connection.principal !== principalOf(inbound.auth)) {
      return refusal(404, invalidRequest('There is no such connection, or no longer: open a new stream'))
    }
    return connection.receive(arrived, inbound)
  }

  other(inbound: Inbound): HttpAnswer {
    if (inbound.request.method !== 'GET') return notAllowed('GET, POST')
    if (this.#isStopped) return shuttingDown()
    if (!inbound.takesEvents) return refusal(406, invalidRequest(`Accept must list ${EVENTS_TYPE}`))
    const most = this.#host.limits.running
    if (this.#open.size >= most)
      return refusal(503, internalError(`Too many connections: at most ${most} (limits.running)`))
    const connection = new Connection(this.#host, inbound, () => this.#open.delete(connection.id))
    this.#open.set(connection.id, connection)
    return eventsAnswer(connection.stream)
  }

  /** Opens no more connections. */
  stop(): void {
    this.#isStopped = true
  }

  close(reason: Error): void {
    for (const connection of [...this.#open.values()]) connection.close(reason)
  }
}

/** One client: its stream, and the session that ends with it. */
class Connection implements StreamOwner {
  readonly principal: string | undefined
  readonly stream: EventStream
  readonly #host: Host
  readonly #sessions: LiveSessions
  readonly #live = new LiveSession(crypto.randomUUID(), {})
  readonly #session = new HttpSession(this.#live, updateHere, this)
  readonly #onClosed: () => void

  constructor(host: Host, inbound: Inbound, onClosed: () => void) {
    this.#host = host
    this.#sessions = new LiveSessions(undefined, host.report)
    this.#onClosed = onClosed
    this.principal = principalOf(inbound.auth)
    this.stream = new EventStream(host, this, inbound)
    const url = `${pathOf(inbound.request.target)}?${SESSION_PARAMETER}=${this.id}`
    void this.stream.send(encodeEvent({ event: 'endpoint', data: url }))
  }

  get id(): string {
    return this.#live.id
  }

  get canSay(): boolean {
    return this.stream.isOpen
  }

  /** Sends what is no answer. Without a message there is nothing to open: the stream is open already. */
  say(message: Message | undefined): Awaitable<void> {
    return this.#send(message && messageText(message, this.#host.report))
  }

  /** Takes what was posted. The stream has what is answered. */
  receive(arrived: Message | Item[], inbound: Inbound): HttpAnswer {
    const most = this.#host.limits.sessionRequests
    if (Array.isArray(arrived)) {
      if (this.#live.state.revision !== BATCH_REVISION) return noBatches()
      void this.#takeAll(arrived, inbound)
    } else {
      if (isRequest(arrived) && this.#live.running.size >= most) {
        return refusal(429, tooManyRequests(most), arrived.id)
      }
      void this.#take(arrived, inbound).then((answer) => this.#send(answer && this.#textOf(answer)))
    }
    return accepted()
  }

  onGone(reason: Error): void {
    this.close(reason)
  }

  close(reason: Error): void {
    this.#onClosed()
    const error = new ConnectionError('closed', reason.message, { cause: reason })
    this.#sessions.endHere(this.#live, error)
    this.stream.end()
    void sessionEnded(this.#host, this.#session)
  }

  async #takeAll(items: Item[], inbound: Inbound): Promise<void> {
    const answers = await Promise.all(
      items.map((item) => (item instanceof Refusal ? item.answer : this.#take(item, inbound))),
    )
    const texts = answers.filter((answer) => answer !== undefined).map((answer) => this.#textOf(answer))
    if (texts.length > 0) void this.#send(`[${texts.join(',')}]`)
  }

  async #take(message: Message, { request, auth }: Inbound): Promise<ResponseMessage | undefined> {
    const live = this.#live
    if (!('method' in message)) {
      await this.#sessions.answer(live, message)
      return undefined
    }
    const exchange = new HttpExchange({ request, auth, session: this.#session, endsWithClient: false, speaker: this })
    if (!('id' in message)) {
      await this.#hear(message, exchange)
      return undefined
    }
    const most = this.#host.limits.sessionRequests
    if (live.running.has(message.id)) return errorMessage(message.id, inFlight())
    if (live.running.size >= most) return errorMessage(message.id, tooManyRequests(most))
    live.running.set(message.id, exchange)
    const answer = await answerRequest(this.#host, message, exchange)
    live.running.delete(message.id)
    return answer
  }

  async #hear(message: NotificationMessage, exchange: HttpExchange): Promise<void> {
    if (await this.#sessions.relate(this.#live, message)) return
    await hearNotification(this.#host, message, exchange)
    this.#feed()
  }

  /** What is said unasked follows once the session is ready. */
  #feed(): void {
    const { responder, report } = this.#host
    const live = this.#live
    if (live.state.initialized !== true || live.feed !== undefined || !this.canSay) return
    live.feed = { end() {} }
    try {
      const stop = responder.watchChanges?.(this.#session, (change) => this.say(change))
      live.feed = { end: () => stop?.() }
    } catch (problem) {
      report(problem as Error)
    }
  }

  #textOf(answer: ResponseMessage): string {
    return answerText(answer, this.#host.report)
  }

  #send(text: string | undefined): Awaitable<void> {
    return text === undefined ? undefined : this.stream.send(encodeEvent({ event: 'message', data: text }))
  }
}

function pathOf(target: string): string {
  return target.split('?', 1)[0] as string
}
