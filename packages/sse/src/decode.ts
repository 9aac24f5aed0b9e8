/** Decodes `text/event-stream` incrementally: eventsource-parser parses the fields, this file enforces the limit. */

import { createParser, type EventSourceParser } from 'eventsource-parser'
import { SseError } from './sse-error.ts'

/** A received event. */
export interface SseEvent {
  /** The payload, its lines joined by LF. Empty for an event that carries only an id. */
  data: string
  /** The type of the event. Absent when none was sent, which means `message`. */
  event?: string
  /** The id sent with this event. Keep the newest one to resume after it. An empty id resets the id kept so far. */
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
   * The size limit of an event in characters (UTF-16 code units), from its first field to its blank line: field names
   * and comments in between count, line ends do not. A single line has the same limit.
   * Default: 16,777,216 (16 Mi). From 1 to 268,435,456. Above it, `push` throws `event-too-large`.
   */
  readonly maxEventSize?: number | undefined
}

/** How a stream ended. */
export interface DecoderEnd {
  /**
   * Whether the input ended before the blank line of an event. That event is dropped, as the specification says. Also
   * true after `push` threw.
   */
  readonly incomplete: boolean
}

/** A push parser for one stream. */
export interface Decoder {
  /**
   * Decodes the next chunk, cut anywhere, and calls the callbacks for everything it completes.
   *
   * @throws SseError `event-too-large`, `decoder-closed` or `decoder-busy`, and errors of callbacks. After an error the
   * decoder is closed, because the rest of the stream may not start at a line.
   */
  push(chunk: string | Uint8Array): void
  /** Closes the decoder and returns whether an event was cut off. Never throws. In a callback it stops at once. */
  end(): DecoderEnd
}

const DEFAULT_SIZE = 2 ** 24
// Half of the smallest string limit of an engine: a held line and a chunk of this size fit into one string.
const MAX_SIZE = 2 ** 28

// The lines that the parser needs. Fifteen digits are always a safe integer.
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
 * Feeds the parser one complete line at a time, ended by LF, and only lines that it needs. Fed with raw chunks, the
 * parser delays an event that ends in CR, takes quadratic time for many CRs, keeps a byte order mark, and creates an
 * Error for each unknown field.
 */
class EventDecoder implements Decoder {
  readonly #maxEventSize: number
  readonly #parser: EventSourceParser
  readonly #lines = new LineBuffer()
  readonly #utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  /** Characters of the open event. 0 until its first field, so that comments between events do not add up. */
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

  /** An id without data dispatches no event by the specification. It is delivered, because clients resume after it. */
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

  /** Checks complete and incomplete lines alike, so that the result does not depend on how the stream is chunked. */
  #assertSize(lineLength: number): void {
    if (this.#size + lineLength <= this.#maxEventSize) return
    throw new SseError(
      'event-too-large',
      `What follows event ${this.#delivered} exceeds maxEventSize (${this.#maxEventSize} characters): ` +
        'raise it, or send smaller events',
    )
  }
}

/** Approximate bytes that an engine needs for one more string. */
const STRING_OVERHEAD = 32

/**
 * Turns text in arbitrary pieces into complete lines ended by LF, in time linear in the input. Removes one leading
 * byte order mark. The caller limits the incomplete line by `length`.
 */
export class LineBuffer {
  /** Characters of the incomplete line. */
  length = 0
  #pieces: string[] = []
  /** Dropped if the next text starts with it: the byte order mark, or the LF after a CR at the end of a chunk. */
  #skip = '\uFEFF'

  /** Adds text. Returns the lines that it completes, or an empty string. A CR completes its line at once. */
  take(text: string): string {
    if (!text) return text
    let rest = text[0] === this.#skip ? text.slice(1) : text
    this.#skip = text.endsWith('\r') ? '\n' : ''
    if (rest.includes('\r')) rest = rest.replace(/\r\n?/g, '\n')
    const end = rest.lastIndexOf('\n') + 1
    const lines = end > 0 ? this.release() + rest.slice(0, end) : ''
    this.#pieces.push(rest.slice(end))
    this.length += rest.length - end
    // Many short pieces are joined, so that memory and copying stay proportional to the line.
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
