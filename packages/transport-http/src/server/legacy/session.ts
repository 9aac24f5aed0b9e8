/** One legacy session in this process: its running requests, its requests to the client, and the `Session` for handlers. */

import {
  BATCH_REVISION,
  ConnectionError,
  cancelledError,
  createPendingRequests,
  invalidRequest,
  isRequestId,
  type JsonObject,
  type Message,
  type NotificationMessage,
  type RequestId,
  type RequestOptions,
  type ResponseMessage,
  type RpcError,
  type Session,
  type SessionState,
  ShortLivedMap,
  withProgressToken,
} from '@mcpx/protocol'
import type { EndpointContext } from '../endpoint-context.ts'
import type { HttpExchange } from '../exchange.ts'
import { NETWORK } from '../http-request.ts'
import { type HttpAnswer, refusal } from '../responses.ts'
import type { StoredStream } from './stored-stream.ts'

/** A session that this process is serving. */
export class LiveSession {
  readonly id: string
  /** The newest record that this process has read or written, without its version. */
  state: Readonly<SessionState> = {}
  /** When the client last sent something, in ms since 1970. */
  seenAt = Date.now()
  /** The number of open SSE streams. */
  readers = 0
  /** The number of calls and streams that need this object. */
  holders = 0
  hasEnded = false
  /** The GET stream. `isWaiting`: whether its client has disconnected. */
  serverStream: { end(): void; readonly isWaiting?: boolean } | undefined
  /** The record that `state` was read from. */
  #record: Readonly<SessionState> | undefined
  #requests: ClientRequests | undefined
  #running: ShortLivedMap<RequestId, HttpExchange> | undefined
  #streams: ShortLivedMap<string, StoredStream> | undefined

  readonly #processId: string | undefined

  /** @param processId identifies this process, if other processes serve the session too */
  constructor(id: string, state: Readonly<SessionState>, processId?: string) {
    this.id = id
    this.replaceState(state)
    this.#processId = processId
  }

  /** Requests to the client. */
  get requests(): ClientRequests {
    this.#requests ??= new ClientRequests(this.#processId)
    return this.#requests
  }

  /** Running requests of the client. */
  get running(): ShortLivedMap<RequestId, HttpExchange> {
    this.#running ??= new ShortLivedMap()
    return this.#running
  }

  /** The POST streams that this process writes. They may have no reader. */
  get streams(): ShortLivedMap<string, StoredStream> {
    this.#streams ??= new ShortLivedMap()
    return this.#streams
  }

  /** Whether a client reads a stream or waits for a response in this process. */
  get hasClient(): boolean {
    return this.readers > 0 || [...this.running.values()].some(({ isGone }) => !isGone)
  }

  /** Returns the HTTP status and the error if a request cannot run now. Otherwise returns undefined. */
  refusalOf(id: RequestId, mostRunning: number): { readonly status: number; readonly error: RpcError } | undefined {
    if (this.running.has(id)) {
      return { status: 400, error: invalidRequest('Invalid message: id: a request with this id is still in flight') }
    }
    return this.running.size >= mostRunning ? { status: 429, error: tooManyRequests(mostRunning) } : undefined
  }

  /** Ends the streams and requests of the session in this process. */
  end(reason: Error): void {
    this.hasEnded = true
    this.serverStream?.end()
    this.#requests?.fail(reason)
    for (const exchange of [...this.running.values()]) exchange.abort(reason)
  }

  /** Handles a cancellation or progress notification. Returns whether it was for a request of this process. */
  handleNotification(notification: NotificationMessage): boolean {
    if (notification.method === 'notifications/progress') return this.requests.handleProgress(notification)
    const id = notification.params?.requestId
    const exchange = isRequestId(id) ? this.running.get(id) : undefined
    exchange?.abort(new ConnectionError('cancelled', 'The client cancelled the request'))
    return exchange !== undefined
  }

