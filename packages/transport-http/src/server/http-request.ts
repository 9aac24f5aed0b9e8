/** One HTTP request as the endpoint sees it: the context of Hono, the caller, and the connection. */

import { type AuthInfo, ConnectionError } from '@mcpx/protocol'
import type { Context } from 'hono'

/** The members of Node's `IncomingMessage` that are used, so that this package compiles for every runtime. */
export interface NodeIncoming {
  readonly complete: boolean
  readonly destroyed: boolean
  readonly readableDidRead: boolean
  /** Null until somebody reads or listens. */
  readonly readableFlowing: boolean | null
  readonly url?: string | undefined
  on(event: 'data', listener: (chunk: Uint8Array) => void): this
  on(event: 'end' | 'error' | 'close', listener: () => void): this
  off(event: 'data', listener: (chunk: Uint8Array) => void): this
  off(event: 'end' | 'error' | 'close', listener: () => void): this
  read(): Uint8Array | null
  resume(): unknown
}

/** The members of Node's `ServerResponse` that are used. */
export interface NodeOutgoing {
  readonly destroyed: boolean
  destroy(): unknown
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

/** The bindings that `@hono/node-server` passes to an app. Other runtimes pass others, or none. */
interface NodeBindings {
  readonly incoming?: NodeIncoming | undefined
  readonly outgoing?: NodeOutgoing | undefined
}

export class HttpRequest {
  readonly context: Context
  /** The caller, when `authenticate` knows one. */
  readonly auth: AuthInfo | undefined
  /** Whether the answer may be an SSE stream. */
  readonly acceptsEvents: boolean
  /** Keeps work alive on runtimes that end it with its request. Absent on the others. */
  readonly waitUntil: ((work: Promise<unknown>) => void) | undefined

  constructor(
    context: Context,
    auth: AuthInfo | undefined,
    acceptsEvents: boolean,
    waitUntil: HttpRequest['waitUntil'],
  ) {
    this.context = context
    this.auth = auth
    this.acceptsEvents = acceptsEvents
    this.waitUntil = waitUntil
  }

  get method(): string {
    return this.context.req.method
  }

  /** The path and the query. */
  get target(): string {
    return targetOf(this.context.req.raw.url)
  }

  /** The value of a header by its lower-case name; null when it is absent. */
  header(name: string): string | null {
    return this.context.req.raw.headers.get(name)
  }

  /** Whether the client has disconnected, as far as that is known. */
  get isGone(): boolean {
    const { outgoing } = bindingsOf(this.context)
    return outgoing?.destroyed ?? this.context.req.raw.signal?.aborted ?? false
  }

  /**
   * Calls the listener once when the client disconnects or another answer was sent, until the returned function is called;
   * at once when that has happened.
   */
  onGone(listener: (reason: Error) => void): () => void {
    const { outgoing } = bindingsOf(this.context)
    const signal = outgoing === undefined ? this.context.req.raw.signal : undefined
    const gone = () => listener(new ConnectionError('closed', 'The client closed the connection', cause(signal)))
    if (this.isGone) gone()
    else if (outgoing !== undefined) outgoing.once('close', gone)
    else signal?.addEventListener('abort', gone, { once: true })
    return () => {
      outgoing?.off('close', gone)
      signal?.removeEventListener('abort', gone)
    }
  }
}

function cause(signal: AbortSignal | undefined): ErrorOptions {
  return signal === undefined ? {} : { cause: signal.reason }
}

export function bindingsOf(context: Context): NodeBindings {
  return (context.env ?? {}) as NodeBindings
}

/** The path and the query of a URL, as they were written. */
export function targetOf(url: string): string {
  return url.slice(url.indexOf('/', url.indexOf('//') + 2))
}

export function pathOf(target: string): string {
  return target.split('?', 1)[0] as string
}
