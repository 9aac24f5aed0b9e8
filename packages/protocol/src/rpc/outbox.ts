/** What leaves: in order, never faster than the channel takes it, and never without bound. */

import { ConnectionError } from '../jsonrpc/connection-error.ts'
import type { Message } from '../jsonrpc/message.ts'
import { type Awaitable, isPromise } from '../ports/awaitable.ts'
import type { Channel } from '../ports/channel.ts'

export interface Outbox {
  /** Sends one message, or the answers to an array. Throws or rejects when the channel does not take it. */
  send(message: Message | Message[]): Awaitable<void>
  /** Sends what can be done without: it is dropped and reported when too much waits. Never throws or rejects. */
  tell(message: Message): Awaitable<void>
  /** Nothing while there is room, else a promise of it. */
  room(): Awaitable<void>
}

/** @param limit how many messages may wait for a channel that takes no more. */
export function createOutbox(channel: Channel, limit: number, report: (error: Error) => void): Outbox {
  let blocked = 0
  let wake: (() => void)[] = []

  function release(): void {
    blocked -= 1
    if (blocked >= limit || wake.length === 0) return
    for (const resolve of wake) resolve()
    wake = []
  }

  function send(message: Message | Message[]): Awaitable<void> {
    const sending = channel.send(message)
    if (!isPromise(sending)) return undefined
    blocked += 1
    sending.then(release, release)
    return sending
  }

  function room(): Awaitable<void> {
    return blocked < limit ? undefined : new Promise((resolve) => void wake.push(resolve))
  }

  return {
    send,
    room,
    tell(message) {
      if (blocked >= limit) {
        report(new ConnectionError('limit', `A notification was dropped: ${limit} messages wait for a slow peer`))
        return room()
      }
      try {
        const sending = send(message)
        return isPromise(sending) ? sending.then(undefined, report) : undefined
      } catch (error) {
        report(error as Error)
      }
    },
  }
}
