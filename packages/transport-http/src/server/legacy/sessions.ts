/**
 * The legacy sessions of an endpoint. Idle sessions exist only as records in the store. Active sessions also exist as
 * objects.
 */

import {
  ASSUMED_REVISION,
  type AuthInfo,
  ConnectionError,
  internalError,
  invalidRequest,
  isRevision,
  type Message,
  type NotificationMessage,
  principalOf,
  type RequestId,
  type ResponseMessage,
  RpcError,
  type SessionState,
  type SessionStore,
  ShortLivedMap,
} from '@mcpx/protocol'
import { createMemorySessionStore } from '@mcpx/protocol/memory'
import { SESSION_HEADER, VERSION_HEADER } from '../../headers.ts'
import type { EndpointContext } from '../endpoint-context.ts'
import type { HttpRequest } from '../http-request.ts'
import { type HttpAnswer, refusal } from '../responses.ts'
import { every } from '../timers.ts'
import { Processes } from './processes.ts'
import { LiveSession, updateTemporary } from './session.ts'

const DEFAULT_TTL = 30 * 60_000
const AWAY_TIMEOUT = 5 * 60_000
/** The longest interval at which sessions without a client are looked up in the store, in ms. */
const EXPIRY_CHECK = 60_000
/** How often a response of a client is sent to the process that waits for it. */
const ANSWER_ATTEMPTS = 5
/** How long to wait until the process of a connection has accepted a forwarded POST, in ms. */
const FORWARD_TIMEOUT = 5_000
const NO_REPLY = 'The process of this connection did not reply'

/** A message between processes about a session. It has one member besides the id of the session. */
interface SessionMessage {
  readonly session: string
  /** A response of the client to a request of the receiving process. */
  readonly answer?: ResponseMessage
  /** A cancellation or progress notification of the client. */
  readonly notification?: NotificationMessage
  /** The changed record. */
  readonly state?: Readonly<SessionState>
  readonly ended?: true
  /** The id of a stream. The message asks the receiver whether it still writes this stream. */
  readonly writes?: string
  /** Set if the message asks the receiver whether the client reads the GET stream there. */
  readonly streams?: true
  /** Set if the client has opened or resumed the GET stream at the sending process. */
  readonly resumed?: true
  /** The body of a POST for a connection of HTTP+SSE, whose id takes the place of the id of a session. */
  readonly posted?: ForwardedPost
}

/** The messages of a POST that reached another process than the one that can handle them. */
export interface ForwardedPost {
  readonly items: readonly ({ readonly message: Message } | { readonly answer: ResponseMessage | undefined })[]
  readonly isBatch: boolean
  readonly auth: AuthInfo | undefined
  /** The caller that the POST counts for. */
  readonly caller: string | undefined
  /** The bytes that the POST counts. */
  readonly bytes: number
}

export class Sessions {
  /** The store. Undefined if sessions are disabled; each request then has a temporary session. */
  readonly #store: SessionStore | undefined
  readonly #ttl: number
  /** After this time, a client that reads no stream and sends no message counts as away, in ms. */
  readonly awayTimeout: number
  readonly #processes: Processes<SessionMessage, boolean | HttpAnswer> | undefined
  readonly #report: (problem: Error) => void
  readonly #live = new ShortLivedMap<string, LiveSession>()
  /** Called with POSTs that other processes forward to the connection with this id. Returns the HTTP response. */
  onForwarded: ((id: string, post: ForwardedPost) => HttpAnswer) | undefined
  #checking: ReturnType<typeof every>

  constructor({ options, report, responder }: EndpointContext) {
    const sessions = options.sessions === false ? undefined : (options.sessions ?? {})
    this.#store = sessions && (sessions.store ?? responder.store?.sessions ?? createMemorySessionStore())
    this.#ttl = sessions?.ttl ?? DEFAULT_TTL
    this.awayTimeout = sessions?.awayTimeout ?? AWAY_TIMEOUT
    this.#report = report
    const bus = sessions && (sessions.bus ?? responder.store?.bus)
    if (bus === undefined) return
    const refreshAll = () => this.all.forEach((live) => void this.refresh(live))
    this.#processes = new Processes(bus, (message) => this.#receive(message), refreshAll, report)
  }

  /** Whether sessions are kept after their requests. */
  get areStored(): boolean {
    return this.#store !== undefined
  }

  /** Whether other processes may serve the same sessions. */
  get areShared(): boolean {
    return this.#processes !== undefined
  }

  /** The id of this process. Undefined if no other process may serve the same sessions. */
  get processId(): string | undefined {
    return this.#processes?.id
  }

  /** The number of sessions with a running request or an open stream in this process. */
  get size(): number {
    return this.#live.size
  }