  /** Replaces the record, unless the new record is older, because records of other processes may arrive late. */
  replaceState(record: Readonly<SessionState>): void {
    if (record === this.#record || (record.version ?? 0) < (this.#record?.version ?? 0)) return
    const { version: _, ...state } = record
    this.#record = record
    this.state = state
  }
}

export function tooManyRequests(most: number): RpcError {
  return invalidRequest(`Too many requests of one session at once: at most ${most} (limits.sessionRequests)`)
}

export function batchesNotAllowed(): HttpAnswer {
  const text = `Invalid message: batches are accepted only in revision ${BATCH_REVISION}`
  return refusal(400, invalidRequest(text))
}

/** A stream on which requests are sent to the client, until it ends. */
export interface RequestStream {
  readonly canSend: boolean
  send(message: Message): Promise<void> | undefined
}

/** Requests from the server to the client. They are sent on the stream of a client request; the responses are POSTed. */
class ClientRequests {
  readonly #streams = new ShortLivedMap<RequestId, RequestStream>()
  readonly #pending = createPendingRequests({ onCancel: (id, reason) => this.#cancel(id, reason) })
  /**
   * The prefix of each request id. It is unique for each process, and contains the id of the process that waits for the
   * response.
   */
  readonly #prefix: string
  #count = 0

  constructor(processId: string | undefined) {
    const unique = crypto.randomUUID().slice(0, 8)
    this.#prefix = processId === undefined ? unique : `${processId}-${unique}`
  }

  async request(
    stream: RequestStream | undefined,
    method: string,
    params: object | undefined,
    options: RequestOptions,
  ) {
    if (stream === undefined || !stream.canSend) throw unreachable(method)
    if (options.signal?.aborted) throw cancelledError(method, options.signal)
    this.#count += 1
    const id = `${this.#prefix}-${this.#count}`
    const sent = options.onNotification === undefined ? (params as JsonObject) : withProgressToken(params, id)
    this.#streams.set(id, stream)
    try {
      const answer = this.#pending.add(id, method, options)
      void stream.send({ jsonrpc: '2.0', id, method, params: sent })
      return await answer
    } finally {
      this.#streams.delete(id)
    }
  }

  /** Delivers a response. Returns whether this process has sent the request. */
  settle(answer: ResponseMessage): boolean {
    return this.#pending.settle(answer)
  }

  /** Delivers a progress notification. Returns whether this process has sent the request. */
  handleProgress(progress: NotificationMessage): boolean {
    const id = progress.params?.progressToken
    return isRequestId(id) && (this.#pending.handleNotification(id, progress) || this.#pending.get(id) !== undefined)
  }

  /** Rejects the pending requests of one stream. Without a stream, rejects all pending requests. */
  fail(reason: Error, stream?: RequestStream): void {
    if (stream === undefined) this.#pending.failAll(reason)
    for (const [id, carrying] of this.#streams) if (carrying === stream) this.#pending.fail(id, reason)
  }

  #cancel(requestId: RequestId, reason: string): void {
    const params = { requestId, reason }
    void this.#streams.get(requestId)?.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  }
}

export function unreachable(method: string): ConnectionError {
  const hint = 'Requests to a client need a session and the open stream of a running request of that client.'
  return new ConnectionError('unreachable', `Cannot send ${method} to the client`, { hint })
}

/** Changes a session record that is not in a store. */
export function updateTemporary(live: LiveSession, change: (state: SessionState) => void): void {
  const state: SessionState = { ...live.state }
  change(state)
  live.state = state
}

type UpdateState = (live: LiveSession, change: (state: SessionState) => void) => void | Promise<void>

/** The `Session` of one exchange. */
export class HttpSession implements Session {
  readonly #live: LiveSession
  readonly #update: UpdateState
  readonly #stream: RequestStream | undefined

  /** @param stream sends requests to the client; undefined if that is not possible */
  constructor(live: LiveSession, update: UpdateState, stream?: RequestStream) {
    this.#live = live
    this.#update = update
    this.#stream = stream
  }

  get id(): string {
    return this.#live.id
  }

  get state(): Readonly<SessionState> {
    return this.#live.state
  }

  async update(change: (state: SessionState) => void): Promise<void> {
    await this.#update(this.#live, change)
  }

  request(method: string, params?: object, options: RequestOptions = {}): Promise<unknown> {
    return this.#live.requests.request(this.#stream, method, params, options)
  }
}

/** Notifies the responder that a session has ended. Reports its errors and never rejects. */
export async function sessionEnded({ responder, report }: EndpointContext, session: HttpSession): Promise<void> {
  try {
    await responder.sessionEnded?.(session, NETWORK)
  } catch (problem) {
    report(problem as Error)
  }
}
