/** The legacy sessions of an endpoint. Idle sessions exist only as records in the store; active ones also as objects. */

import {
  ASSUMED_REVISION,
  type AuthInfo,
  ConnectionError,
  type EventBus,
  invalidRequest,
  isRevision,
  type NotificationMessage,
  principalOf,
  type RequestId,
  type ResponseMessage,
  RpcError,
  type SessionState,
  type SessionStore,
} from '@mcpx/protocol'
import { createMemorySessionStore } from '@mcpx/protocol/memory'
import { SESSION_HEADER, VERSION_HEADER } from '../../headers.ts'
import type { EndpointContext } from '../endpoint-context.ts'
import type { HttpRequest } from '../http-request.ts'
import { type HttpAnswer, refusal } from '../responses.ts'
import { LiveSession, updateTemporary } from './session.ts'

const DEFAULT_TTL = 30 * 60_000
const AWAY_TIMEOUT = 5 * 60_000
/** How long to wait for another process to answer that it writes a stream, in ms. */
const FIND_WRITER = 1_000

/** The messages between processes about a session. */
type BusMessage =
  | { readonly answer: ResponseMessage }
  | { readonly notification: NotificationMessage }
  | { readonly state: Readonly<SessionState> }
  | { readonly ended: true }
  | { readonly sought: string }
  | { readonly writing: string }

export class Sessions {
  /** Undefined if sessions are disabled. Each request then has a temporary session. */
  readonly #store: SessionStore | undefined
  readonly #ttl: number
  /** The time after which a client without stream and messages is away, in ms. */
  readonly awayTimeout: number
  readonly #bus: EventBus | undefined
  readonly #report: (problem: Error) => void
  readonly #live = new Map<string, LiveSession>()
  readonly #writersFound = new Set<{ readonly streamId: string; readonly found: () => void }>()

  constructor({ options, report, responder }: EndpointContext) {
    const sessions = options.sessions === false ? undefined : (options.sessions ?? {})
    this.#store = sessions && (sessions.store ?? responder.store?.sessions ?? createMemorySessionStore())
    this.#ttl = sessions?.ttl ?? DEFAULT_TTL
    this.awayTimeout = sessions?.awayTimeout ?? AWAY_TIMEOUT
    this.#bus = sessions && (sessions.bus ?? responder.store?.bus)
    this.#report = report
  }

  /** Whether sessions outlive their requests. */
  get areStored(): boolean {
    return this.#store !== undefined
  }

  /** Whether other processes may serve the same sessions. */
  get areShared(): boolean {
    return this.#bus !== undefined
  }

  get all(): LiveSession[] {
    return [...this.#live.values()]
  }

  async create(id: string, state: Readonly<SessionState>, auth: AuthInfo | undefined): Promise<void> {
    const bound = auth === undefined ? state : { ...state, subject: principalOf(auth) as string }
    await this.#store?.create(id, bound, this.#ttl)
  }

  /** Returns the session that a request names, held until `release`, or the response that refuses the request. */
  async find(request: HttpRequest, requestId?: RequestId): Promise<LiveSession | HttpAnswer> {
    if (this.#store === undefined) return createTemporary(request)
    const id = request.header(SESSION_HEADER)
    if (id === null) {
      return refusal(400, invalidRequest('Mcp-Session-Id is missing: send "initialize" first'), requestId)
    }
    const changes = this.#live.get(id)?.changes ?? 0
    const state = await this.#store.get(id, this.#ttl)
    // Another caller gets the same response as for an unknown session.
    if (state === undefined || state.subject !== principalOf(request.auth)) return noSession(requestId)
    const live = this.#live.get(id) ?? new LiveSession(id, state)
    live.holders += 1
    live.seenAt = Date.now()
    if (live.changes === changes) live.state = state
    await this.#keep(live)
    return live
  }

  /** Registers the object, so that other requests find it, and subscribes to messages of other processes. */
  async #keep(live: LiveSession): Promise<void> {
    this.#live.set(live.id, live)
    if (this.#bus === undefined) return
    live.subscription ??= this.#subscribe(this.#bus, live)
    const { subscription } = live
    try {
      await subscription
    } catch (problem) {
      // The next request subscribes again.
      if (live.subscription === subscription) live.subscription = undefined
      this.release(live)
      throw problem
    }
  }

  async #subscribe(bus: EventBus, live: LiveSession): Promise<() => unknown> {
    return bus.subscribe(topicOf(live.id), (text) => this.#receive(live, text))
  }

  /** Whether the client of a session reads no stream, and has sent nothing for long. */
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
    void this.#unsubscribe(live)
  }

  async #unsubscribe(live: LiveSession): Promise<void> {
    try {
      const unsubscribe = await live.subscription
      await unsubscribe?.()
    } catch (problem) {
      this.#report(problem as Error)
    }
  }

