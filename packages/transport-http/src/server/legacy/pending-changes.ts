/** The messages for a session whose client is disconnected. They are stored; this keeps what the store may not have. */

import { ConnectionError, type NotificationMessage } from '@mcpx/protocol'
import type { EndpointContext } from '../endpoint-context.ts'
import type { StoredStream } from './streams.ts'

/** The number of messages that are stored. Event stores keep the newest: more would drop the position of the client. */
const MOST = 900

export class PendingChanges {
  /** The last event before the client disconnected. */
  readonly lastEventId: string | undefined
  readonly #endpoint: EndpointContext
  /** Changes by their subject: a change that is pending is not stored again, however often it happens. */
  readonly #changes = new Map<string, string>()
  /** Messages that the store has not accepted. */
  readonly notStored: string[] = []
  #count = 0
  #characters = 0
  #isReported = false

  constructor(endpoint: EndpointContext, { lastEventId }: StoredStream) {
    this.#endpoint = endpoint
    this.lastEventId = lastEventId
  }

  /** The changes, and other messages that are not stored: for a client whose position the store has forgotten. */
  get all(): readonly string[] {
    return [...new Set([...this.#changes.values(), ...this.notStored])]
  }

  add(message: NotificationMessage, text: string, stream: StoredStream): void {
    const subject = subjectOf(message)
    if (subject !== undefined && this.#changes.has(subject)) return
    this.#count += 1
    this.#characters += text.length
    if (this.#count > MOST || this.#characters > this.#endpoint.limits.unsent) {
      this.#reportLoss()
      // Changes are never lost within their own bound: the client would not look again.
      if (subject === undefined || this.#changes.size >= MOST) return
      this.#changes.set(subject, text)
      this.notStored.push(text)
      return
    }
    if (subject !== undefined) this.#changes.set(subject, text)
    void stream.send(text).then((isStored) => {
      if (!isStored) this.notStored.push(text)
    })
  }

  #reportLoss(): void {
    if (this.#isReported) return
    this.#isReported = true
    const text = `A client misses messages that were sent while it was away: of more than ${MOST}, or limits.unsent, the newest were dropped`
    this.#endpoint.report(new ConnectionError('limit', text))
  }
}

/** The subject of a message that only asks to look again; undefined for other messages. */
function subjectOf({ method, params }: NotificationMessage): string | undefined {
  if (method.endsWith('/list_changed')) return method
  return method === 'notifications/resources/updated' ? `${method} ${params?.uri}` : undefined
}
