/** The legacy transport with one endpoint: each message is a POST with the session's id, and GET opens SSE streams. */

import {
  ConnectionError,
  ErrorCode,
  type JsonObject,
  type Message,
  type NotificationMessage,
  pause,
  quoted,
  Refusal,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
} from '@mcpx/protocol'
import { EVENTS_TYPE, LAST_EVENT_HEADER, SESSION_HEADER, VERSION_HEADER } from '../headers.ts'
import type { EraHost } from './era.ts'
import { type Cursor, readEvents } from './event-reader.ts'
import type { Settings } from './options.ts'
import { readRpcResponse, type SentRequest } from './rpc-response.ts'
import {
  discardBody,
  expectAccepted,
  type HeaderValues,
  labelOf,
  noResponseError,
  post,
  readText,
  responseLostError,
  send,
  statusError,
} from './send.ts'

/** The first revision that requires the version header. Older servers do not know this header. */
const VERSION_HEADER_SINCE = '2025-06-18'
/** The method of subscriptions. Updates of a subscribed resource arrive on the GET stream. */
const SUBSCRIBE = 'resources/subscribe'
/**
 * How long a subscription waits for the GET stream, in ms. The wait is limited because some servers send no headers
 * before the first event.
 */
const STREAM_WAIT = 1_000
/** How long the server may take to end the session, in ms. */
const DELETE_TIMEOUT = 2_000
/** How long pending requests may still receive a response after the session was lost, in ms. */
const GRACE = 1_000
/** If a stream was open for this long, in ms, the delays between attempts start again with the shortest. */
const STABLE_AFTER = 5_000

export class LegacySession {
  readonly #host: EraHost
  readonly #onMessage: (message: Message, owner?: RequestId) => void
  #id: string | undefined
  #revision: string | undefined
  /** Resolves when the GET stream is open, or cannot be opened. */
  #streamTried: Promise<void> | undefined

  /** @param onMessage called with messages that are not responses, and with the request on whose stream they arrived */
  constructor(host: EraHost, onMessage: (message: Message, owner?: RequestId) => void) {
    this.#host = host
    this.#onMessage = onMessage
  }

  get id(): string | undefined {
    return this.#id
  }

  async request(message: RequestMessage, signal: AbortSignal): Promise<ResponseMessage> {
    if (message.method === SUBSCRIBE) await this.#streamTried
    if (message.method !== 'initialize') return this.#request(message, signal)
    this.#forget()
    const rpcResponse = await this.#request(message, signal)
    this.#readRevision(rpcResponse)
    return rpcResponse
  }

