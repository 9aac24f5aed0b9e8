/** The options of a store in Durable Objects, and the client that calls its objects. */

import type { ObjectCall, Operations } from './object.ts'
import type { ObjectNamespace, ObjectStub, PlatformSocket } from './platform.ts'

/** Options of `durableObjectStore`. */
export interface CloudflareStoreOptions {
  /** The prefix of the name of every object. Servers with different state need different prefixes. Default: `mcpx:`. */
  readonly prefix?: string | undefined
  /** How long a stream is kept after its last event, replay or refresh, in ms. Default: 300,000. */
  readonly eventTtl?: number | undefined
  /**
   * The largest number of events that are kept per stream. Older events are dropped, and streams cannot be resumed from
   * them. Default: 1,000.
   */
  readonly maxEvents?: number | undefined
  /** Called with lost connections and errors of listeners. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

/** A Durable Object could not be reached, or failed. It is unknown whether a failed call has stored its data. */
export class CloudflareStoreError extends Error {
  override readonly name = 'CloudflareStoreError'
  /** Whether the same call may succeed later, according to the platform. */
  readonly retryable: boolean

  constructor(message: string, { retryable = false, cause }: { retryable?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.retryable = retryable
  }
}

/** The members of an error of the platform that this module reads. */
interface PlatformError {
  readonly message?: string
  readonly retryable?: boolean
  readonly overloaded?: boolean
}

/** The longest time between attempts to connect again, in ms. */
const MAX_WAIT = 5_000

/** Receives the messages of one object over a WebSocket, and reconnects when the connection is lost. */
class Subscription {
  readonly #connect: () => Promise<PlatformSocket>
  readonly #listener: (message: string) => void
  readonly #onGap: () => void
  readonly #onWarning: (warning: Error) => void
  #socket: PlatformSocket | undefined
  #isEnded = false
  #endPause = () => {}

  constructor(
    connect: () => Promise<PlatformSocket>,
    listener: (message: string) => void,
    onGap: () => void,
    onWarning: (warning: Error) => void,
  ) {
    this.#connect = connect
    this.#listener = listener
    this.#onGap = onGap
    this.#onWarning = onWarning
  }

  /** Connects. Resolves when the object has registered the subscription. */
  async open(): Promise<void> {
    const socket = await this.#connect()
    socket.accept()
    if (this.#isEnded) {
      socket.close()
      return
    }
    this.#socket = socket
    const onLost = () => {
      if (this.#socket === socket) void this.#reopen()
    }
    socket.addEventListener('close', onLost)
    socket.addEventListener('error', onLost)
    socket.addEventListener('message', ({ data }) => {
      if (this.#socket === socket) this.#run(() => this.#listener(String(data)))
    })
  }

  async #reopen(): Promise<void> {
    this.#socket = undefined
    for (let wait = 100; this.#socket === undefined && !this.#isEnded; wait = Math.min(2 * wait, MAX_WAIT)) {
      try {
        await this.open()
      } catch (error) {
        this.#onWarning(error as Error)
        await this.#pause(wait)
      }
    }
    if (this.#isEnded) return
    this.#onWarning(new Error('A subscription was interrupted: messages may be missing'))
    this.#run(this.#onGap)
  }

  /** Resolves after a time in ms, or when the subscription is closed. */
  #pause(time: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, time)
      this.#endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #run(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#onWarning(error instanceof Error ? error : new Error('The thrown value is not an Error', { cause: error }))
    }
  }

  close(): void {
    this.#isEnded = true
    this.#endPause()
    this.#socket?.close()
    this.#socket = undefined
  }
}

/** Calls the objects of a store and subscribes to them. */
export class Objects {
  readonly #namespace: ObjectNamespace
  readonly #prefix: string
  readonly #onWarning: (warning: Error) => void
  readonly #subscriptions = new Set<Subscription>()
  #isClosed = false

  constructor(namespace: ObjectNamespace, { prefix = 'mcpx:', onWarning = () => {} }: CloudflareStoreOptions) {
    if (typeof namespace?.idFromName !== 'function' || typeof namespace.get !== 'function') {
      throw new TypeError('durableObjectStore: expected a binding of Durable Objects, got something else')
    }
    this.#namespace = namespace
    this.#prefix = prefix
    this.#onWarning = onWarning
  }

  /** Performs an operation of the object with a name. */
  async call<Name extends keyof Operations>(
    name: string,
    operation: Name,
    ...args: Parameters<Operations[Name]> & readonly (string | number)[]
  ): Promise<ReturnType<Operations[Name]>> {
    const call: ObjectCall = { operation, args }
    const response = await this.#callPlatform(operation, () =>
      this.#stub(name).fetch('https://store/', { method: 'POST', body: JSON.stringify(call) }),
    )
    if (response.status !== 200) {
      throw new CloudflareStoreError(
        `${operation}: expected a result of class McpxStore, got status ${response.status}`,
      )
    }
    return JSON.parse(await response.text()).result
  }

  /** Receives the messages of an object until the returned function is called. */
  async subscribe(name: string, listener: (message: string) => void, onGap: () => void): Promise<() => void> {
    const subscription = new Subscription(() => this.#connect(name), listener, onGap, this.#onWarning)
    this.#subscriptions.add(subscription)
    const unsubscribe = () => {
      this.#subscriptions.delete(subscription)
      subscription.close()
    }
    try {
      await subscription.open()
    } catch (error) {
      unsubscribe()
      throw error
    }
    return unsubscribe
  }

  async #connect(name: string): Promise<PlatformSocket> {
    const response = await this.#callPlatform('subscribe', () =>
      this.#stub(name).fetch('https://store/', { headers: { upgrade: 'websocket' } }),
    )
    if (!response.webSocket) {
      throw new CloudflareStoreError(
        `subscribe: expected a WebSocket of class McpxStore, got status ${response.status}`,
      )
    }
    return response.webSocket
  }

  #stub(name: string): ObjectStub {
    return this.#namespace.get(this.#namespace.idFromName(this.#prefix + name) as never)
  }

  async #callPlatform<T>(place: string, operate: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new CloudflareStoreError(`${place}: the store was closed`)
    try {
      return await operate()
    } catch (cause) {
      const { message = String(cause), retryable, overloaded } = (cause ?? {}) as PlatformError
      throw new CloudflareStoreError(`${place}: ${message}`, { retryable: retryable || overloaded || false, cause })
    }
  }

  /** Ends all subscriptions and refuses all later calls. */
  close(): void {
    this.#isClosed = true
    for (const subscription of this.#subscriptions) subscription.close()
    this.#subscriptions.clear()
  }
}