  get all(): LiveSession[] {
    return [...this.#live.values()]
  }

  /** @param caller the caller of an anonymous request */
  async create(id: string, state: Readonly<SessionState>, auth: AuthInfo | undefined, caller?: string): Promise<void> {
    const bound: SessionState = { ...state }
    if (auth !== undefined) bound.subject = principalOf(auth) as string
    else if (caller !== undefined) bound.openedFrom = caller
    await this.#store?.create(id, bound, this.#ttl)
  }

  /**
   * Returns the session that a request names, or the response that refuses the request. The session is kept until
   * `release`.
   */
  async find(request: HttpRequest, requestId?: RequestId): Promise<LiveSession | HttpAnswer> {
    if (this.#store === undefined) return createTemporary(request)
    const id = request.header(SESSION_HEADER)
    if (id === null) {
      return refusal(400, invalidRequest('Mcp-Session-Id is missing: send "initialize" first'), requestId)
    }
    await this.#processes?.connect()
    const state = await this.#store.get(id, this.#ttl)
    // Another caller receives the same response as for an unknown session.
    if (state === undefined || state.subject !== principalOf(request.auth)) return noSession(requestId)
    // Runtimes with `waitUntil` stop a timer together with its request, and a request together with its client.
    if (request.waitUntil === undefined) {
      this.#checking ??= every(Math.min(EXPIRY_CHECK, this.#ttl), () => void this.#endExpired())
    }
    let live = this.#live.get(id)
    if (live !== undefined) live.replaceState(state)
    else {
      live = new LiveSession(id, state, this.processId)
      this.#live.set(id, live)
    }
    live.holders += 1
    live.seenAt = Date.now()
    return live
  }

  /** Returns whether the client of a session reads no stream, and has sent nothing for `awayTimeout`. */
  isAway({ readers, seenAt }: LiveSession): boolean {
    return readers === 0 && Date.now() - seenAt >= this.awayTimeout
  }

  hold(live: LiveSession): void {
    live.holders += 1
  }

  release(live: LiveSession): void {
    live.holders -= 1
    if (live.holders > 0 || this.#live.get(live.id) !== live) return
    this.#live.delete(live.id)
    if (this.#live.size === 0) this.#stopChecking()
  }

  /** Ends the calls of expired sessions whose clients have disconnected, because no client can receive their results. */
  async #endExpired(): Promise<void> {
    for (const live of this.all.filter(({ hasClient, hasEnded }) => !hasClient && !hasEnded)) {
      try {
        const state = await this.#store?.get(live.id)
        if (state === undefined && !live.hasClient) live.end(new ConnectionError('closed', 'The session has expired'))
      } catch (problem) {
        this.#report(problem as Error)
      }
    }
  }

  #stopChecking(): void {
    clearInterval(this.#checking)
    this.#checking = undefined
  }

  /** Changes the record. It can be called without `this`. */
  readonly update = async (live: LiveSession, change: (state: SessionState) => void): Promise<void> => {
    if (this.#store === undefined) return updateTemporary(live, change)
    let isForCalls = false
    const state = await this.#store.update(live.id, (record) => {
      const { logLevel } = record
      change(record)
      isForCalls = record.logLevel !== logLevel
      record.version = (record.version ?? 0) + 1
    })
    if (state === undefined) throw new ConnectionError('closed', 'The session has ended')
    live.replaceState(state)
    // If the session has running calls, notify all processes. All other changes matter only to the process of the GET
    // stream.
    const { streamProcess } = state
    if (isForCalls) await this.#processes?.publish({ session: live.id, state })
    else if (streamProcess !== undefined) await this.#processes?.publish({ session: live.id, state }, streamProcess)
  }

  /** Extends the time to live. Ends the session in this process if its record no longer exists. */
  async refresh(live: LiveSession): Promise<void> {
    if (this.#store === undefined) return
    try {
      const state = await this.#store.get(live.id, this.#ttl)
      if (state === undefined) live.end(new ConnectionError('closed', 'The session has ended'))
      else live.replaceState(state)
    } catch (problem) {
      this.#report(problem as Error)
    }
  }

  /** Ends a session in every process. */
  async end({ id }: LiveSession): Promise<void> {
    await this.#store?.delete(id)
    this.#live.get(id)?.end(new ConnectionError('closed', 'The session has ended'))
    await this.#processes?.publish({ session: id, ended: true })
  }

  /**
   * Delivers a response of the client, in this process or in the process that waits for it. Returns false if that
   * process does not reply.
   */
  async answer(live: LiveSession, answer: ResponseMessage): Promise<boolean> {
    if (live.requests.settle(answer)) return true
    const process = processOf(answer.id)
    if (this.#isOther(process)) {
      const isHandled = await this.#processes?.send(process, { session: live.id, answer }, ANSWER_ATTEMPTS)
      if (isHandled !== false) return isHandled === true
    }
    this.#report(new ConnectionError('unmatched', 'Ignored a response: no pending request has its id'))
    return true
  }

  /** Subscribes to messages of other processes, if the store is shared. */
  async connect(): Promise<void> {
    await this.#processes?.connect()
  }

  /**
   * Forwards a POST to the process whose id begins the id of a connection, and returns its HTTP response. Returns
   * undefined if there is no other process.
   */
  async forward(id: string, posted: ForwardedPost): Promise<HttpAnswer | undefined> {
    const process = processOf(id)
    if (this.#processes === undefined || !this.#isOther(process)) return undefined
    await this.#processes.connect()
    const reply = await this.#processes.send(process, { session: id, posted }, 1, FORWARD_TIMEOUT)
    return typeof reply === 'object' ? reply : refusal(504, internalError(NO_REPLY))
  }

  /** Delivers a cancellation or progress notification. Returns false for other notifications. */
  async handleNotification(live: LiveSession, notification: NotificationMessage): Promise<boolean> {
    const { method, params } = notification
    if (method !== 'notifications/cancelled' && method !== 'notifications/progress') return false
    if (live.handleNotification(notification)) return true
    const message = { session: live.id, notification }
    const process = processOf(params?.progressToken)
    if (method === 'notifications/cancelled') await this.#processes?.publish(message)
    else if (this.#isOther(process)) await this.#processes?.send(process, message)
    return true
  }

  /** Returns whether a process still writes a POST stream. Assumed to be true if other processes cannot be asked. */
  async hasWriter(live: LiveSession, streamId: string): Promise<boolean> {
    if (this.#processes === undefined || live.streams.has(streamId)) return true
    const process = streamId.slice(streamId.lastIndexOf('-') + 1)
    return (
      this.#isOther(process) && (await this.#processes.send(process, { session: live.id, writes: streamId })) === true
    )
  }

  /** Returns whether the client reads the GET stream at another process. */
  async hasStreamElsewhere({ id, state: { streamProcess } }: LiveSession): Promise<boolean> {
    if (this.#processes === undefined || !this.#isOther(streamProcess)) return false
    return (await this.#processes.send(streamProcess, { session: id, streams: true })) === true
  }

  /**
   * Stores that this process has the GET stream of a session, so that other processes notify this process of changes. A
   * stream of another process ends.
   */
  async claimStream(live: LiveSession): Promise<void> {
    const { processId } = this
    if (processId === undefined || live.state.streamProcess === processId) return
    let previous: string | undefined
    await this.update(live, (state) => {
      previous = state.streamProcess
      state.streamProcess = processId
    })
    if (previous !== undefined) await this.#processes?.publish({ session: live.id, resumed: true }, previous)
  }

  async close(reason: Error): Promise<void> {
    this.#stopChecking()
    for (const live of this.all) live.end(reason)
    await this.#processes?.close()
  }

  #isOther(process: string | undefined): process is string {
    return process !== undefined && process !== this.processId
  }

  /**
   * Handles a message of another process. Returns the response to a forwarded POST. For any other message, returns
   * whether this process has the request or stream of the message.
   */
  #receive({ session, answer, notification, state, ended, writes, streams, resumed, posted }: SessionMessage) {
    if (typeof session !== 'string') throw new TypeError('Ignored a message of the event bus: it names no session')
    if (posted !== undefined) return this.onForwarded?.(session, posted) ?? false
    const live = this.#live.get(session)
    if (live === undefined) return false
    // The client uses another process, which may copy a stream of this process to it.
    live.seenAt = Date.now()
    if (answer !== undefined) return live.requests.settle(answer)
    if (notification !== undefined) return live.handleNotification(notification)
    if (writes !== undefined) return live.streams.has(writes)
    if (streams) return live.serverStream?.isWaiting === false
    if (state !== undefined) live.replaceState(state)
    if (resumed) live.serverStream?.end()
    if (ended) live.end(new ConnectionError('closed', 'The session has ended'))
    return true
  }
}

/** Returns the process that sent a request to a client, from the id of the request. */
function processOf(id: unknown): string | undefined {
  return typeof id === 'string' ? /^([0-9a-f]{16})-/.exec(id)?.[1] : undefined
}

/** Creates a session that ends with its request. */
function createTemporary(request: HttpRequest): LiveSession {
  const version = request.header(VERSION_HEADER)
  const revision = isRevision(version) ? version : ASSUMED_REVISION
  const live = new LiveSession(crypto.randomUUID(), { revision, initialized: true })
  live.holders = 1
  return live
}

/**
 * The error code of the official SDKs. Some clients check this code and the words "Session not found" instead of the
 * status.
 */
const SESSION_NOT_FOUND = -32001

export function noSession(requestId?: RequestId): HttpAnswer {
  const text = 'Session not found: send "initialize" without Mcp-Session-Id'
  return refusal(404, new RpcError(SESSION_NOT_FOUND, text), requestId)
}
