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

const settled = Promise.resolve()

/** One direction of the pipe. */
class Lane {
  readonly #highWaterMark: number
  readonly #maxQueued: number
  /** How many messages lie here. */
  #size = 0
  #receiver: ((item: Decoded) => Awaitable<void>) | undefined
  #open: () => void = () => {}
  /**
   * Resolves when all that was sent is delivered. Each message waits for the one before by a `then` of its own: so nobody is
   * called back from within a send, and what is done with a message is done in the async context of its sender.
   */
  #delivered: Promise<void>
  #ended = false
  #waiting: (() => void)[] = []
  #settle: { resolve: () => void; reject: (error: unknown) => void } | undefined

  constructor({ highWaterMark = 64, maxQueued = 65_536 }: ChannelPairOptions) {
    this.#highWaterMark = highWaterMark
    this.#maxQueued = maxQueued
    this.#delivered = new Promise((resolve) => {
      this.#open = resolve
    })
  }

  push(message: Message | Message[]): Awaitable<void> {
    if (this.#ended) throw new ConnectionError('closed', 'The channel has ended')
    if (this.#size >= this.#maxQueued) {
      const hint = 'Await each send, or read the other end.'
      throw new ConnectionError('limit', `${this.#maxQueued} messages wait in the channel already`, { hint })
    }
    this.#size += 1
    this.#delivered = this.#delivered.then(() => this.#deliver(message))
    if (this.#size > this.#highWaterMark) return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  drainTo(receiver: (item: Decoded) => Awaitable<void>): Promise<void> {
    if (this.#receiver !== undefined) throw new TypeError('The channel is being received from already')
    this.#receiver = receiver
    this.#open()
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
  }

  end(): void {
    this.#ended = true
    this.#release()
    void this.#delivered.then(() => this.#settle?.resolve())
  }

  /** Lets those go on who wait for room. */
  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #deliver(item: Decoded): Awaitable<void> {
    // The receiver has failed.
    if (this.#size === 0) return undefined
    this.#size -= 1
    if (this.#waiting.length > 0 && this.#size <= this.#highWaterMark / 2) this.#release()
    try {
      const busy = this.#receiver?.(item)
      if (isPromise(busy)) return busy.then(undefined, this.#fail)
      // The last promise would hold the context of its sender.
      if (this.#size === 0) this.#delivered = settled
    } catch (error) {
      return this.#fail(error)
    }
  }

  readonly #fail = (error: unknown): void => {
    this.#ended = true
    this.#size = 0
    this.#release()
    this.#settle?.reject(error)
  }
}