  async send(message: NotificationMessage | ResponseMessage, signal: AbortSignal): Promise<void> {
    const hadSession = this.#id !== undefined
    const response = await post(this.#host.settings, message, this.#headers, signal)
    const lost = hadSession ? await findLostSession(response) : undefined
    try {
      await expectAccepted(response, message)
    } catch (error) {
      throw lost === undefined ? error : this.#endConnection(lost, error)
    }
  }

  /** Opens the GET stream, for messages that belong to no request. Some servers do not have this stream. */
  openServerStream(onMissed: (() => void) | undefined): void {
    this.#streamTried = new Promise((resolve) => {
      const timer = setTimeout(resolve, STREAM_WAIT)
      const onTried = () => {
        clearTimeout(timer)
        resolve()
      }
      void this.#listen(onTried, onMissed)
    })
  }

  /** Ends the session. Never rejects. */
  async close(): Promise<void> {
    if (this.#id === undefined) return
    const { settings, report } = this.#host
    const signal = AbortSignal.timeout(DELETE_TIMEOUT)
    try {
      const response = await send(settings, { method: 'DELETE', headers: this.#headers, signal })
      await response.body?.cancel()
    } catch (error) {
      report(error as Error)
    }
  }

  get #headers(): HeaderValues {
    return { [SESSION_HEADER]: this.#id, [VERSION_HEADER]: this.#revision }
  }

  #forget(): void {
    this.#id = undefined
    this.#revision = undefined
  }

  async #request(message: RequestMessage, signal: AbortSignal): Promise<ResponseMessage> {
    const { settings, report } = this.#host
    const { id, method } = message
    const hadSession = this.#id !== undefined
    const response = await post(settings, message, this.#headers, signal)
    const lost = hadSession ? await findLostSession(response) : undefined
    if (method === 'initialize' && response.ok) this.#readId(response)
    const onMessage = (other: Message) => this.#onMessage(other, id)
    const pending: SentRequest = { id, label: labelOf(message), signal, cursor: {}, onMessage, report }
    try {
      const rpcResponse = (await readRpcResponse(response, settings, pending)) ?? (await this.#resume(pending))
      if (lost === undefined || isMethodNotFound(rpcResponse)) return rpcResponse
    } catch (error) {
      if (lost !== undefined) throw this.#endConnection(lost, error)
      if (hasReason(error, 'closed')) this.#endConnection({ status: error.status ?? 404 })
      throw error
    }
    throw this.#endConnection(lost)
  }

  #readId({ headers }: Response): void {
    const id = headers.get(SESSION_HEADER)
    if (id === null) return
    if (!/^[!-~]+$/.test(id)) {
      const hint = 'A session id consists of visible ASCII characters: report this to the author of the server.'
      throw new ConnectionError('invalid-message', 'The server sent an invalid session id', { hint })
    }
    this.#id = id
  }

  #readRevision(rpcResponse: ResponseMessage): void {
    const revision = 'result' in rpcResponse ? (rpcResponse.result as JsonObject).protocolVersion : undefined
    if (typeof revision !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(revision)) return
    if (revision >= VERSION_HEADER_SINCE) this.#revision = revision
  }

  /** Removes a session that the server no longer knows. Returns the error for pending requests. */
  #loseSession({ status, words }: LostSession, cause?: unknown): ConnectionError {
    if (this.#id !== undefined && words !== undefined) this.#host.report(wrongStatusError(status, words))
    this.#forget()
    const hint = 'Connect again; the server may have processed the requests of the session.'
    return new ConnectionError('closed', 'The server has ended the session', { retryable: true, hint, status, cause })
  }

  /** Ends the connection, because the server no longer knows the session. */
  #endConnection(lost: LostSession, cause?: unknown): ConnectionError {
    const error = this.#loseSession(lost, cause)
    this.#host.end(error, GRACE)
    return error
  }

  #openStream({ lastEventId }: Cursor, signal: AbortSignal): Promise<Response> {
    const headers = { accept: EVENTS_TYPE, ...this.#headers, [LAST_EVENT_HEADER]: lastEventId }
    return send(this.#host.settings, { method: 'GET', headers, signal })
  }

  /**
   * Resumes the broken stream of a request. Rejects with `ConnectionError` (reason `unreachable`) after too many
   * attempts.
   */
  async #resume(pending: SentRequest): Promise<ResponseMessage> {
    const { settings } = this.#host
    const { cursor, label, signal } = pending
    const backoff = new Backoff(settings)
    if (settings.attempts === 0) throw responseLostError(label, cursor.cut)
    for (;;) {
      const { lastEventId } = cursor
      if (lastEventId === undefined) throw responseLostError(label, cursor.cut)
      await backoff.wait(cursor.retry, signal)
      try {
        const response = await this.#openStream(cursor, signal)
        const lost = this.#id === undefined ? undefined : await findLostSession(response)
        if (lost !== undefined) throw noResponseError(this.#loseSession(lost), label)
        if (response.ok) backoff.resetFailures()
        const rpcResponse = await readRpcResponse(response, settings, pending)
        if (rpcResponse !== undefined) return rpcResponse
      } catch (error) {
        if (!isTemporary(error)) throw hasReason(error, 'refused') ? responseLostError(label, error) : error
        if (!backoff.countFailure()) throw responseLostError(label, error)
      }
      if (cursor.lastEventId !== lastEventId) backoff.resetWaits()
    }
  }

  /**
   * Reads the GET stream until the connection ends. Returns if the server has no such stream. If the stream cannot be
   * opened again, ends the connection, because notifications would be missed.
   */
  async #listen(onTried: () => void, onMissed: (() => void) | undefined): Promise<void> {
    const { settings, signal, report } = this.#host
    const backoff = new Backoff(settings)
    const cursor: Cursor = {}
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      try {
        const response = await this.#openStream(cursor, signal)
        const isStream = await this.#isStream(response, cursor)
        onTried()
        if (!isStream) return
        backoff.resetFailures()
        // Messages may have been lost: servers need not store messages while the stream is closed, not even for clients
        // that resume.
        if (!isFirst) onMissed?.()
        const openedAt = performance.now()
        await readEvents(response, settings, { cursor, signal, onMessage: (message) => this.#handle(message) })
        if (performance.now() - openedAt > STABLE_AFTER) backoff.resetWaits()
      } catch (error) {
        onTried()
        if (signal.aborted) return
        if (isPlaceUnknown(error, cursor)) {
          cursor.lastEventId = undefined
          report(placeLostError(error))
          continue
        }
        // The server would send an event that is too large again.
        if (hasReason(error, 'closed') || hasReason(error, 'limit')) return this.#host.end(error, GRACE)
        if (!isTemporary(error)) return report(error as Error)
        if (!backoff.countFailure()) return this.#host.end(error)
      }
      await backoff.wait(cursor.retry, signal).catch(() => {})
    }
  }

  /** Resolves to false if the server has no GET stream. */
  async #isStream(response: Response, { lastEventId }: Cursor): Promise<boolean> {
    const { ok, status, headers } = response
    if (ok && headers.get('content-type')?.startsWith(EVENTS_TYPE)) return true
    const lost = this.#id === undefined ? undefined : await findLostSession(response)
    await discardBody(response)
    if (lost !== undefined) throw this.#loseSession(lost)
    // If a last event id was sent, 404 means that the event is unknown.
    if (ok || status === 405 || (status === 404 && lastEventId === undefined)) return false
    throw statusError(response, "Listening to the server's own stream")
  }

  #handle(message: Message | Refusal): void {
    if (message instanceof Refusal) this.#host.report(message.error)
    else this.#onMessage(message)
  }
}

