/** One legacy session in this process: what runs for it, its requests to the client, and the session that handlers see. */

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
  withProgressToken,
} from '@mcpx/protocol'
import type { EndpointContext } from '../endpoint-context.ts'
import type { HttpExchange } from '../exchange.ts'
import { type HttpAnswer, refusal } from '../responses.ts'
import type { StoredStream } from './stored-stream.ts'

/** A session while this process serves it. */
export class LiveSession {
  readonly id: string
  /** The newest record that this process has seen. */
  state: Readonly<SessionState>
  /** The number of times that `state` was replaced: a record that was read before the last time is outdated. */
  changes = 0
  /** The number of open SSE streams. */
  readers = 0
  /** The number of calls and streams that need this object. */
  holders = 0
  hasEnded = false
  /** The stream of the GET. */
  serverStream: { end(): void } | undefined
  /** Resolves when messages of other processes are received, to the function that ends that. */
  subscription: Promise<() => unknown> | undefined
  #requests: ClientRequests | undefined
  #running: Map<RequestId, HttpExchange> | undefined
  #streams: Map<string, StoredStream> | undefined

  constructor(id: string, state: Readonly<SessionState>) {
    this.id = id
    this.state = state
  }

  /** Requests to the client. */
  get requests(): ClientRequests {
    this.#requests ??= new ClientRequests()
    return this.#requests
  }

  /** Requests of the client that are being answered. */
  get running(): Map<RequestId, HttpExchange> {
    this.#running ??= new Map()
    return this.#running
  }

  /** The streams of POSTs that are written to here, with or without a reader. */
  get streams(): Map<string, StoredStream> {
    this.#streams ??= new Map()
    return this.#streams
  }

  /** Why a request cannot run now, with its HTTP status. */
  refusalOf(id: RequestId, mostRunning: number): { readonly status: number; readonly error: RpcError } | undefined {
    if (this.running.has(id)) {
      return { status: 400, error: invalidRequest('Invalid message: id: a request with this id is still in flight') }
    }
    return this.running.size >= mostRunning ? { status: 429, error: tooManyRequests(mostRunning) } : undefined
  }

  /** Ends everything of the session in this process. */
  end(reason: Error): void {
    this.hasEnded = true
    this.serverStream?.end()
    this.#requests?.fail(reason)
    for (const exchange of [...this.running.values()]) exchange.abort(reason)
  }

  /** Passes a cancellation or progress on. Returns whether it is for this process. */
  relate(notification: NotificationMessage): boolean {
    if (notification.method === 'notifications/progress') return this.requests.handleProgress(notification)
    const id = notification.params?.requestId
    const exchange = isRequestId(id) ? this.running.get(id) : undefined
    exchange?.abort(new ConnectionError('cancelled', 'The client cancelled the request'))
    return exchange !== undefined
  }

  replaceState(state: Readonly<SessionState>): void {
    this.state = state
    this.changes += 1
  }
}

export function tooManyRequests(most: number): RpcError {
  return invalidRequest(`Too many requests of one session at once: at most ${most} (limits.sessionRequests)`)
}

export function batchesNotAllowed(): HttpAnswer {
  const text = `Invalid message: an array of messages is only let in with revision ${BATCH_REVISION}`
  return refusal(400, invalidRequest(text))
}

/** The stream that carries a request. It cannot once it has ended. */
export interface RequestStream {
  readonly canSend: boolean
  send(message: Message): Promise<void> | undefined
}

/** Requests from the server to the client: they leave on the stream of a request and are answered by POSTs. */
class ClientRequests {
  readonly #streams = new Map<RequestId, RequestStream>()
  readonly #pending = createPendingRequests({ onGivenUp: (id, reason) => this.#cancel(id, reason) })
  /** Ids differ between the processes that serve one client. */
  readonly #prefix = crypto.randomUUID().slice(0, 8)
  #count = 0

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

  /** Returns whether this process has sent the request that is answered. */
  settle(answer: ResponseMessage): boolean {
    return this.#pending.settle(answer)
  }

  /** Returns whether this process has sent the request that makes progress. */
  handleProgress(progress: NotificationMessage): boolean {
    const id = progress.params?.progressToken
    return isRequestId(id) && (this.#pending.hear(id, progress) || this.#pending.get(id) !== undefined)
  }

  /** Rejects the requests of one stream, or all: no answers can come any more. */
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
  const hint = 'A client can be asked while one of its requests is being answered by a stream, and it has a session.'
  return new ConnectionError('unreachable', `The client cannot be asked ${method} here`, { hint })
}

/** Changes a record that no store has. */
export function updateTemporary(live: LiveSession, change: (state: SessionState) => void): void {
  const state: SessionState = { ...live.state }
  change(state)
  live.state = state
}

type UpdateState = (live: LiveSession, change: (state: SessionState) => void) => void | Promise<void>

/** A session as one exchange sees it. */
export class HttpSession implements Session {
  readonly #live: LiveSession
  readonly #update: UpdateState
  readonly #stream: RequestStream | undefined

  /** @param stream carries requests to the client; absent where the client cannot be asked */
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

/** Tells the responder that a session has ended. Its errors are only reported. */
export async function sessionEnded({ responder, report }: EndpointContext, session: HttpSession): Promise<void> {
  try {
    await responder.sessionEnded?.(session)
  } catch (problem) {
    report(problem as Error)
  }
}
