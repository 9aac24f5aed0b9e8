/** Publishes the changes of a server to its other processes, and receives their changes. */

import { type Change, type EventBus, pause } from '@mcpx/protocol'

/** The topic of changes. Two servers need stores with different prefixes. */
const TOPIC = 'mcpx/changes'

/**
 * The largest number of changes that wait for the bus. Above this number, other processes are notified that everything
 * may have changed.
 */
const MAX_WAITING = 1_000

/** The time between attempts to publish, in ms. */
const RETRY = 1_000

/**
 * How many processes are remembered with their last message. Above this number, the process that was silent for the
 * longest time is removed.
 */
const MAX_PROCESSES = 10_000

/** A message on the bus. A message without `changes` means that everything may have changed. */
interface ChangesMessage {
  /** The id of the process that publishes. */
  readonly from: string
  /** Counts the messages of the process. A message that is published again, because the bus failed, keeps its number. */
  readonly number: number
  readonly changes?: readonly Change[] | undefined
}

/** The functions that receive the changes of other processes. */
export interface SharedChangesOptions {
  readonly onChange: (change: Change) => void
  /** Called when changes may have been lost. */
  readonly onGap: () => void
  /** Called with errors of the bus. */
  readonly onError: (error: unknown) => void
}

/** The connection of a server to the bus. Each process has one subscription for all clients. */
export class SharedChanges {
  readonly #bus: EventBus
  readonly #options: SharedChangesOptions
  readonly #closing = new AbortController()
  /** Distinguishes this process. Created on first use, because Workers provide random values only during a request. */
  #id: string | undefined
  /** The number of the last message of each process. */
  readonly #received = new Map<string, number>()
  #published = 0
  /** The changes that are not published yet. Each is kept once. */
  #waiting = new Map<string, Change>()
  #isPublishing = false
  #isConnected = false
  #connecting: Promise<void> | undefined
  #unsubscribe: (() => unknown) | undefined

  constructor(bus: EventBus, options: SharedChangesOptions) {
    this.#bus = bus
    this.#options = options
  }

  /**
   * Publishes a change. All changes within one task of the event loop are published in one message. If the bus fails,
   * the message is published again later.
   */
  publish(change: Change): void {
    // Above this number, everything counts as changed.
    if (this.#waiting.size <= MAX_WAITING) this.#waiting.set(JSON.stringify(change), change)
    if (this.#isPublishing) return
    this.#isPublishing = true
    // Waits for the other changes of this task of the event loop.
    queueMicrotask(() => void this.#publishWaiting())
  }

  /** Subscribes to the bus. Returns undefined if that was done before. */
  connect(): Promise<void> | undefined {
    if (this.#isConnected) return undefined
    this.#connecting ??= this.#connect()
    return this.#connecting
  }

  close(): void {
    this.#closing.abort()
    void this.#endSubscription()
  }

  get #processId(): string {
    this.#id ??= crypto.randomUUID()
    return this.#id
  }

  async #publishWaiting(): Promise<void> {
    while (this.#waiting.size > 0 && !this.#closing.signal.aborted) {
      const changes = this.#waiting.size > MAX_WAITING ? undefined : [...this.#waiting.values()]
      this.#waiting = new Map()
      this.#published += 1
      await this.#publishMessage({ from: this.#processId, number: this.#published, changes })
    }
    this.#isPublishing = false
  }

  /** Publishes a message until the bus accepts it. It may have been published although the bus has failed. */
  async #publishMessage(message: ChangesMessage): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        return await this.#bus.publish(TOPIC, JSON.stringify(message))
      } catch (error) {
        this.#options.onError(error)
        await pause(RETRY, this.#closing.signal).catch(() => {})
      }
    }
  }

  async #connect(): Promise<void> {
    try {
      const { onGap } = this.#options
      this.#unsubscribe = await this.#bus.subscribe(TOPIC, (text) => this.#receive(text), onGap)
      this.#isConnected = true
      if (this.#closing.signal.aborted) void this.#endSubscription()
    } finally {
      this.#connecting = undefined
    }
  }

  #receive(text: string): void {
    const { onChange, onGap, onError } = this.#options
    try {
      const { from, number, changes } = JSON.parse(text) as ChangesMessage
      if (from === this.#processId || !this.#isNew(from, number)) return
      if (changes === undefined) onGap()
      else for (const change of changes) onChange(change)
    } catch (error) {
      onError(error)
    }
  }

  /** Returns whether a message was not received before, and remembers its number. */
  #isNew(from: string, number: number): boolean {
    if (number <= (this.#received.get(from) ?? 0)) return false
    // The first entry is the process from which no message came for the longest time.
    this.#received.delete(from)
    this.#received.set(from, number)
    if (this.#received.size > MAX_PROCESSES) this.#received.delete(this.#received.keys().next().value as string)
    return true
  }

  async #endSubscription(): Promise<void> {
    const unsubscribe = this.#unsubscribe
    this.#unsubscribe = undefined
    try {
      await unsubscribe?.()
    } catch (error) {
      this.#options.onError(error)
    }
  }
}
