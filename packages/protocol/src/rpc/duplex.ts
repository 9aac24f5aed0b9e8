/** Makes of a channel what answers and what asks: both directions, any number of messages in flight. */

import { isRequestId } from '../jsonrpc/check.ts'
import type { Decoded } from '../jsonrpc/codec.ts'
import { ConnectionError } from '../jsonrpc/connection-error.ts'
import { invalidRequest, RpcError } from '../jsonrpc/errors.ts'
import { errorMessage, type JsonObject, type Message, type NotificationMessage } from '../jsonrpc/message.ts'
import { Refusal } from '../jsonrpc/refusal.ts'
import { withDefaultLimits } from '../limits.ts'
import type { AuthInfo } from '../ports/auth-info.ts'
import { type Awaitable, isPromise } from '../ports/awaitable.ts'
import type { Channel } from '../ports/channel.ts'
import type { RequestInfo, Responder } from '../ports/exchange.ts'
import type { Requester, RequestOptions } from '../ports/requester.ts'
import type { Session } from '../ports/session.ts'
import { BATCH_REVISION } from '../versions.ts'
import { type Answering, createAnswering, endOfListening, LISTEN } from './answering.ts'
import { type Asking, createAsking } from './asking.ts'
import { createConnectionSession, endSession } from './connection-session.ts'
import { DUPLEX_LIMITS, type DuplexLimits } from './duplex-limits.ts'
import { createOutbox, hasEnded, type Outbox } from './outbox.ts'
import { relatedRequest } from './progress.ts'
import { brokenError, guarded, writable } from './repairs.ts'
import { createRunningRequests, type ExchangeHost } from './running-requests.ts'

export interface DuplexOptions {
  /** Answers the peer. Default: every method is unknown. */
  responder?: Responder | undefined
  /** Who is at the other end. Default: nobody known. */
  auth?: AuthInfo | undefined
  requestInfo?: RequestInfo | undefined
  /** Names the session of this connection. Default: `connection`. */
  sessionId?: string | undefined
  /** Whether an array of messages is let in. Default: when the session has negotiated the revision that has them. */
  takesBatches?: (() => boolean) | undefined
  /** How long running calls may go on after the peer has ended its side, in ms. Default: 0. */
  drainTimeout?: number | undefined
  limits?: Partial<DuplexLimits> | undefined
  /** Hears of everything that was ignored, dropped or masked, once each. Default: nobody does. */
  report?: ((problem: Error) => void) | undefined
}

export interface Duplex extends Requester {
  /** The session of this connection. */
  readonly session: Session
  /** How many messages are being dealt with, and how many requests wait for their answer. */
  readonly load: { readonly running: number; readonly pending: number }
  /** Takes no new requests, waits for the running ones up to this many ms, then closes. */
  drain(timeout: number): Promise<void>
}

/** Starts to read the channel at once. */
export function createDuplex(channel: Channel, options: DuplexOptions = {}): Duplex {
  return new Connection(channel, options)
}

class Connection implements Duplex, ExchangeHost {
  readonly auth: AuthInfo | undefined
  readonly requestInfo: RequestInfo | undefined
  readonly closed: Promise<ConnectionError | undefined>
  readonly #channel: Channel
  readonly #options: DuplexOptions
  readonly #report: (problem: Error) => void
  readonly #outbox: Outbox
  readonly #answering: Answering
  readonly #asking: Asking
  readonly #running = createRunningRequests()
  readonly #resolveClosed: (reason: ConnectionError | undefined) => void
  #session: Session | undefined
  #stopFeed: (() => void) | undefined
  #ending: Promise<void> | undefined

