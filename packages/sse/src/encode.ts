/** Encodes events and comments as `text/event-stream` (https://html.spec.whatwg.org/multipage/server-sent-events.html). */

import { SseError } from './sse-error.ts'

export { SseError } from './sse-error.ts'

/** An event to send. Missing or undefined fields are not written. */
export interface SseEventInit {
  /**
   * The payload. CRLF, CR and LF end a line; the receiver reads all three as LF. An empty string is written as an empty
   * `data:` line. Without `data`, the receiver dispatches no event.
   */
  readonly data?: string | undefined
  /** The type of the event. Default: none, which receivers read as `message`. Must not contain CR or LF. */
  readonly event?: string | undefined
  /**
   * The id of the event, from which a client can resume. An empty id resets the last event id. Must not contain CR, LF
   * or NUL.
   */
  readonly id?: string | undefined
  /** How long a client waits before it reconnects, in milliseconds. A non-negative safe integer. */
  readonly retry?: number | undefined
}

const utf8 = new TextEncoder()

/**
 * Encodes one event as a string, with its final blank line.
 *
 * @throws SseError `invalid-event`, `invalid-id` or `invalid-retry`.
 * @example
 * ```ts
 * encodeEvent({ data: '{"ok":true}' }) // 'data: {"ok":true}\n\n'
 * encodeEvent({ id: '7', data: '' })   // 'id: 7\ndata:\n\n'
 * ```
 */
export function encodeEvent(init: SseEventInit): string {
  const { data, event, id, retry } = init
  if (event !== undefined && !isOneLine(event)) throw invalidField('event', event, 'must not contain CR or LF')
  if (id !== undefined && (!isOneLine(id) || id.includes('\0'))) {
    throw invalidField('id', id, 'must not contain CR, LF or NUL')
  }
  if (retry !== undefined && (!Number.isSafeInteger(retry) || retry < 0)) {
    throw invalidField('retry', `${retry}`, 'must be a non-negative integer')
  }
  const head = encodeLine('event', event) + encodeLine('id', id) + encodeLine('retry', retry?.toString())
  // Fast path for payloads of one line. Two searches are faster than one regular expression.
  if (data && isOneLine(data)) return `${head}data: ${data}\n\n`
  return `${head}${encodeLines('data', data)}\n`
}

/**
 * Encodes one event as UTF-8. A lone surrogate becomes U+FFFD.
 *
 * @example
 * ```ts
 * controller.enqueue(encodeEventBytes({ data: 'hello' }))
 * ```
 */
export function encodeEventBytes(init: SseEventInit): Uint8Array<ArrayBuffer> {
  return utf8.encode(encodeEvent(init))
}

/**
 * Encodes a comment. Receivers ignore comments; they keep an idle connection open. Each line of the text becomes a comment
 * line, followed by a blank line. Do not write a comment between the lines of an event.
 *
 * @example
 * ```ts
 * encodeComment('still here') // ': still here\n\n'
 * encodeComment()             // ':\n\n'
 * ```
 */
export function encodeComment(text = ''): string {
  return `${encodeLines('', text)}\n`
}

function invalidField(name: 'event' | 'id' | 'retry', value: string, rule: string): SseError {
  return new SseError(`invalid-${name}`, `${name} ${rule}, got ${JSON.stringify(value.slice(0, 80))}`)
}

function isOneLine(text: string): boolean {
  return !text.includes('\n') && !text.includes('\r')
}

// The space after the colon is needed, because receivers remove one space, which could belong to the value.
function encodeLine(name: string, value: string | undefined): string {
  if (value === undefined) return ''
  return value === '' ? `${name}:\n` : `${name}: ${value}\n`
}

function encodeLines(name: string, value: string | undefined): string {
  return encodeLine(name, value?.replace(/\r\n?|\n/g, `\n${name}: `))
}
