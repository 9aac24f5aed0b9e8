/** What leaves: in order, never faster than the channel takes it, and never without bound. */

import { ConnectionError } from '../jsonrpc/connection-error.ts'
import type { Message } from '../jsonrpc/message.ts'
import { type Awaitable, isPromise } from '../ports/awaitable.ts'
import type { Channel } from '../ports/channel.ts'

export interface OutboxOptions {
  /** How many answers may wait for a channel that takes no more, and how many notifications. */
  readonly limit: number
  /** How long so many answers may wait before the peer is given up, in ms. */
  readonly stallTimeout: number
  /** Called when the peer has taken nothing for that long. */
  readonly onStall: (error: ConnectionError) => void
  readonly report: (error: Error) => void
}

export interface Outbox {
  /** Sends a request. Throws or rejects when the channel does not take it. */
  send(message: Message): Awaitable<void>
  /** Sends an answer, or the answers to an array. Throws or rejects when the channel does not take it. */
  answer(message: Message | Message[]): Awaitable<void>
  /** Sends what can be done without: it is dropped and reported when too much waits. Never throws or rejects. */
  tell(message: Message): Awaitable<void>
  /** Nothing while there is room for answers, else a promise of it. */
  room(): Awaitable<void>
  /** How many requests the channel has yet to take, those that were given up since included. */
  readonly unsentRequests: number
  /** Ends all waiting. */
  stop(): void
}

/** Whether a message was not taken because the channel has ended. */
export function hasEnded(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason === 'closed'
}

/** Counts messages of one kind that the channel has yet to take. */
class Queued {
  count = 0

  /** Sends and counts; nothing is counted, or waited for, while there is room. */
  send(channel: Channel, message: Message | Message[], onLeft?: () => void): PromiseLike<void> | undefined {
    const sending = channel.send(message)
    if (!isPromise(sending)) return undefined
    this.count += 1
    const left = () => {
      this.count -= 1
      onLeft?.()
    }
    sending.then(left, left)
    return sending
  }
}

export function createOutbox(channel: Channel, { limit, stallTimeout, onStall, report }: OutboxOptions): Outbox {
  const requests = new Queued()
  const answers = new Queued()
  const notifications = new Queued()
  let wake: (() => void)[] = []
  let stall: ReturnType<typeof setTimeout> | undefined

  function resume(): void {
    clearTimeout(stall)
    stall = undefined
    for (const resolve of wake) resolve()
    wake = []
  }

  /** Any answer that leaves shows that the peer reads. */
  function answerLeft(): void {
    if (wake.length > 0 && answers.count < limit) resume()
    else if (stall !== undefined) watchStall()
  }

  function watchStall(): void {
    clearTimeout(stall)
    const hint = 'The peer sends requests and does not read the answers.'
    const message = `${limit} answers wait for a peer that has read none for ${stallTimeout} ms (limits.unsent, limits.stallTimeout)`
    stall = setTimeout(() => onStall(new ConnectionError('limit', message, { hint })), stallTimeout)
  }

  /** That the channel has ended is told by the end of the connection, not by each message that comes too late. */
  function unsent(error: unknown): void {
    if (!hasEnded(error)) report(error as Error)
  }

  function tell(message: Message): Awaitable<void> {
    try {
      return notifications.send(channel, message)?.then(undefined, unsent)
    } catch (error) {
      unsent(error)
      return undefined
    }
  }

  return {
    get unsentRequests() {
      return requests.count
    },
    send: (message) => requests.send(channel, message),
    answer: (message) => answers.send(channel, message, answerLeft),
    tell(message) {
      if (notifications.count < limit) return tell(message)
      report(new ConnectionError('limit', `A notification was dropped: ${limit} wait for a slow peer (limits.unsent)`))
      return undefined
    },
    room() {
      if (answers.count < limit) return undefined
      if (stall === undefined) watchStall()
      return new Promise((resolve) => void wake.push(resolve))
    },
    stop: resume,
  }
}
