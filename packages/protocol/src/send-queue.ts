/** Sends messages in order, never faster than the channel accepts them, and with a limit on what waits. */

import { isPromise } from './async.ts'
import { ConnectionError } from './errors.ts'
import type { Message } from './messages.ts'
import type { Channel } from './transport.ts'

export interface SendQueueOptions {
  /** How many responses may wait for a channel without room, and how many notifications. */
  readonly limit: number
  /** How long that many responses may wait before the connection is closed, in ms. */
  readonly stallTimeout: number
  /** Called when the peer has read nothing for that long. */
  readonly onStall: (error: ConnectionError) => void
  readonly report: (error: Error) => void
}

/** Whether a message was not accepted because the channel has ended. */
export function hasEnded(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason === 'closed'
}

export class SendQueue {
  readonly #channel: Channel
  readonly #options: SendQueueOptions
  /** How many messages of each kind the channel has yet to send. */
  readonly #unsent = { requests: 0, answers: 0, notifications: 0 }
  #waiting: (() => void)[] = []
  #stallTimer: ReturnType<typeof setTimeout> | undefined

  constructor(channel: Channel, options: SendQueueOptions) {
    this.#channel = channel
    this.#options = options
  }

  /** How many requests the channel has yet to send, those that were given up since included. */
  get unsentRequests(): number {
    return this.#unsent.requests
  }

  /** Sends a request. Rejects when the channel does not accept it. */
  sendRequest(message: Message): Promise<void> {
    return this.#send('requests', message)
  }

  /** Sends a response, or the responses to an array. Rejects when the channel does not accept it. */
  async sendAnswer(message: Message | Message[]): Promise<void> {
    const sending = this.#send('answers', message)
    if (this.#unsent.answers >= this.#options.limit && this.#stallTimer === undefined) this.#startStallTimer()
    try {
      await sending
    } finally {
      // Each response that leaves shows that the peer reads.
      if (this.#unsent.answers < this.#options.limit) this.stop()
      else if (this.#stallTimer !== undefined) this.#startStallTimer()
    }
  }

  /** Sends a notification. It is dropped and reported when too many wait. Never rejects. */
  async sendNotification(message: Message): Promise<void> {
    const { limit, report } = this.#options
    if (this.#unsent.notifications >= limit) {
      report(new ConnectionError('limit', `A notification was dropped: ${limit} wait for a slow peer (limits.unsent)`))
      return
    }
    try {
      await this.#send('notifications', message)
    } catch (error) {
      // The end of the connection is reported once, not for each late message.
      if (!hasEnded(error)) report(error as Error)
    }
  }

  /** Returns undefined while there is room for responses, else a promise of it. */
  room(): Promise<void> | undefined {
    if (this.#unsent.answers < this.#options.limit) return undefined
    if (this.#stallTimer === undefined) this.#startStallTimer()
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  /** Ends all waiting for room. */
  stop(): void {
    clearTimeout(this.#stallTimer)
    this.#stallTimer = undefined
    for (const resolve of this.#waiting) resolve()
    this.#waiting = []
  }

  async #send(kind: 'requests' | 'answers' | 'notifications', message: Message | Message[]): Promise<void> {
    const sending = this.#channel.send(message)
    // Without a promise there is room for more: the message does not count as waiting.
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
    const hint = 'The peer sends requests and does not read the answers.'
    const message = `${limit} answers wait for a peer that has read none for ${stallTimeout} ms (limits.unsent, limits.stallTimeout)`
    this.#stallTimer = setTimeout(() => onStall(new ConnectionError('limit', message, { hint })), stallTimeout)
  }
}
