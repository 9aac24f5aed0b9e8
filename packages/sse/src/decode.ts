/** Reads `text/event-stream` as it arrives: eventsource-parser reads the fields, this file keeps to the limit. */

import { createParser, type EventSourceParser } from 'eventsource-parser'
import { LineBuffer } from './line-buffer.ts'
import { SseError } from './sse-error.ts'

/** An event as received. */
export interface SseEvent {
  /** The payload, its lines joined by LF. Empty for an event that only carries an id. */
  data: string
  /** The event's type; absent when none was sent, which means `message`. */
  event?: string
  /**
   * The id sent with this very event; absent when it had none. Keep the newest one to resume after it. An empty string
   * was sent on purpose: forget the id kept so far.
   */
  id?: string
}

/** What a decoder calls, and its limit. */
export interface DecoderOptions {
  /** Called for each event, in order, during `push`. */
  readonly onEvent: (event: SseEvent) => void
  /** Called with the text of each comment line, without its colon and one space. Default: comments are skipped. */
  readonly onComment?: ((comment: string) => void) | undefined
  /** Called with each reconnection time, in milliseconds. More than 15 digits are ignored. Default: ignored. */
  readonly onRetry?: ((milliseconds: number) => void) | undefined
  /**
   * The most an event may take, in characters (UTF-16 code units), from its first field to the blank line that ends it:
   * field names and comments in between count, line ends do not. No single line may be longer either.
   * Default: 16,777,216 (16 Mi). From 1 to 268,435,456. Above it, `push` throws `event-too-large`.
   */
  readonly maxEventSize?: number | undefined
}

/** How a stream ended. */
export interface DecoderEnd {
  /**
   * Whether the input stopped before the blank line that would have ended an event. As the specification demands, what
   * was received of that event is dropped. Also true after `push` threw.
   */
  readonly incomplete: boolean
}

/** A push parser for one stream. */
export interface Decoder {
  /**
   * Takes the next piece of the stream, cut anywhere, and calls back for all it completes.
   *
   * @throws SseError `event-too-large`, `decoder-closed` or `decoder-busy`; and whatever a callback throws. After a
   * failure the decoder is closed: what follows in the stream cannot be trusted to start at a line.
   */
  push(chunk: string | Uint8Array): void
  /** Closes the decoder and tells whether an event was cut off. Never throws. Inside a callback: stop now. */
  end(): DecoderEnd
}

const defaultMaxEventSize = 2 ** 24
// Half of what the smallest engine limit on strings allows, so that a held line and a chunk of that size fit in one.
const maximum = 2 ** 28

// The lines the parser has a use for. Fifteen digits are always a safe integer.
const knownLine = /:|(?:data|event|id)[:\n]|retry: ?\d{1,15}\n/y

/**
 * A decoder for one stream; make a new one for each connection.
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
 * The parser gets whole, LF-ended lines it has a use for, one at a time. Left alone it holds back an event that ends in
 * CR, takes quadratic time on CRs in a large chunk, misses a byte order mark, and builds an Error with a stack for each
 * unknown field.
 */
class EventDecoder implements Decoder {
  readonly #maxEventSize: number
  readonly #parser: EventSourceParser
  readonly #lines = new LineBuffer()
  readonly #utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  /** Characters of the open block; 0 until its first field, so that comments between events add up to nothing. */
  #size = 0
  #hasData = false
  #delivered = 0
  #busy = false
  #ended: DecoderEnd | undefined

  constructor({ onEvent, onComment, onRetry, maxEventSize = defaultMaxEventSize }: DecoderOptions) {
    if (!Number.isInteger(maxEventSize) || maxEventSize < 1 || maxEventSize > maximum) {
      throw new SseError('invalid-option', `maxEventSize must be an integer from 1 to ${maximum}, got ${maxEventSize}`)
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
    if (this.#ended) throw new SseError('decoder-closed', 'The decoder ended or failed: create a new one')
    if (this.#busy) throw new SseError('decoder-busy', 'push() in a callback: queue the chunk')
    this.#busy = true
    try {
      const text = typeof chunk === 'string' ? this.#utf8.decode() + chunk : this.#utf8.decode(chunk, { stream: true })
      this.#read(this.#lines.take(text))
      this.#check(this.#lines.length)
    } catch (error) {
      this.#close(true)
      throw error
    }
    this.#busy = false
  }

  end(): DecoderEnd {
    if (this.#ended) return this.#ended
    this.#lines.take(this.#utf8.decode())
    return this.#close(!this.#busy && (this.#size > 0 || /^[^:]/.test(this.#lines.release())))
  }

  #close(incomplete: boolean): DecoderEnd {
    this.#lines.release()
    this.#parser.reset()
    this.#ended = { incomplete }
    return this.#ended
  }

  #read(lines: string): void {
    for (let start = 0, end: number; start < lines.length && !this.#ended; start = end + 1) {
      end = lines.indexOf('\n', start)
      const first = lines[start]
      if (first === '\n') {
        // A block without a data line: by the specification its id becomes the last event id and nothing is dispatched.
        // A client must learn of that id, so it is delivered with empty data; the rest of such a block is not.
        if (this.#size > 0) this.#parser.feed(this.#hasData ? '\n' : 'data\n\n')
        this.#hasData = false
        this.#size = 0
        continue
      }
      this.#check(end - start)
      if (this.#size > 0 || first !== ':') this.#size += end - start
      knownLine.lastIndex = start
      if (!knownLine.test(lines)) continue
      if (first === 'd') this.#hasData = true
      this.#parser.feed(lines.slice(start, end + 1))
    }
  }

  /** The same answer for a line that is whole and for one still growing: chunking does not decide what is refused. */
  #check(length: number): void {
    if (this.#size + length <= this.#maxEventSize) return
    throw new SseError(
      'event-too-large',
      `What follows event ${this.#delivered} exceeds maxEventSize (${this.#maxEventSize} characters): ` +
        'raise it, or send smaller events',
    )
  }
}
