/** What a session is to be told and cannot be yet: its client is away, or is still given what it missed before. */

import { ConnectionError, type NotificationMessage } from '@mcpx/protocol'
import { messageText } from '../answers.ts'
import type { Host } from '../host.ts'

/** How many messages are kept of those that say that something has changed, and of all others. */
const MOST = 1_000

export class Missed {
  readonly #host: Host
  /** In the order in which they are to be told. Changes are kept by what has changed, other messages as text by number. */
  readonly #kept = new Map<string | number, NotificationMessage | string>()
  /** The number of the first of the others that is still kept, and of the next. */
  #first = 0
  #next = 0
  #characters = 0
  #isReported = false

  constructor(host: Host) {
    this.#host = host
  }

  /** Says nothing new of what has changed before, and is told in its place: however often it does, as much is kept. */
  add(message: NotificationMessage): void {
    const subject = subjectOf(message)
    if (subject !== undefined) {
      this.#kept.delete(subject)
      this.#kept.set(subject, message)
      if (this.#kept.size - (this.#next - this.#first) > MOST) this.#dropChange()
      return
    }
    const text = messageText(message, this.#host.report)
    if (text === undefined) return
    this.#kept.set(this.#next++, text)
    this.#characters += text.length
    const { unsent } = this.#host.limits
    while (this.#next - this.#first > MOST || (this.#characters > unsent && this.#next - this.#first > 1)) {
      this.#characters -= (this.#kept.get(this.#first) as string).length
      this.#drop(this.#first++)
    }
  }

  /** The texts of all. */
  *[Symbol.iterator](): Iterator<string> {
    for (const kept of this.#kept.values()) {
      const text = typeof kept === 'string' ? kept : messageText(kept, this.#host.report)
      if (text !== undefined) yield text
    }
  }

  #dropChange(): void {
    for (const key of this.#kept.keys()) {
      if (typeof key !== 'string') continue
      this.#drop(key)
      return
    }
  }

  #drop(key: string | number): void {
    this.#kept.delete(key)
    if (this.#isReported) return
    this.#isReported = true
    const message = `A client misses what it was to be told while it was away: of more than ${MOST} messages, or limits.unsent, the oldest were dropped`
    this.#host.report(new ConnectionError('limit', message))
  }
}

/** What a message tells to look at again; nothing when it tells more than that. */
function subjectOf({ method, params }: NotificationMessage): string | undefined {
  if (method.endsWith('/list_changed')) return method
  return method === 'notifications/resources/updated' ? `${method} ${params?.uri}` : undefined
}
