/** The event bus: a table of messages that every process with subscriptions polls. */

import type { EventBus } from '@mcpx/protocol'
import { type Database, NOW } from './database.ts'
import type { SqliteStoreOptions } from './options.ts'

interface Subscription {
  readonly listener: (message: string) => void
  readonly onGap: (() => void) | undefined
  /** The id of the newest message at the time of the subscription. The subscription receives only later messages. */
  readonly after: number
}

interface MessageRow {
  readonly id: number | bigint
  readonly topic: string
  readonly message: string
}

/** How long messages are kept, in ms. A process that did not poll for this time may have missed messages. */
const MESSAGE_TTL = 60_000

/** The largest number of messages that one poll reads. */
const POLL_BATCH = 500

/** Sends messages between the processes that use one database file. */
export class SqliteEventBus implements EventBus {
  readonly #database: Database
  readonly #table: string
  readonly #interval: number
  readonly #onWarning: (warning: Error) => void
  readonly #topics = new Map<string, Set<Subscription>>()
  /** The id of the newest message that was read. */
  #last = 0
  /** When this process last read all messages, in ms since 1970. */
  #readAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Whether the timer is set to the next turn of the event loop. */
  #isDue = false
  /** Whether the last poll failed. Only the first of consecutive failures is reported. */
  #isFailing = false

  constructor(database: Database, { pollInterval = 50, onWarning = () => {} }: SqliteStoreOptions) {
    this.#database = database
    this.#table = `${database.prefix}messages`
    this.#interval = pollInterval
    this.#onWarning = onWarning
  }

  async publish(topic: string, message: string): Promise<void> {
    this.#database.write('publish', () => this.add(topic, message))
  }

  /** Adds a message within a transaction of the caller. */
  add(topic: string, message: string): void {
    this.#database.run(
      `INSERT INTO ${this.#table} (topic, message, expires_at) VALUES (?, ?, ${NOW} + ${MESSAGE_TTL})`,
      topic,
      message,
    )
    // Poll in the next turn of the event loop, so that subscriptions of this process do not wait for the interval.
    if (this.#topics.size > 0 && !this.#isDue) this.#schedule(0)
  }

  async subscribe(
    topic: string,
    listener: (message: string) => void,
    onGap?: (() => void) | undefined,
  ): Promise<() => void> {
    const after = this.#database.within('subscribe', () => this.#newestId())
    if (this.#topics.size === 0) {
      this.#last = after
      this.#readAt = Date.now()
      this.#schedule(this.#interval)
    }
    const subscription = { listener, onGap, after }
    const subscriptions = this.#topics.get(topic) ?? new Set()
    this.#topics.set(topic, subscriptions.add(subscription))
    return () => {
      subscriptions.delete(subscription)
      if (subscriptions.size > 0 || this.#topics.get(topic) !== subscriptions) return
      this.#topics.delete(topic)
      if (this.#topics.size === 0) this.#stop()
    }
  }

  #newestId(): number {
    const row = this.#database.get<{ id: number | bigint | null }>(`SELECT max(id) AS id FROM ${this.#table}`)
    return Number(row?.id ?? 0)
  }

  /** Replaces the timer: the next poll starts after `time` ms. The timer does not keep the process alive. */
  #schedule(time: number): void {
    this.#stop()
    this.#isDue = time === 0
    this.#timer = setTimeout(() => this.#poll(), time)
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  #stop(): void {
    clearTimeout(this.#timer)
    this.#isDue = false
  }

  #poll(): void {
    const now = Date.now()
    const rows = this.#read()
    const isComplete = rows !== undefined && rows.length < POLL_BATCH
    this.#schedule(rows === undefined || isComplete ? this.#interval : 0)
    if (rows === undefined) return
    if (now - this.#readAt >= MESSAGE_TTL) this.#reportGap()
    if (isComplete) this.#readAt = now
    for (const { id, topic, message } of rows) {
      this.#last = Number(id)
      this.#deliver(topic, ({ listener, after }) => {
        if (Number(id) > after) listener(message)
      })
    }
    if (this.#topics.size === 0) this.#stop()
  }

  /** Returns the next messages, or undefined if they cannot be read. */
  #read(): MessageRow[] | undefined {
    const sql = `SELECT id, topic, message FROM ${this.#table} WHERE id > ? ORDER BY id LIMIT ${POLL_BATCH}`
    try {
      const rows = this.#database.within('poll', () => this.#database.all<MessageRow>(sql, this.#last))
      this.#isFailing = false
      return rows
    } catch (error) {
      if (!this.#isFailing) this.#warn(error)
      this.#isFailing = true
      return undefined
    }
  }

  #reportGap(): void {
    this.#warn(new Error(`This process did not read messages for ${MESSAGE_TTL} ms: messages may be missing`))
    for (const topic of [...this.#topics.keys()]) this.#deliver(topic, ({ onGap }) => onGap?.())
  }

  #deliver(topic: string, call: (subscription: Subscription) => void): void {
    for (const subscription of [...(this.#topics.get(topic) ?? [])]) {
      try {
        call(subscription)
      } catch (error) {
        this.#warn(error)
      }
    }
  }

  #warn(error: unknown): void {
    this.#onWarning(error instanceof Error ? error : new Error('The thrown value is not an Error', { cause: error }))
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#topics.clear()
    this.#stop()
  }
}
