/** Connections within one process, and the default stores. */

import { type Awaitable, isPromise } from './async.ts'
import type { Decoded } from './codec.ts'
import { createDuplex } from './connection.ts'
import { ConnectionError } from './errors.ts'
import type { Responder } from './exchange.ts'
import type { Message } from './messages.ts'
import { BATCH_REVISION } from './methods.ts'
import type { Channel, Connector } from './transport.ts'

export {
  createMemoryRecordStore,
  createMemorySessionStore,
  type MemoryRecordStoreOptions,
  type MemorySessionStoreOptions,
} from './memory-records.ts'
export {
  createMemoryCounterStore,
  createMemoryReplayStore,
  type MemoryCounterStoreOptions,
  type MemoryReplayStoreOptions,
  memoryStore,
} from './memory-store.ts'
export {
  createMemoryEventBus,
  createMemoryEventStore,
  type MemoryEventBusOptions,
  type MemoryEventStoreOptions,
} from './memory-stores.ts'
export { createMemoryTaskStore, type MemoryTaskStoreOptions } from './memory-task-store.ts'

/** Options of `createChannelPair`. */
export interface ChannelPairOptions {
  /** If this many messages are waiting, `send` returns a promise that senders should await. Default: 64. */
  highWaterMark?: number
  /** The largest number of waiting messages. Above this number, `send` throws a `ConnectionError`. Default: 65,536. */
  maxQueued?: number
}

/**
 * Creates two connected channels. A message sent into one is received from the other, without serialization or copying.
 * Both sides share the objects, so do not change a message after sending it.
 */
export function createChannelPair(options: ChannelPairOptions = {}): [Channel, Channel] {
  const there = new Direction(options)
  const back = new Direction(options)
  return [createEnd(there, back), createEnd(back, there)]
}

function createEnd(outgoing: Direction, incoming: Direction): Channel {
  return {
    send: (message) => outgoing.send(message),
    receive: (receiver) => incoming.receive(receiver),
    async close() {
      outgoing.end()
      incoming.end()
    },
  }
}

type Receiver = (item: Decoded) => Awaitable<void>

const DELIVERED = Promise.resolve()

/** One direction of a channel pair. */
class Direction {
  readonly #highWaterMark: number
  readonly #maxQueued: number
  /** The number of waiting messages. */
  #size = 0
  #receiver: Receiver | undefined
  #startDelivery: () => void = () => {}
  /**
   * Resolves when all sent messages are delivered. Each message is chained with a separate `then`, so that the receiver is
   * never called within `send`, and is called in the async context of the sender.
   */
  #delivered: Promise<void>
  #hasEnded = false
  #waiting: (() => void)[] = []
  #finish: { resolve: () => void; reject: (error: unknown) => void } | undefined

  constructor({ highWaterMark = 64, maxQueued = 65_536 }: ChannelPairOptions) {
    this.#highWaterMark = highWaterMark
    this.#maxQueued = maxQueued
    this.#delivered = new Promise((resolve) => {
      this.#startDelivery = resolve
    })
  }

  send(message: Message | Message[]): Awaitable<void> {
    if (this.#hasEnded) throw new ConnectionError('closed', 'The channel has ended')
    if (this.#size >= this.#maxQueued) {
      const hint = 'Await each send, or read the other end.'
      throw new ConnectionError('limit', `${this.#maxQueued} messages are already waiting in the channel`, { hint })
    }
    this.#size += 1
    this.#delivered = this.#delivered.then(() => this.#deliver(message))
    if (this.#size > this.#highWaterMark) return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  receive(receiver: Receiver): Promise<void> {
    if (this.#receiver !== undefined) throw new TypeError('The channel already has a receiver')
    this.#receiver = receiver
    this.#startDelivery()
    return new Promise((resolve, reject) => {
      this.#finish = { resolve, reject }
    })
  }

  end(): void {
    this.#hasEnded = true
    this.#releaseSenders()
    void this.#delivered.then(() => this.#finish?.resolve())
  }

  #releaseSenders(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #deliver(item: Decoded): Awaitable<void> {
    // `#fail` has emptied the queue, because the receiver has failed.
    if (this.#size === 0) return undefined
    this.#size -= 1
    if (this.#waiting.length > 0 && this.#size <= this.#highWaterMark / 2) this.#releaseSenders()
    try {
      const busy = this.#receiver?.(item)
      if (isPromise(busy)) return busy.then(undefined, this.#fail)
      // Replace the promise, because it would keep the async context of its sender in memory.
      if (this.#size === 0) this.#delivered = DELIVERED
    } catch (error) {
      return this.#fail(error)
    }
  }

  readonly #fail = (error: unknown): void => {
    this.#hasEnded = true
    this.#size = 0
    this.#releaseSenders()
    this.#finish?.reject(error)
  }
}

/** Returns the connector of a server of this process. Each connection is a pair of channels. */
export function memoryConnector(server: Responder): Connector {
  return {
    connect({ responder, onWarning, onMessage }) {
      const [here, there] = createChannelPair()
      let supportsBatches = false
      createDuplex(there, { responder: server, onWarning })
      const duplex = createDuplex(here, { responder, onWarning, onMessage, supportsBatches: () => supportsBatches })
      return Object.assign(duplex, {
        negotiated(revision: string) {
          supportsBatches = revision === BATCH_REVISION
        },
      })
    },
  }
}
