/** JSON-RPC over a channel, with any number of concurrent requests in both directions. */

import { type Awaitable, guarded, isPromise, LONGEST_TIMER } from './async.ts'
import { type Decoded, encode } from './codec.ts'
import { type MessageObserver, observeChannel } from './debug.ts'
import { relatedRequest, withProgressToken } from './envelope.ts'
import { ConnectionError, invalidRequest, RpcError } from './errors.ts'
import type { AuthInfo, RequestInfo, RequestOptions, Responder, Session, SessionState } from './exchange.ts'
import { DUPLEX_LIMITS, type DuplexLimits, withDefaultLimits } from './limits.ts'
import {
  createMessageProcessor,
  createRunningRequests,
  type ExchangeHost,
  LISTEN,
  type MessageProcessor,
} from './message-processor.ts'
import {
  errorMessage,
  isRequestId,
  type JsonObject,
  type Message,
  type NotificationMessage,
  Refusal,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
} from './messages.ts'
import { BATCH_REVISION } from './methods.ts'
import { cancelledError, createPendingRequests } from './requests.ts'
import { hasEnded, SendQueue } from './send-queue.ts'
import type { NetworkInfo } from './telemetry.ts'
import type { Channel, Requester } from './transport.ts'

/** Options of `createDuplex`. */
export interface DuplexOptions {
  /** Handles messages of the peer. Default: none; all methods are unknown. */
  responder?: Responder | undefined
  /** The authenticated peer. Default: unknown. */
  auth?: AuthInfo | undefined
  /** The HTTP request that opened the connection. Default: none. */
  requestInfo?: RequestInfo | undefined
  /** The network connection, for telemetry. Default: unknown. */
  network?: NetworkInfo | undefined
  /** The id of the session of this connection. Default: `connection`. */
  sessionId?: string | undefined
  /** Returns whether batches are accepted. Default: true if the session has negotiated revision 2025-03-26. */
  supportsBatches?: (() => boolean) | undefined
  /** How long running requests may continue after the end of the peer's input, in ms. Default: 0. */
  drainTimeout?: number | undefined
  /** Limits of running and pending requests. Default: `DUPLEX_LIMITS`. */
  limits?: Partial<DuplexLimits> | undefined
  /** Called with each problem that was handled: ignored, dropped or masked. Default: none. */
  onWarning?: ((warning: Error) => void) | undefined
  /** Called with each message, received or sent. Default: none. */
  onMessage?: MessageObserver | undefined
}

export interface Duplex extends Requester {
  /** The session of this connection. */
  readonly session: Session
  /** The number of messages that are being handled, and of requests that wait for a response. */
  readonly load: { readonly running: number; readonly pending: number }
  /** Refuses new requests, waits at most `timeout` ms for running requests, then closes. */
  drain(timeout: number): Promise<void>
}

/** Creates a connection over a channel, and starts reading immediately. */
export function createDuplex(channel: Channel, options: DuplexOptions = {}): Duplex {
  return new ChannelConnection(observeChannel(channel, options.onMessage), options)
}

