/**
 * The transport of 2024-11-05: the server sends all messages on one SSE stream. The first event contains the URL for
 * the POSTs of the client.
 */

import {
  ConnectionError,
  type Message,
  Refusal,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
  ShortLivedMap,
} from '@mcpx/protocol'
import { EVENTS_TYPE } from '../headers.ts'
import type { EraHost } from './era.ts'
import { type Cursor, readEvents } from './event-reader.ts'
import { expectAccepted, post, send } from './send.ts'

/** How long the server may take to send its endpoint, in ms. */
const ENDPOINT_TIMEOUT = 10_000

interface PendingResponse {
  readonly resolve: (response: ResponseMessage) => void
  readonly reject: (error: Error) => void
}

/**
 * Opens the stream. Resolves to undefined when the server does not have this transport.
 * @param signal ends the attempt.
 * @param onMessage called with messages that are not responses.
 */
export async function openLegacySse(
  host: EraHost,
  signal: AbortSignal,
  onMessage: (message: Message) => void,
): Promise<LegacySse | undefined> {
  const stream = new AbortController()
  const cancel = () => stream.abort()
  const timer = setTimeout(cancel, ENDPOINT_TIMEOUT)
  signal.addEventListener('abort', cancel)
  host.signal.addEventListener('abort', cancel)
  try {
    const request = { method: 'GET', headers: { accept: EVENTS_TYPE }, signal: stream.signal } as const
    const response = await send(host.settings, request)
    const isStream = response.ok && response.headers.get('content-type')?.startsWith(EVENTS_TYPE)
    const sse = new LegacySse(host, onMessage)
    if (isStream && (await sse.open(response, stream.signal))) return sse
    cancel()
    return undefined
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}

export class LegacySse {
  readonly #host: EraHost
  readonly #onMessage: (message: Message) => void
  readonly #pending = new ShortLivedMap<RequestId, PendingResponse>()
  #endpoint: URL | undefined

  constructor(host: EraHost, onMessage: (message: Message) => void) {
    this.#host = host
    this.#onMessage = onMessage
  }

  /**
   * Resolves to true when the server has sent its endpoint. Resolves to false if the stream ends before that. Rejects with
   * `ConnectionError` if the stream breaks before that.
   */
  open(response: Response, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#read(response, signal, () => resolve(true)).then(() => resolve(false), reject)
    })
  }

  async request(message: RequestMessage, signal: AbortSignal): Promise<ResponseMessage> {
    try {
      return await new Promise<ResponseMessage>((resolve, reject) => {
        this.#pending.set(message.id, { resolve, reject })
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        this.send(message, signal).catch(reject)
      })
    } finally {
      this.#pending.delete(message.id)
    }
  }

  async send(message: Message, signal: AbortSignal): Promise<void> {
    await expectAccepted(await post(this.#host.settings, message, {}, signal, this.#endpoint), message)
  }

  async #read(response: Response, signal: AbortSignal, onOpen: () => void): Promise<void> {
    const { settings } = this.#host
    const cursor: Cursor = {}
    let cause: unknown
    try {
      await readEvents(response, settings, {
        cursor,
        signal,
        onMessage: (message) => this.#handle(message),
        onOther: ({ event, data }) => {
          if (event !== 'endpoint' || this.#endpoint !== undefined) return
          this.#endpoint = readEndpoint(data, settings.url)
          onOpen()
        },
      })
      cause = cursor.cut
      if (this.#endpoint === undefined && cause !== undefined && !signal.aborted) throw brokenStreamError(cause)
    } catch (error) {
      if (this.#endpoint === undefined) throw error
      cause = error
    }
    if (this.#endpoint !== undefined) this.#end(cause)
  }

  /** Ends the connection, because its stream has ended. */
  #end(cause: unknown): void {
    const hint = 'Connect again; the server may have processed the pending requests.'
    const error = new ConnectionError('closed', "The server's stream has ended", { retryable: true, hint, cause })
    this.#host.end(error)
    for (const { reject } of this.#pending.values()) reject(error)
  }

  #handle(message: Message | Refusal): void {
    if (message instanceof Refusal) this.#handleInvalid(message)
    else if ('method' in message) this.#onMessage(message)
    else this.#handleResponse(message)
  }

  #handleResponse(message: ResponseMessage): void {
    const pending = this.#pendingFor(message.id)
    if (pending === undefined) this.#onMessage(message)
    else pending.resolve(message)
  }

  #handleInvalid({ kind, id, error }: Refusal): void {
    const pending = kind === 'request' ? undefined : this.#pendingFor(id)
    if (pending === undefined) this.#host.report(error)
    else pending.reject(new ConnectionError('invalid-message', `The response was refused. ${error.message}`))
  }

  #pendingFor(id: RequestId | undefined): PendingResponse | undefined {
    return id === undefined ? undefined : (this.#pending.get(id) ?? this.#pending.get(Number(id)))
  }
}

/** Returns the URL for POSTs. It must have the origin of the server, because the credentials are sent to it. */
function readEndpoint(data: string, url: URL): URL {
  const hint = 'Report this to the author of the server.'
  if (!URL.canParse(data, url.href)) {
    throw new ConnectionError('invalid-message', 'The server sent an endpoint that is not a URL', { hint })
  }
  const endpoint = new URL(data, url)
  endpoint.username = endpoint.password = endpoint.hash = ''
  if (endpoint.origin === url.origin) return endpoint
  throw new ConnectionError('refused', `The server sent an endpoint of another origin, ${endpoint.origin}`, { hint })
}

/** Returns the error for a connection that broke before the server sent its endpoint. No message was sent over it. */
function brokenStreamError(cause: unknown): ConnectionError {
  const hint = 'Connect again: the server may have been restarted.'
  return new ConnectionError('closed', "The server's stream broke before it was open", { retryable: true, hint, cause })
}
