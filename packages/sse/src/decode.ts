/** Decodes `text/event-stream` incrementally. eventsource-parser parses the fields; this file enforces the size limit. */

import { createParser, type EventSourceParser } from 'eventsource-parser'
import { SseError } from './sse-error.ts'

/** A received event. */
export interface SseEvent {
  /** The payload, whose lines are joined by LF. Empty for an event that has only an id. */
  data: string
  /** The type of the event. Undefined if none was sent, which means `message`. */
  event?: string
  /** The id of this event. Store the newest id to resume after its event. An empty id resets the stored one. */
  id?: string
}

/** Callbacks and the limit of a decoder. */
export interface DecoderOptions {
  /** Called for each event, in order, during `push`. */
  readonly onEvent: (event: SseEvent) => void
  /** Called with each comment line, without its colon and one space. Default: comments are ignored. */
  readonly onComment?: ((comment: string) => void) | undefined
  /** Called with each reconnection time, in milliseconds. Times above 15 digits are ignored. Default: ignored. */
  readonly onRetry?: ((milliseconds: number) => void) | undefined
  /**
   * The size limit of an event in characters (UTF-16 code units), from its first field to its blank line. Field names
   * and comments within the event count; line ends do not. The same limit applies to each single line. Default:
   * 16,777,216 (16 Mi). Allowed: 1 to 268,435,456. `push` throws `event-too-large` when an event exceeds the limit.
   */
  readonly maxEventSize?: number | undefined
}

/** The result of `end`. */
export interface DecoderEnd {
  /**
   * Whether the input ended before the blank line of an event. As the specification requires, this event is dropped. Also
   * true after `push` has thrown.
   */
  readonly incomplete: boolean
}

/** A push parser for one stream. */
export interface Decoder {
  /**
   * Decodes the next chunk, and calls the callbacks for each event and comment that it completes. Chunks may be split
   * at any position.
   *
   * @throws SseError `event-too-large`, `decoder-closed` or `decoder-busy`, and errors of callbacks. After an error the
   * decoder is closed, because the rest of the stream may not start at a line.
   */
  push(chunk: string | Uint8Array): void
  /** Closes the decoder and returns whether an event was incomplete. Never throws. In a callback, it stops `push` immediately. */
  end(): DecoderEnd
}

const DEFAULT_SIZE = 2 ** 24
// Half of the smallest maximum string length of all engines, so that an incomplete line and a chunk fit into one string.
const MAX_SIZE = 2 ** 28

// Matches the lines that the parser needs. A number of fifteen digits is always a safe integer.
const KNOWN_LINE = /:|(?:data|event|id)[:\n]|retry: ?\d{1,15}\n/y

/**
 * Creates a decoder for one stream. Create a new one for each connection.
 *
 * @throws SseError `invalid-option`
 * @example
 * ```ts
 * const decoder = createDecoder({ onEvent: (event) => console.log(event.data) })
 * decoder.push('data: hel')
 * decoder.push('lo\n\n') // hello
 * decoder.end() // { incomplete: false }
 * ```
 */
export function createDecoder(options: DecoderOptions): Decoder {
  return new EventDecoder(options)
}

/**
 * Passes complete lines, ended by LF, to the parser one at a time, and only lines that the parser needs. With raw
 * chunks, the parser would delay an event that ends in CR, take quadratic time for many CRs, and keep a byte order
 * mark. It would also create an `Error` for each unknown field.
 */
class EventDecoder implements Decoder {
  readonly #maxEventSize: number
  readonly #parser: EventSourceParser
  readonly #lines = new LineBuffer()
  readonly #utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  /** The characters of the current event. 0 until its first field, so that comments between events do not count. */
  #size = 0
  #hasData = false
  #delivered = 0
  #busy = false
  #end: DecoderEnd | undefined

  constructor({ onEvent, onComment, onRetry, maxEventSize = DEFAULT_SIZE }: DecoderOptions) {
    if (!Number.isInteger(maxEventSize) || maxEventSize < 1 || maxEventSize > MAX_SIZE) {
      throw new SseError('invalid-option', `maxEventSize must be an integer from 1 to ${MAX_SIZE}, got ${maxEventSize}`)
    }
    this.#maxEventSize = maxEventSize
    this.#parser = createParser({
      onComment,
      onRetry,
      onEvent: ({ data, event, id }) => {
        if (id === undefined && !this.#hasData) return
        const decoded: SseEvent = { data }
        if (event && this.#hasData) decoded.event = event
        if (id !== undefined) decoded.id = id
        this.#delivered++
        onEvent(decoded)
      },
    })
  }

