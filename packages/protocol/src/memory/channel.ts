/** Two ends of a pipe within one process: messages pass as they are, without being serialised or copied. */

import type { Decoded } from '../jsonrpc/codec.ts'
import { ConnectionError } from '../jsonrpc/connection-error.ts'
import type { Message } from '../jsonrpc/message.ts'
import { type Awaitable, isPromise } from '../ports/awaitable.ts'
import type { Channel } from '../ports/channel.ts'

export interface ChannelPairOptions {
  /** How many messages may lie between the ends before the sender is told to wait. Default: 64. */
  highWaterMark?: number
  /** How many may lie there at most; a sender that does not wait gets an error. Default: 65,536. */
  maxQueued?: number
}

/** A message sent into one end comes out of the other. The two sides share the objects: do not change what you sent. */
export function createChannelPair(options: ChannelPairOptions = {}): [Channel, Channel] {
  const there = new Lane(options)
  const back = new Lane(options)
  return [createEnd(there, back), createEnd(back, there)]
}

function createEnd(out: Lane, incoming: Lane): Channel {
  return {
    send: (message) => out.push(message),
    receive: (receiver) => incoming.drainTo(receiver),
    async close() {
      out.end()
      incoming.end()
    },
  }
}

/** One direction of the pipe. */
class Lane {
  readonly #highWaterMark: number
  readonly #maxQueued: number
  #queue: Decoded[] = []
  /** What comes before was delivered already. */
  #head = 0
  #receiver: ((item: Decoded) => Awaitable<void>) | undefined
  #pumping = false
  #ended = false
  #waiting: (() => void)[] = []
  #settle: { resolve: () => void; reject: (error: unknown) => void } | undefined

  constructor({ highWaterMark = 64, maxQueued = 65_536 }: ChannelPairOptions) {
    this.#highWaterMark = highWaterMark
    this.#maxQueued = maxQueued
  }

  push(message: Message | Message[]): Awaitable<void> {
    if (this.#ended) throw new ConnectionError('closed', 'The channel has ended')
    if (this.#length >= this.#maxQueued) {
      const hint = 'Await each send, or read the other end.'
      throw new ConnectionError('limit', `${this.#maxQueued} messages wait in the channel already`, { hint })
    }
    this.#queue.push(message)
    this.#wake()
    if (this.#length > this.#highWaterMark) return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  drainTo(receiver: (item: Decoded) => Awaitable<void>): Promise<void> {
    if (this.#receiver !== undefined) throw new TypeError('The channel is being received from already')
    this.#receiver = receiver
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      this.#wake()
    })
  }

  end(): void {
    this.#ended = true
    this.#release()
    this.#wake()
  }

  /** Lets those go on who wait for room. */
  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Messages are delivered in a task of their own: nobody is called back from within a send. */
  #wake(): void {
    if (this.#pumping || this.#receiver === undefined) return
    this.#pumping = true
    queueMicrotask(this.#pump)
  }

  readonly #pump = (): void => {
    try {
      while (this.#head < this.#queue.length) {
        const item = this.#queue[this.#head++] as Decoded
        const busy = this.#receiver?.(item)
        if (isPromise(busy)) {
          this.#forget()
          busy.then(this.#pump, this.#fail)
          return
        }
      }
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#forget()
    this.#pumping = false
    if (this.#ended) this.#settle?.resolve()
  }

  get #length(): number {
    return this.#queue.length - this.#head
  }

  /** Drops what was delivered when that is the larger part, so that each item is moved once at most. */
  #forget(): void {
    if (this.#length === 0 || this.#head > this.#length) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
    if (this.#length <= this.#highWaterMark / 2) this.#release()
  }

  readonly #fail = (error: unknown): void => {
    this.#ended = true
    this.#head = this.#queue.length
    this.#forget()
    this.#settle?.reject(error)
  }
}
