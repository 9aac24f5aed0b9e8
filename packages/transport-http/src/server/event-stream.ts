/** One event stream on its way to a client: what is sent is held back when nobody reads it, up to a limit. */

import { ConnectionError } from '@mcpx/protocol'
import { encodeComment } from '@mcpx/sse/encode'
import type { OutgoingStream } from './outgoing.ts'
import { LONGEST_TIMER, type Watch, type Watched } from './watch.ts'

/** What all streams of an endpoint share. */
export interface StreamHost {
  /** How often a comment is sent, in ms. */
  readonly keepAlive: number
  /** Calls each of them when a comment is due. */
  readonly streams: Watch<EventStream>
  /** `unsent`: how many bytes may wait before a stream is cut. */
  readonly limits: { readonly unsent: number }
  /** Hears of a client that was cut off. */
  readonly report: (problem: Error) => void
}

/** Whose stream it is. Either of the first two is called, and once. */
export interface StreamOwner {
  /** The client has gone, or was cut off. */
  onGone(reason: Error): void
  /** This side has ended the stream. */
  onEnd?: (() => void) | undefined
  /** A comment is sent. */
  onTick?: (() => void) | undefined
}

/** The request that a stream answers. */
interface Asked {
  readonly request: { readonly isAlone: boolean; readonly outgoing?: OutgoingStream | undefined }
  /** `expiresAt`: when the stream ends whatever is still to come, in seconds since 1970: its client is let in no longer than that. */
  readonly auth: { readonly expiresAt?: number | undefined } | undefined
}

/** Where a runtime takes the text of a stream. It calls `makeRoom` and `gone` of the stream. */
export interface Sink {
  /** Takes text. Whether there is room for more. */
  write(text: string): boolean
  /** How many bytes wait for the client to read. */
  readonly unsent: number
  end(): void
  /** Ends the response as broken. */
  cut(reason: Error): void
}

/** How much is taken before the runtime asks for it without a word that it should wait, in characters. */
const EARLY_ENOUGH = 64 * 1024
const comment = encodeComment()

/** Servers have thousands of them that are silent: what one does not need yet is not made. */
export class EventStream implements Watched {
  timer: Watched['timer']
  older: Watched['older']
  newer: Watched['newer']
  came: Watched['came']
  /** The response of Node's that it will be written to, where that is known. */
  readonly outgoing: OutgoingStream | undefined
  /** Whether the runtime ends with a request all that was begun for it. */
  readonly isAlone: boolean
  readonly #host: StreamHost
  readonly #owner: StreamOwner
  readonly #expiresAt: number | undefined
  #sink: Sink | undefined
  /** What was sent before the runtime asked for it. */
  #early = ''
  /** Why the stream was cut before the runtime asked for it. */
  #broken: Error | undefined
  #isOpen = true
  #expiry: ReturnType<typeof setTimeout> | undefined
  #room: Gate | undefined

  constructor(host: StreamHost, owner: StreamOwner, { request, auth }: Asked) {
    this.outgoing = request.outgoing
    this.#host = host
    this.#owner = owner
    this.isAlone = request.isAlone
    this.#expiresAt = auth?.expiresAt
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Resolves when there is room; nothing when there is. */
  get room(): Promise<void> | undefined {
    return this.#room?.promise
  }

  /** All of the text, when the stream has ended before anybody read it: it need not be streamed. */
  get whole(): string | undefined {
    return this.#isOpen || this.#sink !== undefined || this.#broken !== undefined ? undefined : this.#early
  }

  /** Begins to write to the client. */
  flow(sink: Sink): void {
    if (this.#broken !== undefined) {
      sink.cut(this.#broken)
      return
    }
    this.#sink = sink
    if (this.#early === '' || sink.write(this.#early)) this.makeRoom()
    else void this.#hasRoom(false)
    this.#early = ''
    if (!this.#isOpen) {
      sink.end()
      return
    }
    this.#host.streams.again(this, this.isAlone)
    this.#watchExpiry()
  }

  /** Sends text; a promise resolves when there is room for more. Does nothing once the stream has ended. */
  send(text: string): Promise<void> | undefined {
    if (!this.#isOpen) return undefined
    const sink = this.#sink
    // What waits already is what counts: a single message may be as large as it is.
    if ((sink?.unsent ?? this.#early.length) > this.#host.limits.unsent) return this.#cut()
    if (sink !== undefined) return this.#hasRoom(sink.write(text))
    this.#early += text
    return this.#hasRoom(this.#early.length < EARLY_ENOUGH)
  }

  end(): void {
    if (!this.#isOpen) return
    this.#release()
    this.#sink?.end()
    this.#owner.onEnd?.()
  }

  makeRoom(): void {
    this.#room?.resolve()
    this.#room = undefined
  }

  /** The client reads no more. */
  gone(reason: Error): void {
    if (!this.#isOpen) return
    this.#release()
    this.#owner.onGone(reason)
  }

  #hasRoom(has: boolean): Promise<void> | undefined {
    if (has) return undefined
    this.#room ??= openGate()
    return this.#room.promise
  }

  #cut(): undefined {
    const most = this.#host.limits.unsent
    const message = `The client left ${most} bytes unread: its stream was cut (limits.unsent)`
    const error = new ConnectionError('limit', message)
    this.#broken = error
    this.#sink?.cut(error)
    this.#host.report(error)
    this.gone(error)
  }

  /** Shows that it is alive. */
  beat(): void {
    // A client that does not read needs no comment to know that the stream is alive.
    if (this.#room === undefined) void this.#hasRoom(this.#sink?.write(comment) ?? true)
    this.#owner.onTick?.()
    if (!this.#isOpen) return
    this.#host.streams.again(this, this.isAlone)
    this.#watchExpiry()
  }

  /** Most streams end long before: the timer is started by the last comment before the time has come. */
  #watchExpiry(): void {
    const { keepAlive } = this.#host
    const expiresAt = this.#expiresAt
    if (expiresAt === undefined || this.#expiry !== undefined || !this.#isOpen) return
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
    this.gone(new ConnectionError('closed', 'The credentials of the client have expired'))
    this.#sink?.end()
  }

  #release(): void {
    this.#isOpen = false
    this.#host.streams.delete(this)
    clearTimeout(this.#expiry)
    this.makeRoom()
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
