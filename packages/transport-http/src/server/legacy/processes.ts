/** Messages between the processes of an endpoint. Each process subscribes to its own topic and to a common topic. */

import type { EventBus } from '@mcpx/protocol'

/** The topic of all processes. */
const ALL = 'mcpx/processes'

/** The default time to wait for the reply of another process, in ms. */
const REPLY_TIMEOUT = 1_000

/** The members of a message besides its body. */
interface Envelope {
  /** The id of the process that sends the message. */
  readonly from: string
  /** Set if the sender waits for a reply. */
  readonly id?: number
  /** Set in a reply: the id of the message that it answers. */
  readonly replyTo?: number
  /** Set in a reply: the value that the receiver has returned for the message. */
  readonly reply?: unknown
}

/** @template Reply the value that a process returns for a message; it must have JSON */
export class Processes<Body extends object, Reply> {
  readonly #bus: EventBus
  readonly #onMessage: (body: Body) => Reply
  readonly #onGap: () => void
  readonly #report: (problem: Error) => void
  readonly #replies = new Map<number, (reply: Reply) => void>()
  readonly #unsubscribes: (() => unknown)[] = []
  #connecting: Promise<void> | undefined
  #isConnected = false
  #isClosed = false
  #id: string | undefined
  #count = 0

  /**
   * @param onMessage called with the messages of other processes; returns the reply
   * @param onGap called when messages may have been lost
   */
  constructor(bus: EventBus, onMessage: (body: Body) => Reply, onGap: () => void, report: (problem: Error) => void) {
    this.#bus = bus
    this.#onMessage = onMessage
    this.#onGap = onGap
    this.#report = report
  }

  /**
   * The id of this process, without hyphens. It is created on first use, because Workers provide random values only
   * during a request.
   */
  get id(): string {
    this.#id ??= crypto.randomUUID().replaceAll('-', '').slice(0, 16)
    return this.#id
  }

  /**
   * Subscribes once. Returns undefined if that was done before, or after `close`. Rejects if the bus fails; the next call
   * tries again.
   */
  connect(): Promise<void> | undefined {
    if (this.#isConnected || this.#isClosed) return undefined
    this.#connecting ??= this.#connect()
    return this.#connecting
  }

  /** Publishes to another process, or to all other processes. Reports errors of the bus and never rejects. */
  async publish(body: Body, process?: string): Promise<void> {
    if (process === this.id) return
    await this.#publish(process === undefined ? ALL : topicOf(process), { ...body, from: this.id })
  }

  /**
   * Sends a message to one process and returns the reply. Returns undefined if the process does not reply, even after
   * the message was repeated, because it has ended or the bus fails.
   *
   * @param timeout how long to wait for the reply to each attempt, in ms
   */
  async send(process: string, body: Body, attempts = 1, timeout = REPLY_TIMEOUT): Promise<Reply | undefined> {
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const reply = await this.#sendOnce(process, body, timeout)
      if (reply !== undefined) return reply
    }
    return undefined
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.#disconnect()
  }

  async #disconnect(): Promise<void> {
    this.#isConnected = false
    for (const unsubscribe of this.#unsubscribes.splice(0)) {
      try {
        await unsubscribe()
      } catch (problem) {
        this.#report(problem as Error)
      }
    }
  }

  async #connect(): Promise<void> {
    const receive = (text: string) => this.#receive(text)
    try {
      this.#unsubscribes.push(await this.#bus.subscribe(topicOf(this.id), receive))
      this.#unsubscribes.push(await this.#bus.subscribe(ALL, receive, this.#onGap))
      this.#isConnected = true
      if (this.#isClosed) await this.#disconnect()
    } catch (problem) {
      await this.#disconnect()
      throw problem
    } finally {
      this.#connecting = undefined
    }
  }

  async #sendOnce(process: string, body: Body, timeout: number): Promise<Reply | undefined> {
    this.#count += 1
    const id = this.#count
    let timer: ReturnType<typeof setTimeout> | undefined
    try {
      return await new Promise((resolve) => {
        this.#replies.set(id, resolve)
        timer = setTimeout(() => resolve(undefined), timeout)
        void this.#publish(topicOf(process), { ...body, from: this.id, id })
      })
    } finally {
      clearTimeout(timer)
      this.#replies.delete(id)
    }
  }

  /** Handles a message. Reports and ignores invalid messages, because other programs may use the bus. */
  #receive(text: string): void {
    try {
      const { from, id, replyTo, reply, ...body } = JSON.parse(text) as Envelope & Record<string, unknown>
      if (from === this.id) return
      if (replyTo !== undefined) {
        this.#replies.get(replyTo)?.(reply as Reply)
        return
      }
      const own = this.#onMessage(body as Body)
      if (id !== undefined) void this.#publish(topicOf(from), { from: this.id, replyTo: id, reply: own })
    } catch (problem) {
      this.#report(problem as Error)
    }
  }

  async #publish(topic: string, message: Envelope): Promise<void> {
    try {
      await this.#bus.publish(topic, JSON.stringify(message))
    } catch (problem) {
      this.#report(problem as Error)
    }
  }
}

function topicOf(process: string): string {
  return `mcpx/process/${process}`
}
