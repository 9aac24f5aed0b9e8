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
  /** Ends all waiting. */
  stop(): void
}

export function createOutbox(channel: Channel, { limit, stallTimeout, onStall, report }: OutboxOptions): Outbox {
  let answers = 0
  let notifications = 0
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
    answers -= 1
    if (wake.length > 0 && answers < limit) resume()
    else if (stall !== undefined) watchStall()
  }

  function noteLeft(): void {
    notifications -= 1
  }

  function watchStall(): void {
    clearTimeout(stall)
    const hint = 'The peer sends requests and does not read the answers.'
    const message = `${limit} answers wait for a peer that has read none for ${stallTimeout} ms`
    stall = setTimeout(() => onStall(new ConnectionError('limit', message, { hint })), stallTimeout)
  }

  return {
    send: (message) => channel.send(message),
    answer(message) {
      const sending = channel.send(message)
      if (!isPromise(sending)) return undefined
      answers += 1
      sending.then(answerLeft, answerLeft)
      return sending
    },
    tell(message) {
      if (notifications >= limit) {
        report(new ConnectionError('limit', `A notification was dropped: ${limit} wait for a slow peer`))
        return undefined
      }
      try {
        const sending = channel.send(message)
        if (!isPromise(sending)) return undefined
        notifications += 1
        sending.then(noteLeft, noteLeft)
        return sending.then(undefined, report)
      } catch (error) {
        report(error as Error)
        return undefined
      }
    },
    room() {
      if (answers < limit) return undefined
      if (stall === undefined) watchStall()
      return new Promise((resolve) => void wake.push(resolve))
    },
    stop: resume,
  }
}