/** A session that the server no longer knows. */
interface LostSession {
  readonly status: number
  /** The message of the server, if the status alone does not show that the session is lost. */
  readonly words?: string
}

/** The messages of servers that follow the examples of the official SDK, and respond with status 400 instead of 404. */
const LOST_SESSION =
  /No valid session ID provided|Server not initialized|Mcp-Session-Id header is required|Invalid or missing session ID/i

/** How many bytes at most of the body of an error response are searched for such a message. */
const MAX_FAILURE_SIZE = 2 ** 16

/**
 * Returns the lost session if the response says that the server no longer knows it, otherwise undefined. The body can
 * still be read.
 */
async function findLostSession(response: Response): Promise<LostSession | undefined> {
  const { status } = response
  if (status === 404) return { status }
  if (status !== 400) return undefined
  const text = await readText(response.clone(), MAX_FAILURE_SIZE).catch(() => '')
  const words = LOST_SESSION.exec(text)?.[0]
  return words === undefined ? undefined : { status, words }
}

/** Creates the warning about a server that reports a lost session with a status other than 404. */
function wrongStatusError(status: number, words: string): ConnectionError {
  const message = `The server no longer knows the session (${quoted(words)}): expected HTTP status 404, got ${status}`
  const hint = 'The client opens another session; report this to the author of the server.'
  return new ConnectionError('closed', message, { status, hint })
}

function hasReason(error: unknown, reason: ConnectionError['reason']): error is ConnectionError {
  return error instanceof ConnectionError && error.reason === reason
}

/**
 * Returns whether the same attempt may succeed later: after outages, limits, and a stream that the server still
 * considers open.
 */
export function isTemporary(error: unknown): error is ConnectionError {
  if (!(error instanceof ConnectionError)) return false
  const { reason, status = 0 } = error
  return reason === 'unreachable' || (reason === 'refused' && (status >= 500 || [408, 409, 429].includes(status)))
}

/** Some servers report an unknown method with the status of an unknown session. */
function isMethodNotFound(rpcResponse: ResponseMessage): boolean {
  return 'error' in rpcResponse && rpcResponse.error.code === ErrorCode.MethodNotFound
}

/** Returns whether the server does not know the last event. It may still have a GET stream. */
function isPlaceUnknown(error: unknown, { lastEventId }: Cursor): error is ConnectionError {
  return lastEventId !== undefined && hasReason(error, 'refused') && [400, 404, 410].includes(error.status ?? 0)
}

function placeLostError(cause: ConnectionError): ConnectionError {
  const message = 'The server cannot resume its own stream where it was cut: messages sent meanwhile may be lost'
  return new ConnectionError('refused', message, { status: cause.status as number, cause })
}

/**
 * The shortest delay, and the shortest delay that a server can request, both in ms. The second one prevents a server
 * from keeping a client busy.
 */
const MIN_WAIT = 20
const MIN_RETRY = 100

/** The delays between attempts to open a stream: the delay that the server requests, or growing random delays. */
export class Backoff {
  readonly #settings: Settings
  #waits = 0
  #failures = 0

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Starts again with the shortest delay, after an attempt that received something. */
  resetWaits(): void {
    this.#waits = 0
  }

  /** Resets the count of failures, after an attempt that reached the server. */
  resetFailures(): void {
    this.#failures = 0
  }

  /** Counts a failed attempt. Returns whether another attempt is allowed. */
  countFailure(): boolean {
    this.#failures += 1
    return this.#failures < this.#settings.attempts
  }

  /**
   * Waits for the next attempt. Rejects when the signal is aborted.
   * @param retry the delay that the server requests, in ms
   */
  wait(retry: number | undefined, signal: AbortSignal): Promise<void> {
    const { minDelay, maxDelay } = this.#settings
    const grown = minDelay * 2 ** this.#waits * (0.5 + Math.random() / 2)
    // The first delay is the delay that the server requests, even if `grown` is longer.
    const wanted = retry === undefined ? grown : Math.max(retry, MIN_RETRY, this.#waits === 0 ? 0 : grown)
    this.#waits += 1
    return pause(Math.max(Math.min(wanted, maxDelay), MIN_WAIT), signal)
  }
}
