/** Keeps the newest messages of a connection, with their direction and their timing. */

import type { Decoded, JsonObject, Message } from '@mcpx/protocol'
import { isObject, Refusal } from '@mcpx/protocol'
import type { LoggedMessage } from './api.ts'

/** How many messages are kept. */
const MAX_MESSAGES = 2_000
/** How many characters of messages are kept. */
const MAX_CHARACTERS = 32_000_000
/** A message with more characters is sent to the page only when it is opened. */
const MAX_INLINE = 5_000
/** How many requests are remembered until their response. */
const MAX_PENDING = 10_000
/** The longest `detail` of a message, and of an event, in characters. */
const MAX_DETAIL = 200
const MAX_EVENT = 2_000

type Direction = 'in' | 'out'

interface Pending {
  readonly method: string
  readonly detail: string | undefined
  readonly start: number
}

/** The messages of all connections since the start. If there are too many, the oldest are removed. */
export class MessageLog {
  readonly #messages = new Map<number, { readonly message: LoggedMessage; readonly text: string }>()
  readonly #pending = new Map<string, Pending>()
  readonly #onMessage: (message: LoggedMessage) => void
  #number = 0
  #characters = 0

  /** @param onMessage called with each message */
  constructor(onMessage: (message: LoggedMessage) => void) {
    this.#onMessage = onMessage
  }

  /** The messages in the log, the oldest first. */
  get messages(): LoggedMessage[] {
    return [...this.#messages.values()].map(({ message }) => message)
  }

  /** Adds a message, a batch or an invalid message that the transport has sent or received. */
  add(direction: Direction, item: Decoded | readonly Message[]): void {
    if (item instanceof Refusal) {
      const { code, message } = item.error
      this.#append({ direction, kind: 'invalid', title: 'invalid message', detail: message }, { code, message })
    } else if (Array.isArray(item)) {
      for (const each of item as readonly (Message | Refusal)[]) this.add(direction, each)
    } else this.#addMessage(direction, item as Message)
  }

  /** Adds an event of the connection. */
  addEvent(title: string, detail?: string): void {
    this.#append({ direction: 'none', kind: 'event', title, detail: detail?.slice(0, MAX_EVENT) }, undefined)
  }

  /** Returns a message as JSON, or undefined if it is not in the log any more. */
  textOf(number: number): string | undefined {
    return this.#messages.get(number)?.text
  }

  /** Removes all messages. */
  clear(): void {
    this.#messages.clear()
    this.#characters = 0
  }

  #addMessage(direction: Direction, message: Message): void {
    if ('method' in message) {
      const { method, params } = message
      const detail = detailOf(params)
      const { id } = message as { id?: string | number }
      if (id !== undefined && this.#pending.size < MAX_PENDING)
        this.#pending.set(keyOf(direction, id), { method, detail, start: performance.now() })
      const kind = id === undefined ? 'notification' : 'request'
      this.#append({ direction, kind, title: method, detail, id }, message)
      return
    }
    const { id } = message
    const key = keyOf(direction === 'in' ? 'out' : 'in', id ?? '')
    const request = this.#pending.get(key)
    this.#pending.delete(key)
    const duration = request && performance.now() - request.start
    const kind = 'error' in message ? 'error' : 'response'
    const title = request?.method ?? 'response'
    const detail = 'error' in message ? message.error.message.slice(0, MAX_DETAIL) : request?.detail
    this.#append({ direction, kind, title, detail, id: id ?? undefined, duration }, message)
  }

  #append(facts: Omit<LoggedMessage, 'number' | 'time' | 'size' | 'body'>, body: unknown): void {
    const text = body === undefined ? '' : JSON.stringify(body)
    const size = text.length
    this.#number += 1
    // Copy the message, because client and server share its objects if they are in one process.
    const inline = size > 0 && size <= MAX_INLINE ? { body: JSON.parse(text) as unknown } : {}
    const message: LoggedMessage = { ...facts, number: this.#number, time: Date.now(), size, ...inline }
    this.#messages.set(message.number, { message, text })
    this.#characters += size
    for (const [number, { message: oldest }] of this.#messages) {
      if (this.#messages.size <= MAX_MESSAGES && this.#characters <= MAX_CHARACTERS) break
      this.#messages.delete(number)
      this.#characters -= oldest.size
    }
    this.#onMessage(message)
  }
}

function keyOf(direction: Direction, id: string | number): string {
  return `${direction} ${typeof id} ${id}`
}

/** Returns the name of the tool or the prompt, the URI of the resource, or the text of a log message. */
function detailOf(params: JsonObject | undefined): string | undefined {
  const { name, uri, data, level, message, requestId, ref } = params ?? {}
  const target = isObject(ref) ? (ref.name ?? ref.uri) : undefined
  const log =
    level === undefined ? undefined : `${String(level)}: ${typeof data === 'string' ? data : JSON.stringify(data)}`
  const detail = name ?? uri ?? target ?? log ?? message ?? requestId
  return typeof detail === 'string' || typeof detail === 'number' ? String(detail).slice(0, MAX_DETAIL) : undefined
}
