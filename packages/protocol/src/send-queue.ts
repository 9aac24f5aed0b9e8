/** Sends messages in order, counts unsent ones, and enforces their limits. */

import { isPromise, LONGEST_TIMER } from './async.ts'
import { ConnectionError } from './errors.ts'
import type { Message } from './messages.ts'
import type { Channel } from './transport.ts'

export interface SendQueueOptions {
  /** The largest number of unsent responses, and the largest number of unsent notifications. */
  readonly limit: number
  /** How long `limit` responses may be unsent before `onStall` is called, in ms. */
  readonly stallTimeout: number
  /** Called when the peer has read no response for `stallTimeout` ms. */
  readonly onStall: (error: ConnectionError) => void
  readonly report: (error: Error) => void
}

/** Returns whether an error means that the channel has ended. */
export function hasEnded(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason === 'closed'
}

export class SendQueue {
  readonly #channel: Channel
  readonly #options: SendQueueOptions
  /** The number of unsent messages of each kind. */
  readonly #unsent = { requests: 0, answers: 0, notifications: 0 }
  #waiting: (() => void)[] = []
  #stallTimer: ReturnType<typeof setTimeout> | undefined

  constructor(channel: Channel, options: SendQueueOptions) {
    this.#channel = channel
    this.#options = options
  }

  /** The number of unsent requests, including requests that were cancelled or timed out. */
  get unsentRequests(): number {
    return this.#unsent.requests
  }

  /** Sends a request. Rejects if the channel does not accept it. */
  sendRequest(message: Message): Promise<void> {
    return this.#send('requests', message)
  }

  /** Sends a response, or the responses to a batch. Rejects if the channel does not accept it. */
  async sendAnswer(message: Message | Message[]): Promise<void> {
    const sending = this.#send('answers', message)
    if (this.#unsent.answers >= this.#options.limit && this.#stallTimer === undefined) this.#startStallTimer()
    try {
      await sending
    } finally {
      // Each sent response shows that the peer reads, so the stall timer restarts.
      if (this.#unsent.answers < this.#options.limit) this.stop()
      else if (this.#stallTimer !== undefined) this.#startStallTimer()
    }
  }

  /** Sends a notification. Drops and reports it if too many are unsent. Never rejects. */
  async sendNotification(message: Message): Promise<void> {
    const { limit, report } = this.#options
    if (this.#unsent.notifications >= limit) {
      const problem = `Dropped a notification: ${limit} are waiting for a slow peer (limits.unsent)`
      return report(new ConnectionError('limit', problem))
    }
    try {
      await this.#send('notifications', message)
    } catch (error) {
      // The channel reports the end of the connection, once.
      if (!hasEnded(error)) report(error as Error)
    }
  }

  /**
   * Returns undefined if more responses can be sent. Otherwise returns a promise that resolves when more can be sent.
   */
  room(): Promise<void> | undefined {
    if (this.#unsent.answers < this.#options.limit) return undefined
    if (this.#stallTimer === undefined) this.#startStallTimer()
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  /** Resolves the promise of `room` and stops the stall timer. */
  stop(): void {
    clearTimeout(this.#stallTimer)
    this.#stallTimer = undefined
    for (const resolve of this.#waiting) resolve()
    this.#waiting = []
  }

  async #send(kind: 'requests' | 'answers' | 'notifications', message: Message | Message[]): Promise<void> {
    const sending = this.#channel.send(message)
    // If `send` returns no promise, the message counts as sent, and the channel can accept more.
    if (!isPromise(sending)) return
    this.#unsent[kind] += 1
    try {
      await sending
    } finally {
      this.#unsent[kind] -= 1
    }
  }

  #startStallTimer(): void {
    const { limit, stallTimeout, onStall } = this.#options
    clearTimeout(this.#stallTimer)
    const hint = 'The peer sends requests but does not read the responses.'
    const message = `${limit} responses are unsent, and the peer has read none for ${stallTimeout} ms (limits.unsent, limits.stallTimeout)`
    const stall = () => onStall(new ConnectionError('limit', message, { hint }))
    this.#stallTimer = setTimeout(stall, Math.min(stallTimeout, LONGEST_TIMER))
  }
}