  push(chunk: string | Uint8Array): void {
    if (this.#end) throw new SseError('decoder-closed', 'The decoder ended or failed: create a new one')
    if (this.#busy) throw new SseError('decoder-busy', 'push() in a callback: queue the chunk')
    this.#busy = true
    try {
      const text = typeof chunk === 'string' ? this.#utf8.decode() + chunk : this.#utf8.decode(chunk, { stream: true })
      this.#readLines(this.#lines.take(text))
      this.#assertSize(this.#lines.length)
    } catch (error) {
      this.#close(true)
      throw error
    }
    this.#busy = false
  }

  end(): DecoderEnd {
    if (this.#end) return this.#end
    this.#lines.take(this.#utf8.decode())
    return this.#close(!this.#busy && (this.#size > 0 || /^[^:]/.test(this.#lines.release())))
  }

  #close(incomplete: boolean): DecoderEnd {
    this.#lines.release()
    this.#parser.reset()
    this.#end = { incomplete }
    return this.#end
  }

  #readLines(lines: string): void {
    let start = 0
    while (start < lines.length && !this.#end) {
      const end = lines.indexOf('\n', start)
      if (end === start) this.#dispatchEvent()
      else this.#readLine(lines, start, end)
      start = end + 1
    }
  }

  /** Delivers an event. An id without data is delivered too, unlike in the specification, because clients resume after it. */
  #dispatchEvent(): void {
    if (this.#size > 0) this.#parser.feed(this.#hasData ? '\n' : 'data\n\n')
    this.#hasData = false
    this.#size = 0
  }

  #readLine(lines: string, start: number, end: number): void {
    this.#assertSize(end - start)
    if (this.#size > 0 || lines[start] !== ':') this.#size += end - start
    KNOWN_LINE.lastIndex = start
    if (!KNOWN_LINE.test(lines)) return
    if (lines[start] === 'd') this.#hasData = true
    this.#parser.feed(lines.slice(start, end + 1))
  }

  /** Enforces the limit for complete and incomplete lines, so that the result does not depend on the chunks. */
  #assertSize(lineLength: number): void {
    if (this.#size + lineLength <= this.#maxEventSize) return
    throw new SseError(
      'event-too-large',
      `The event after event ${this.#delivered} exceeds maxEventSize (${this.#maxEventSize} characters): ` +
        'raise it, or send smaller events',
    )
  }
}

/** The approximate overhead of a string in an engine, in bytes. */
const STRING_OVERHEAD = 32

/**
 * Converts chunks to complete lines ended by LF, in time linear in the input. Removes one leading byte order mark. The
 * caller checks `length` to limit the incomplete line.
 */
export class LineBuffer {
  /** The number of characters of the incomplete line. */
  length = 0
  #pieces: string[] = []
  /** A character that is removed from the start of the next chunk: a byte order mark, or the LF after a CR. */
  #skip = '\uFEFF'

  /** Adds a chunk. Returns the lines that it completes, or an empty string. A CR completes a line immediately. */
  take(text: string): string {
    if (!text) return text
    let rest = text[0] === this.#skip ? text.slice(1) : text
    this.#skip = text.endsWith('\r') ? '\n' : ''
    if (rest.includes('\r')) rest = rest.replace(/\r\n?/g, '\n')
    const end = rest.lastIndexOf('\n') + 1
    const lines = end > 0 ? this.release() + rest.slice(0, end) : ''
    this.#pieces.push(rest.slice(end))
    this.length += rest.length - end
    // Joins many short pieces, so that memory and copying stay proportional to the length of the line.
    if (this.#pieces.length * STRING_OVERHEAD > this.length) this.#pieces = [this.#pieces.join('')]
    return lines
  }

  /** Removes and returns the incomplete line. */
  release(): string {
    const line = this.#pieces.join('')
    this.#pieces = []
    this.length = 0
    return line
  }
}