  constructor(channel: Channel, options: DuplexOptions) {
    const limits = withDefaultLimits(DUPLEX_LIMITS, options.limits)
    const report = guarded(options.report)
    let resolveClosed: (reason: ConnectionError | undefined) => void = () => {}
    this.auth = options.auth
    this.requestInfo = options.requestInfo
    this.closed = new Promise((resolve) => {
      resolveClosed = resolve
    })
    this.#resolveClosed = resolveClosed
    this.#channel = channel
    this.#options = options
    this.#report = report
    this.#outbox = createOutbox(channel, {
      limit: limits.unsent,
      stallTimeout: limits.stallTimeout,
      onStall: (error) => void this.close(error),
      report,
    })
    this.#asking = createAsking(this.#outbox, limits.pending, report)
    const { responder } = options
    this.#answering = createAnswering({
      responder,
      running: this.#running,
      host: this,
      limit: limits.running,
      onHeard: () => this.#startFeed(),
      report,
    })
    channel
      .receive((item) => this.#receive(item))
      .then(
        () => this.#inputEnded(),
        (error) => this.close(brokenError(error)),
      )
  }

  get session(): Session {
    this.#session ??= createConnectionSession(this.#options.sessionId ?? 'connection', (method, params, options) =>
      this.request(method, params, options),
    )
    return this.#session
  }

  get load(): { running: number; pending: number } {
    return { running: this.#running.size, pending: this.#asking.size }
  }

  request(method: string, params?: object, options?: RequestOptions): Promise<unknown> {
    return this.#asking.request(method, params, options)
  }

  notify(method: string, params?: object): Awaitable<void> {
    if (this.#ending !== undefined) return undefined
    return this.#outbox.tell(
      params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params: params as JsonObject },
    )
  }

  hold(): () => void {
    return this.#asking.hold()
  }

  async drain(timeout: number): Promise<void> {
    this.#answering.stop()
    this.#running.finishStreams(new ConnectionError('closed', 'Shutting down'))
    await this.#idle(timeout)
    await this.close()
  }

  close(reason?: ConnectionError): Promise<void> {
    this.#ending ??= this.#end(reason)
    return this.#ending
  }

  async #end(reason: ConnectionError | undefined): Promise<void> {
    const error = reason ?? new ConnectionError('closed', 'The connection was closed')
    this.#answering.stop()
    this.#asking.stop(error)
    this.#running.abortAll(error)
    this.#attempt(() => this.#stopFeed?.())
    this.#outbox.stop()
    try {
      await this.#channel.close()
    } catch (problem) {
      this.#report(problem as Error)
    }
    await endSession(this.#session, this.#options.responder, this.#report)
    this.#resolveClosed(reason)
  }

  /** Resolves when nothing runs any more, when the time is up, or when the connection has ended. */
  async #idle(timeout: number): Promise<void> {
    if (this.#running.size === 0 || timeout <= 0) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const timeIsUp = new Promise((resolve) => (timer = setTimeout(resolve, timeout)))
    await Promise.race([this.#running.idle(), this.closed, timeIsUp])
    clearTimeout(timer)
  }

  /** No answer can come any more; what the peer has asked may still be answered. */
  async #inputEnded(): Promise<void> {
    const reason = new ConnectionError('closed', 'The peer ended the connection')
    this.#asking.stop(reason)
    this.#running.abortStreams(reason)
    await this.#idle(this.#options.drainTimeout ?? 0)
    await this.close()
  }

  /** Deals with what arrived. While too much waits to leave, nothing more is read. */
  #receive(item: Decoded): Awaitable<void> {
    // What still lies in the channel when it is closed is not begun any more.
    if (this.#ending !== undefined) return undefined
    if (Array.isArray(item)) this.#receiveBatch(item)
    else if (item instanceof Refusal) this.#sendAnswer(this.#refusalAnswer(item))
    else this.#receiveMessage(item)
    return this.#outbox.room()
  }

  #receiveMessage(message: Message): void {
    if (!('method' in message)) this.#asking.settle(message)
    else if (!('id' in message)) this.#receiveNotification(message)
    else {
      const answer = this.#answering.answer(message)
      if (!isPromise(answer)) this.#sendAnswer(answer)
      else if (message.method === LISTEN) answer.then((response) => this.#endListening(response))
      else answer.then((response) => this.#sendAnswer(response))
    }
  }

  #receiveNotification(message: NotificationMessage): void {
    const id = relatedRequest(message)
    if (message.method === 'notifications/cancelled') this.#cancelled(message)
    else if (id !== undefined && this.#asking.hear(id, message)) return
    else if (message.method === 'notifications/progress') {
      this.#report(new ConnectionError('unmatched', 'Progress was ignored: no request waits for it'))
    } else this.#answering.hear(message)
  }

  /** The peer gives up one of its requests, or ends a subscription that this side has asked for. */
  #cancelled(message: NotificationMessage): void {
    const id = message.params?.requestId
    if (!isRequestId(id)) return
    const reason = message.params?.reason
    const why = typeof reason === 'string' ? `: ${reason.slice(0, 200)}` : ''
    const error = new ConnectionError('cancelled', `The peer cancelled the request${why}`)
    if (!this.#running.abort(id, error) && this.#asking.methodOf(id) === LISTEN) this.#asking.hear(id, message)
  }

  #receiveBatch(items: (Message | Refusal)[]): void {
    const taken = this.#options.takesBatches?.() ?? this.#session?.state.revision === BATCH_REVISION
    if (!taken) {
      const error = invalidRequest(
        `Invalid message: an array of messages is only let in with revision ${BATCH_REVISION}`,
      )
      this.#report(error)
      this.#sendAnswer(errorMessage(undefined, error))
      return
    }
    const answers: Awaitable<Message | undefined>[] = []
    for (const item of items) {
      if (item instanceof Refusal) answers.push(this.#refusalAnswer(item))
      else if ('method' in item && 'id' in item) answers.push(this.#answering.answer(item))
      else this.#receiveMessage(item)
    }
    void Promise.all(answers).then((all) => {
      const wanted = all.filter((answer) => answer !== undefined)
      if (wanted.length > 0) this.#sendAnswer(wanted)
    })
  }

  /** Whoever waits for a refused answer is told of it here; everything else is for the peer to know. */
  #refusalAnswer(refusal: Refusal): Message | undefined {
    const answers = refusal.kind === 'response' || refusal.kind === 'unknown'
    if (answers && this.#asking.refuse(refusal)) return undefined
    this.#report(refusal.error)
    return refusal.answer
  }

  #sendAnswer(answer: Message | Message[] | undefined, isRepaired = false): void {
    if (answer === undefined || this.#ending !== undefined || this.#options.responder?.silent === true) return
    try {
      const sending = this.#outbox.answer(answer)
      if (isPromise(sending)) sending.then(undefined, (problem) => this.#repair(answer, problem, isRepaired))
    } catch (problem) {
      this.#repair(answer, problem, isRepaired)
    }
  }

  /** A result that cannot be written is answered with the error that says so, be it noticed now or later. */
  #repair(answer: Message | Message[], problem: unknown, isRepaired: boolean): void {
    if (hasEnded(problem)) return
    this.#report(problem as Error)
    if (problem instanceof RpcError && !isRepaired) this.#sendAnswer(writable(answer), true)
  }

  /** The end of a stream of changes is said in both ways that the specification has for it: peers may wait for either. */
  #endListening(answer: Message | undefined): void {
    this.#sendAnswer(answer)
    const end = endOfListening(answer)
    if (end !== undefined && this.#ending === undefined) void this.#outbox.tell(end)
  }

  /** What the responder says unasked starts to flow when the session is ready. */
  #startFeed(): void {
    const session = this.#session
    if (this.#stopFeed !== undefined || session?.state.initialized !== true || this.#ending !== undefined) return
    this.#stopFeed = () => {}
    const tell = (change: Message) => (this.#ending === undefined ? this.#outbox.tell(change) : undefined)
    this.#attempt(() => {
      this.#stopFeed = this.#options.responder?.watchChanges?.(session, tell) ?? this.#stopFeed
    })
  }

  #attempt(step: () => void): void {
    try {
      step()
    } catch (error) {
      this.#report(error as Error)
    }
  }
}