  /** Changes the record. Works without a `this`. */
  readonly update = async (live: LiveSession, change: (state: SessionState) => void): Promise<void> => {
    if (this.#store === undefined) return updateTemporary(live, change)
    const state = await this.#store.update(live.id, change)
    if (state === undefined) throw new ConnectionError('closed', 'The session has ended')
    live.replaceState(state)
    await this.#publish(live.id, { state })
  }

  /** Extends the time to live. Ends the session in this process if its record no longer exists. */
  async refresh(live: LiveSession): Promise<void> {
    if (this.#store === undefined) return
    try {
      const { changes } = live
      const state = await this.#store.get(live.id, this.#ttl)
      if (state === undefined) live.end(new ConnectionError('closed', 'The session has ended'))
      else if (live.changes === changes) live.state = state
    } catch (problem) {
      this.#report(problem as Error)
    }
  }

  /** Ends a session in every process. */
  async end({ id }: LiveSession): Promise<void> {
    await this.#store?.delete(id)
    this.#live.get(id)?.end(new ConnectionError('closed', 'The session has ended'))
    await this.#publish(id, { ended: true })
  }

  /** Delivers a response of the client, in this process or another one. */
  async answer(live: LiveSession, answer: ResponseMessage): Promise<void> {
    if (live.requests.settle(answer)) return
    if (this.#bus !== undefined) await this.#publish(live.id, { answer })
    else this.#report(new ConnectionError('unmatched', 'Ignored a response: no pending request has its id'))
  }

  /** Delivers a cancellation or progress notification. Returns false for other notifications. */
  async handleNotification(live: LiveSession, notification: NotificationMessage): Promise<boolean> {
    const { method } = notification
    if (method !== 'notifications/cancelled' && method !== 'notifications/progress') return false
    if (!live.handleNotification(notification)) await this.#publish(live.id, { notification })
    return true
  }

  /** Returns whether a process still writes a POST stream. Assumed to be true if other processes cannot be asked. */
  async hasWriter(live: LiveSession, streamId: string): Promise<boolean> {
    if (this.#bus === undefined || live.streams.has(streamId)) return true
    return new Promise((resolve) => {
      const finish = (hasWriter: boolean) => {
        clearTimeout(timer)
        this.#writersFound.delete(waiting)
        resolve(hasWriter)
      }
      const timer = setTimeout(() => finish(false), FIND_WRITER)
      const waiting = { streamId, found: () => finish(true) }
      this.#writersFound.add(waiting)
      void this.#publish(live.id, { sought: streamId })
    })
  }

  /** Handles a message of another process. Reports and ignores invalid messages, because other programs may use the bus. */
  #receive(live: LiveSession, text: string): void {
    // The client is alive at another process, which may also read a stream of this one.
    live.seenAt = Date.now()
    try {
      const message = JSON.parse(text) as BusMessage
      if ('answer' in message) live.requests.settle(message.answer)
      else if ('notification' in message) live.handleNotification(message.notification)
      else if ('state' in message) live.replaceState(message.state)
      else if ('sought' in message) {
        if (live.streams.has(message.sought)) void this.#publish(live.id, { writing: message.sought })
      } else if ('writing' in message) {
        for (const { streamId, found } of [...this.#writersFound]) if (streamId === message.writing) found()
      } else live.end(new ConnectionError('closed', 'The session has ended'))
    } catch (problem) {
      this.#report(problem as Error)
    }
  }

  async #publish(id: string, message: BusMessage): Promise<void> {
    try {
      await this.#bus?.publish(topicOf(id), JSON.stringify(message))
    } catch (problem) {
      this.#report(problem as Error)
    }
  }
}

function topicOf(id: string): string {
  return `mcpx/session/${id}`
}

/** Creates a session that ends with its request. */
function createTemporary(request: HttpRequest): LiveSession {
  const version = request.header(VERSION_HEADER)
  const revision = isRevision(version) ? version : ASSUMED_REVISION
  const live = new LiveSession(crypto.randomUUID(), { revision, initialized: true })
  live.holders = 1
  return live
}

/** The code of the official SDKs. Some clients look for it, and for the words "Session not found", instead of the status. */
const SESSION_NOT_FOUND = -32001

export function noSession(requestId?: RequestId): HttpAnswer {
  const text = 'Session not found: send "initialize" without Mcp-Session-Id'
  return refusal(404, new RpcError(SESSION_NOT_FOUND, text), requestId)
}