class ChannelConnection implements Duplex, ExchangeHost {
  readonly auth: AuthInfo | undefined
  readonly requestInfo: RequestInfo | undefined
  readonly network: NetworkInfo | undefined
  readonly closed: Promise<ConnectionError | undefined>
  readonly #channel: Channel
  readonly #options: DuplexOptions
  readonly #limits: DuplexLimits
  readonly #report: (problem: Error) => void
  readonly #queue: SendQueue
  readonly #processor: MessageProcessor
  readonly #running = createRunningRequests()
  readonly #pending = createPendingRequests({
    report: (problem) => this.#report(problem),
    onCancel: (requestId, reason) => void this.notify('notifications/cancelled', { requestId, reason }),
  })
  #lastId = 0
  #resolveClosed: (reason: ConnectionError | undefined) => void = () => {}
  #session: Session | undefined
  #stopChanges: (() => void) | undefined
  /** The error of new requests after the peer has ended its input, or after the connection was closed. */
  #noMoreRequests: ConnectionError | undefined
  #ending: Promise<void> | undefined

  constructor(channel: Channel, options: DuplexOptions) {
    this.auth = options.auth
    this.requestInfo = options.requestInfo
    this.network = options.network
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve
    })
    this.#channel = channel
    this.#options = options
    this.#limits = withDefaultLimits(DUPLEX_LIMITS, options.limits)
    this.#report = guarded(options.onWarning)
    this.#queue = new SendQueue(channel, {
      limit: this.#limits.unsent,
      stallTimeout: this.#limits.stallTimeout,
      onStall: (error) => void this.close(error),
      report: this.#report,
    })
    this.#processor = createMessageProcessor({
      responder: options.responder,
      running: this.#running,
      host: this,
      limit: this.#limits.running,
      maxBytes: this.#limits.receivedBytes,
      onNotificationHandled: () => void this.#watchChanges(),
      report: this.#report,
    })
    // `receive` throws synchronously if the channel already has a receiver.
    void this.#untilInputEnds(channel.receive((item) => this.#receive(item)))
  }

  get session(): Session {
    this.#session ??= createSession(this.#options.sessionId ?? 'connection', this)
    return this.#session
  }

  get load(): { running: number; pending: number } {
    return { running: this.#running.size, pending: this.#pending.size }
  }

  // Our requests and notifications

  async request(method: string, params?: object, options: RequestOptions = {}): Promise<unknown> {
    const refusal = this.#requestRefusal(options.label ?? method, options.signal)
    if (refusal !== undefined) throw refusal
    this.#lastId += 1
    const id = this.#lastId
    const result = this.#pending.add(id, method, options)
    // If the timeout is invalid, `result` is already rejected and the request is not pending. Then it is not sent.
    if (this.#pending.get(id) !== undefined) void this.#sendRequest(id, method, params, options)
    return result
  }

  #requestRefusal(label: string, signal: AbortSignal | undefined): ConnectionError | undefined {
    if (this.#noMoreRequests !== undefined) return this.#noMoreRequests
    if (signal?.aborted === true) return cancelledError(label, signal)
    const limit = this.#limits.pending
    if (this.#pending.size < limit && this.#queue.unsentRequests < limit) return undefined
    const message = `${label} was not sent: ${limit} requests are already pending (limits.pending)`
    const hint = 'Await some responses before you send more requests.'
    return new ConnectionError('limit', message, { retryable: true, hint })
  }

  async #sendRequest(id: RequestId, method: string, params: object | undefined, options: RequestOptions) {
    const sent = options.onNotification === undefined ? (params as JsonObject) : withProgressToken(params, id)
    try {
      await this.#queue.sendRequest(
        sent === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params: sent },
      )
    } catch (error) {
      this.#pending.fail(id, error as Error)
    }
  }

  notify(method: string, params?: object): Promise<void> {
    const message: NotificationMessage =
      params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params: params as JsonObject }
    return this.#sendNotification(message)
  }

  #sendNotification(message: NotificationMessage): Promise<void> {
    return this.#ending === undefined ? this.#queue.sendNotification(message) : Promise.resolve()
  }

  hold(): () => void {
    return this.#pending.hold()
  }

  // The end of the connection

  async drain(timeout: number): Promise<void> {
    this.#processor.stop()
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
    this.#processor.stop()
    this.#failRequests(error)
    this.#running.abortAll(error)
    guarded(this.#stopChanges, this.#report)()
    this.#queue.stop()
    try {
      await this.#channel.close()
    } catch (problem) {
      this.#report(problem as Error)
    }
    try {
      if (this.#session !== undefined) await this.#options.responder?.sessionEnded?.(this.#session, this.network)
    } catch (problem) {
      this.#report(problem as Error)
    }
    this.#resolveClosed(reason)
  }

  /** Rejects all pending and all later requests. */
  #failRequests(error: ConnectionError): void {
    this.#noMoreRequests ??= error
    this.#pending.failAll(this.#noMoreRequests)
  }

  /** Resolves when no message is being handled, after the timeout, or when the connection has ended. */
  async #idle(timeout: number): Promise<void> {
    if (this.#running.size === 0 || timeout <= 0) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const timeIsUp = new Promise((resolve) => (timer = setTimeout(resolve, Math.min(timeout, LONGEST_TIMER))))
    await Promise.race([this.#running.idle(), this.closed, timeIsUp])
    clearTimeout(timer)
  }

  // Messages of the peer

  async #untilInputEnds(reading: Promise<void>): Promise<void> {
    try {
      await reading
    } catch (error) {
      const isKnown = error instanceof ConnectionError
      await this.close(isKnown ? error : new ConnectionError('closed', 'The connection broke', { cause: error }))
      return
    }
    // No more responses can arrive. Responses to requests of the peer may still be sent.
    const reason = new ConnectionError('closed', 'The peer ended the connection')
    this.#failRequests(reason)
    this.#running.abortStreams(reason)
    await this.#idle(this.#options.drainTimeout ?? 0)
    await this.close()
  }

  /** Handles one item of the channel. Returns a promise, which pauses reading, while too many responses wait to be sent. */
  #receive(item: Decoded): Awaitable<void> {
    // Ignores messages that were in the channel when it was closed.
    if (this.#ending !== undefined) return undefined
    if (Array.isArray(item)) void this.#receiveBatch(item, this.#acceptsBatches())
    else if (item instanceof Refusal) void this.#sendAnswer(this.#receiveRefusal(item))
    else this.#receiveMessage(item)
    return this.#queue.room()
  }

  #receiveMessage(message: Message): void {
    if (!('method' in message)) this.#receiveResponse(message)
    else if ('id' in message) void this.#receiveRequest(message)
    else this.#receiveNotification(message)
  }

  async #receiveRequest(message: RequestMessage): Promise<void> {
    const response = await this.#processor.processRequest(message)
    void this.#sendAnswer(response)
    // The specification has two ways to end a subscription. Send both, because a peer may wait for either of them.
    if (message.method !== LISTEN || response === undefined || !('result' in response)) return
    await this.notify('notifications/cancelled', { requestId: message.id, reason: 'The subscription has ended' })
  }

  #receiveResponse(response: ResponseMessage): void {
    if (!this.#pending.settle(response)) this.#report(unmatchedError(response, this.#lastId))
  }

  #receiveNotification(message: NotificationMessage): void {
    const id = relatedRequest(message)
    if (message.method === 'notifications/cancelled') this.#receiveCancellation(message)
    else if (id !== undefined && this.#pending.handleNotification(id, message)) return
    else if (message.method === 'notifications/progress') {
      const problem = 'Ignored a progress notification: no pending request has its token'
      this.#report(new ConnectionError('unmatched', problem))
    } else this.#processor.processNotification(message)
  }

  /** Handles a cancellation: the peer cancels one of its requests, or ends one of our subscriptions. */
  #receiveCancellation(message: NotificationMessage): void {
    const id = message.params?.requestId
    if (!isRequestId(id)) return
    const reason = message.params?.reason
    const why = typeof reason === 'string' ? `: ${reason.slice(0, 200)}` : ''
    const error = new ConnectionError('cancelled', `The peer cancelled the request${why}`)
    if (!this.#running.abort(id, error) && this.#pending.get(id)?.method === LISTEN)
      this.#pending.handleNotification(id, message)
  }

  #acceptsBatches(): boolean {
    return this.#options.supportsBatches?.() ?? this.#session?.state.revision === BATCH_REVISION
  }

  async #receiveBatch(items: (Message | Refusal)[], isAccepted: boolean): Promise<void> {
    if (!isAccepted) {
      const error = invalidRequest(`Invalid message: batches are accepted only in revision ${BATCH_REVISION}`)
      this.#report(error)
      await this.#sendAnswer(errorMessage(undefined, error))
      return
    }
    const responses: Awaitable<Message | undefined>[] = []
    for (const item of items) {
      if (item instanceof Refusal) responses.push(this.#receiveRefusal(item))
      else if ('method' in item && 'id' in item) responses.push(this.#processor.processRequest(item))
      else this.#receiveMessage(item)
    }
    const wanted = (await Promise.all(responses)).filter((response) => response !== undefined)
    if (wanted.length > 0) await this.#sendAnswer(wanted)
  }

  /** Rejects the request of a malformed response. Returns the response to any other malformed message. */
  #receiveRefusal({ id, kind, error, answer }: Refusal): Message | undefined {
    const mayBeResponse = kind === 'response' || kind === 'unknown'
    if (mayBeResponse && id !== undefined) {
      const hint = 'The peer does not follow JSON-RPC 2.0.'
      const message = `Invalid response. ${error.message}`
      if (this.#pending.fail(id, new ConnectionError('invalid-message', message, { hint }))) return undefined
    }
    this.#report(error)
    return answer
  }

  async #sendAnswer(answer: Message | Message[] | undefined): Promise<void> {
    if (answer === undefined || this.#ending !== undefined || this.#options.responder?.silent === true) return
    try {
      await this.#queue.sendAnswer(answer)
    } catch (problem) {
      if (hasEnded(problem)) return
      this.#report(problem as Error)
      // If the response cannot be written as JSON, sends an error response instead.
      const repaired = problem instanceof RpcError ? repair(answer) : undefined
      if (repaired !== undefined) await this.#sendAnswer(repaired)
    }
  }

  /** Starts the notifications of the responder after the session is initialized. */
  async #watchChanges(): Promise<void> {
    const session = this.#session
    if (this.#stopChanges !== undefined || session?.state.initialized !== true || this.#ending !== undefined) return
    this.#stopChanges = () => {}
    try {
      const watching = this.#options.responder?.watchChanges?.(session, (message) => this.#sendNotification(message))
      // Await only a promise, because the connection may end in the meantime.
      const stop = isPromise(watching) ? await watching : watching
      if (this.#ending === undefined) this.#stopChanges = stop ?? this.#stopChanges
      else stop?.()
    } catch (error) {
      this.#report(error as Error)
    }
  }
}

/** Creates the session of a connection. Its record is a plain object, which each update replaces. */
function createSession(id: string, requester: Requester): Session {
  let state: Readonly<SessionState> = {}
  return {
    id,
    get state() {
      return state
    },
    update(change) {
      const next = structuredClone(state)
      change(next)
      state = next
    },
    request: (method, params, options) => requester.request(method, params, options),
  }
}

/** Replaces responses that cannot be written as JSON with error responses. Returns undefined if all of them can be written. */
function repair(answer: Message | Message[]): Message | Message[] | undefined {
  const answers = [answer].flat()
  const repaired = answers.map(writable)
  if (repaired.every((message, index) => message === answers[index])) return undefined
  return Array.isArray(answer) ? repaired : repaired[0]
}

function writable(answer: Message): Message {
  try {
    encode(answer)
    return answer
  } catch (problem) {
    return errorMessage('id' in answer ? answer.id : undefined, problem as RpcError)
  }
}

function unmatchedError(response: ResponseMessage, lastId: number): ConnectionError {
  const { id } = response
  const isKnown = typeof id === 'number' && id > 0 && id <= lastId
  const why = isKnown
    ? `request ${id} was already answered, cancelled or timed out`
    : `no request with this id was sent (id of type ${typeof id})`
  const text =
    id === undefined && 'error' in response
      ? `The peer reports an error without an id: ${response.error.message.slice(0, 200)}`
      : `Ignored a response: ${why}`
  return new ConnectionError('unmatched', text)
}
