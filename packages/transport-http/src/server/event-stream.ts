/** The body of one event stream: what is sent is held back when the client does not read, up to a limit. */

import { ConnectionError } from '@mcpx/protocol'
import { encodeComment } from '@mcpx/sse'

export interface EventStreamOptions {
  /** How often a comment is sent, in ms. */
  readonly keepAlive: number
  /** How many bytes may wait before the stream is cut. */
  readonly maxUnsent: number
  /** When the stream ends whatever is still to come, in seconds since 1970: its client is let in no longer than that. */
  readonly expiresAt?: number | undefined
  /** Called with each comment. */
  readonly onTick?: (() => void) | undefined
  /** Hears of a client that was cut off. */
  readonly report?: ((problem: Error) => void) | undefined
  /** Called once when the client has gone, or was cut off; not when this side ended the stream. */
  readonly onGone: (reason: Error) => void
  /** Called once when this side ends the stream. */
  readonly onEnd?: (() => void) | undefined
}

/** What waits while the client is told to read first. */
const HIGH_WATER = 64 * 1024
const LONGEST_TIMER = 2 ** 31 - 1
const utf8 = new TextEncoder()
const comment = utf8.encode(encodeComment())

export class EventStream {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>
  readonly #options: EventStreamOptions
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #expiry: ReturnType<typeof setTimeout> | undefined
  #room: Gate | undefined

  constructor(options: EventStreamOptions) {
    this.#options = options
    this.body = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#makeRoom(),
        cancel: () => this.#gone(new ConnectionError('closed', 'The client closed the stream')),
      },
      { highWaterMark: HIGH_WATER, size: (chunk) => chunk.byteLength },
    )
    const { keepAlive } = options
    if (keepAlive <= LONGEST_TIMER) this.#timer = setInterval(() => this.#tick(), keepAlive)
    this.#watchExpiry()
  }

  get isOpen(): boolean {
    return this.#controller !== undefined
  }

  /** Resolves when there is room; nothing when there is. */
  get room(): Promise<void> | undefined {
    return this.#room?.promise
  }

  /** Sends text; a promise resolves when there is room for more. Does nothing once the stream has ended. */
  send(text: string): Promise<void> | undefined {
    const controller = this.#controller
    if (controller === undefined) return undefined
    // What waits already is what counts: a single message may be as large as it is.
    if (HIGH_WATER - (controller.desiredSize ?? 0) > this.#options.maxUnsent) return this.#cut(controller)
    controller.enqueue(utf8.encode(text))
    if ((controller.desiredSize ?? 0) > 0) return undefined
    this.#room ??= openGate()
    return this.#room.promise
  }

  end(): void {
    const controller = this.#controller
    if (controller === undefined) return
    this.#release()
    controller.close()
    this.#options.onEnd?.()
  }

  #cut(controller: ReadableStreamDefaultController): undefined {
    const most = this.#options.maxUnsent
    const message = `The client left ${most} bytes unread: its stream was cut (limits.unsent)`
    const error = new ConnectionError('limit', message)
    controller.error(error)
    this.#options.report?.(error)
    this.#gone(error)
  }

  #tick(): void {
    // A client that does not read needs no comment to know that the stream is alive.
    if ((this.#controller?.desiredSize ?? 0) > 0) this.#controller?.enqueue(comment)
    this.#options.onTick?.()
    this.#watchExpiry()
  }

  /** Most streams end long before: the timer is started by the last tick before the time has come. */
  #watchExpiry(): void {
    const { expiresAt, keepAlive } = this.#options
    if (expiresAt === undefined || this.#expiry !== undefined || this.#controller === undefined) return
    const left = expiresAt * 1000 - Date.now()
    if (left > keepAlive && keepAlive <= LONGEST_TIMER) return
    this.#expiry = setTimeout(() => this.#expire(left > LONGEST_TIMER), Math.min(Math.max(left, 0), LONGEST_TIMER))
  }

  #expire(isEarly: boolean): void {
    this.#expiry = undefined
    if (isEarly) {
      this.#watchExpiry()
      return
    }
    const controller = this.#controller
    this.#gone(new ConnectionError('closed', 'The credentials of the client have expired'))
    controller?.close()
  }

  #gone(reason: Error): void {
    if (this.#controller === undefined) return
    this.#release()
    this.#options.onGone(reason)
  }

  #makeRoom(): void {
    this.#room?.resolve()
    this.#room = undefined
  }

  #release(): void {
    this.#controller = undefined
    clearInterval(this.#timer)
    clearTimeout(this.#expiry)
    this.#makeRoom()
  }
}

interface Gate {
  readonly promise: Promise<void>
  readonly resolve: () => void
}

function openGate(): Gate {
  let resolve = (): void => {}
  const promise = new Promise<void>((open) => {
    resolve = open
  })
  return { promise, resolve }
}
