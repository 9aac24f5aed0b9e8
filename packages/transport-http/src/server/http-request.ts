/** One HTTP request with its caller and its connection. */

import { type AuthInfo, ConnectionError, type Message, type NetworkInfo, type Refusal } from '@mcpx/protocol'
import type { Context } from 'hono'
import { EVENTS_TYPE } from '../headers.ts'
import type { Admission } from './admission.ts'

/** The members of Node's `IncomingMessage` that are used, so that this package compiles for every runtime. */
export interface NodeIncoming {
  readonly rawHeaders: readonly string[]
  readonly complete: boolean
  readonly destroyed: boolean
  readonly readableDidRead: boolean
  /** Null until the body is read or has a listener. */
  readonly readableFlowing: boolean | null
  readonly url?: string | undefined
  readonly socket?: { readonly remoteAddress?: string | undefined } | undefined
  on(event: 'data', listener: (chunk: Uint8Array) => void): this
  on(event: 'end' | 'error' | 'close', listener: () => void): this
  off(event: 'data', listener: (chunk: Uint8Array) => void): this
  off(event: 'end' | 'error' | 'close', listener: () => void): this
  read(): Uint8Array | null
  resume(): unknown
}

interface NodeSocket {
  readonly destroyed?: boolean
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
}

/** The members of Node's `ServerResponse` that are used. */
export interface NodeOutgoing {
  readonly destroyed: boolean
  /** The bytes that wait for the client. */
  readonly writableLength: number
  readonly writableFinished: boolean
  /** Node's `IncomingMessage`, which the response belongs to. */
  readonly req?: { readonly httpVersion?: string; readonly socket?: NodeSocket | null } | undefined
  /** Calls the listener when the connection is idle for that many ms. */
  setTimeout?(ms: number, listener: () => void): unknown
  destroy(): unknown
  on(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

/** The bindings that `@hono/node-server` passes to an app. Other runtimes pass other bindings or none. */
interface NodeBindings {
  readonly incoming?: NodeIncoming | undefined
  readonly outgoing?: NodeOutgoing | undefined
}

/** The content of a POST: one message, or a batch, whose items may be invalid. */
export type PostBody = Message | (Message | Refusal)[]

/** Keeps work running on runtimes that stop it when its request ends. Undefined on other runtimes. */
export type WaitUntil = ((work: Promise<unknown>) => void) | undefined

const EVENTS = /(?:^|,)\s*(?:text\/event-stream|text\/\*|\*\/\*)\s*(?:[,;]|$)/i

/** The network information of a request when the runtime reports none. */
export const NETWORK: NetworkInfo = { transport: 'tcp', protocol: 'http' }

/** One HTTP request. It does not reference the large Hono context, because thousands of streams may be open for hours. */
export class HttpRequest {
  readonly raw: Request
  /** The caller that `authenticate` has returned. */
  readonly auth: AuthInfo | undefined
  readonly waitUntil: WaitUntil
  /** Node's `ServerResponse`. Undefined on other runtimes. */
  readonly outgoing: NodeOutgoing | undefined
  /** The capacity that this request uses: requests and bytes. */
  readonly admission: Admission
  readonly #canStream: boolean

  /** @param canStream whether the endpoint answers with SSE streams */
  constructor(context: Context<{ Variables: EndpointVariables }>, canStream: boolean, waitUntil: WaitUntil) {
    this.raw = context.req.raw
    this.auth = context.get('auth')
    this.admission = context.get('admission')
    this.#canStream = canStream
    this.waitUntil = waitUntil
    this.outgoing = bindingsOf(context).outgoing
  }

  /** Whether the client accepts an SSE stream as the response. A missing Accept header accepts it. */
  get acceptsEvents(): boolean {
    return this.#canStream && EVENTS.test(this.header('accept') ?? EVENTS_TYPE)
  }

  /** Returns the value of a header by its lower-case name, or null if it is missing. */
  header(name: string): string | null {
    return this.raw.headers.get(name)
  }

  /** The connection. The address of the client is known on Node only. */
  get network(): NetworkInfo {
    return networkInfoOf(this.outgoing)
  }

  /** Whether the client has disconnected, or other code has ended the response. */
  get isGone(): boolean {
    // On some runtimes, requests have no signal.
    return this.outgoing === undefined ? this.raw.signal?.aborted === true : this.outgoing.destroyed
  }

  /**
   * Calls the listener once, when the client disconnects or other code ends the response. Calls it immediately if that
   * has already happened. The returned function removes the listener.
   */
  onGone(listener: (reason: Error) => void): () => void {
    const { outgoing } = this
    const signal = outgoing === undefined ? this.raw.signal : undefined
    const gone = () => {
      const cause = signal && { cause: signal.reason }
      listener(new ConnectionError('closed', 'The client closed the connection', cause))
    }
    if (this.isGone) gone()
    else if (outgoing !== undefined) outgoing.on('close', gone)
    else signal?.addEventListener('abort', gone)
    return () => {
      outgoing?.off('close', gone)
      signal?.removeEventListener('abort', gone)
    }
  }
}

/** The Hono variables that the middleware sets for the endpoint. */
export interface EndpointVariables {
  auth: AuthInfo | undefined
  admission: Admission
}

const NO_BINDINGS: NodeBindings = {}

/** Returns the bindings of `@hono/node-server`. They are checked, because other runtimes may use the same names. */
export function bindingsOf(context: Context): NodeBindings {
  const env = context.env as NodeBindings | undefined
  return Array.isArray(env?.incoming?.rawHeaders) && env.outgoing !== undefined ? env : NO_BINDINGS
}

/** Returns the connection of a response on Node. Other runtimes do not report it. */
export function networkInfoOf(outgoing: NodeOutgoing | undefined): NetworkInfo {
  const { httpVersion, socket } = outgoing?.req ?? {}
  if (httpVersion === undefined || !socket) return NETWORK
  const { remoteAddress: address, remotePort: port, destroyed } = socket
  // A Unix socket has no addresses, and a socket has none after its end.
  const transport = address === undefined && destroyed !== true ? 'unix' : 'tcp'
  return { transport, protocol: 'http', protocolVersion: httpVersion === '2.0' ? '2' : httpVersion, address, port }
}

/** Returns the path without its last slash: `/mcp/` is the same path as `/mcp`. */
export function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** Returns the path of a URL without normalizing it. */
export function pathOf(url: string): string {
  const query = url.indexOf('?')
  return url.slice(url.indexOf('/', url.indexOf('//') + 2), query < 0 ? undefined : query)
}
