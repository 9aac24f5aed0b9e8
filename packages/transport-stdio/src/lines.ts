/** Newline-delimited JSON: encodes messages as lines, decodes lines, and reads and writes them with backpressure. */

import { setImmediate } from 'node:timers/promises'
import {
  type Awaitable,
  CODEC_LIMITS,
  type CodecLimits,
  type Decoded,
  decode,
  encode,
  invalidRequest,
  isPromise,
  type Message,
  Refusal,
  type RequestId,
} from '@mcpx/protocol'

/** A readable byte stream: a `Readable`, a socket, `process.stdin`. */
export interface ByteSource {
  /** Adds a listener. */
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Removes a listener. */
  removeListener(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  removeListener(event: 'end' | 'close', listener: () => void): unknown
  /** Stops the `data` events. */
  pause(): unknown
  /** Continues the `data` events. */
  resume(): unknown
  /** Ends reading and releases the stream. */
  destroy(): unknown
}

/** A writable byte stream: a `Writable`, a socket, `process.stdout`. */
export interface ByteSink {
  /** Returns whether there is room for more. Calls `done` once the text is written. */
  write(text: string, done: (error?: Error | null) => void): boolean
  /** Ends the stream and calls `done` once everything is written. */
  end(done: () => void): unknown
  /** Adds a listener. */
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'close', listener: () => void): unknown
  /** Removes a listener. */
  removeListener(event: 'close', listener: () => void): unknown
}

/** The default limit of a line, in bytes: 32 MiB. */
export const MAX_LINE_LENGTH: number = 32 * 1024 * 1024

const LF = 10
const MAX_BYTES_PER_CHARACTER = 3

/**
 * Encodes one message, or the responses of a batch, as a line. Throws an `RpcError` for values that cannot be written
 * as JSON.
 */
export function encodeLine(message: Message | Message[]): string {
  return Array.isArray(message) ? `[${message.map(encode).join()}]\n` : `${encode(message)}\n`
}

/** A line of the input. Of a line above the limit, only the beginning and the end are kept. */
type Line = string | TruncatedLine

/** Splits chunks of bytes into lines, and lines into messages. Accepts CRLF and ignores empty lines. */
export class LineDecoder {
  readonly #limits: CodecLimits
  readonly #unfinished: LineBuffer
  #isFirstLine = true

  constructor(maxLineLength: number = MAX_LINE_LENGTH) {
    this.#limits = { ...CODEC_LIMITS, maxLength: maxLineLength }
    this.#unfinished = new LineBuffer(maxLineLength)
  }

  /** Returns the lines that the chunk completes. */
  split(chunk: Uint8Array | string): Line[] {
    const bytes = toBuffer(chunk)
    const last = bytes.lastIndexOf(LF)
    const lines: Line[] = []
    let start = 0
    if (last >= 0 && !this.#unfinished.isEmpty) {
      const end = bytes.indexOf(LF)
      this.#unfinished.push(bytes.subarray(0, end))
      lines.push(this.#unfinished.take())
      start = end + 1
    }
    if (last + 1 < bytes.length) this.#unfinished.push(bytes.subarray(last + 1))
    return last < start ? lines : lines.concat(bytes.toString('utf8', start, last).split('\n'))
  }

  /** Ends the input: returns the text after the last line break as a line, or undefined if there is none. */
  end(): Line[] | undefined {
    return this.#unfinished.isEmpty ? undefined : [this.#unfinished.take()]
  }

  /** Returns the message in a line, a `Refusal` if the line is not a message, or undefined for an empty line. */
  decode(line: Line): Decoded | undefined {
    const { maxLength } = this.#limits
    if (typeof line !== 'string') return refuseLine(line, maxLength)
    if (line.length * MAX_BYTES_PER_CHARACTER > maxLength && Buffer.byteLength(line) > maxLength) {
      return refuseLine({ head: line.slice(0, KEPT_LENGTH), tail: line.slice(-KEPT_LENGTH) }, maxLength)
    }
    // Some shells write a byte order mark before the first line.
    const start = this.#isFirstLine && line.startsWith('\uFEFF') ? 1 : 0
    this.#isFirstLine = false
    const text = line.slice(start, line.endsWith('\r') ? -1 : undefined)
    return text === '' ? undefined : decode(text, this.#limits)
  }
}

function toBuffer(chunk: Uint8Array | string): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

/** The beginning and the end of a line above the limit. */
interface TruncatedLine {
  readonly head: string
  readonly tail: string
}

/** How many bytes or characters are kept of the beginning, and of the end, of a line above the limit. */
const KEPT_LENGTH = 512
const FIRST_CAPACITY = 16 * 1024

/**
 * Stores the bytes of an unfinished line, up to the limit, in linear time. Bytes are copied into one growing buffer,
 * because a list of small chunks takes many times their size.
 */
class LineBuffer {
  readonly #limit: number
  #bytes = Buffer.alloc(0)
  #length = 0
  /** The two ends of a line above the limit. */
  #head: Buffer | undefined
  #tail = Buffer.alloc(0)

  constructor(limit: number) {
    this.#limit = limit
  }

  get isEmpty(): boolean {
    return this.#length === 0 && this.#head === undefined
  }

  /** Adds bytes without a line break. */
  push(bytes: Buffer): void {
    const length = this.#length + bytes.length
    if (this.#head === undefined && length <= this.#limit) {
      this.#reserve(length)
      bytes.copy(this.#bytes, this.#length)
      this.#length = length
      return
    }
    if (this.#head === undefined) {
      this.#tail = this.#bytes.subarray(0, this.#length)
      const start = [this.#tail.subarray(0, KEPT_LENGTH), bytes.subarray(0, KEPT_LENGTH)]
      this.#head = Buffer.concat(start).subarray(0, KEPT_LENGTH)
      this.#bytes = Buffer.alloc(0)
      this.#length = 0
    }
    this.#tail = Buffer.concat([this.#tail.subarray(-KEPT_LENGTH), bytes.subarray(-KEPT_LENGTH)]).subarray(-KEPT_LENGTH)
  }

  /** Returns the line and starts the next line. */
  take(): Line {
    const head = this.#head?.toString('utf8')
    const line =
      head === undefined ? this.#bytes.toString('utf8', 0, this.#length) : { head, tail: this.#tail.toString() }
    if (this.#bytes.length > FIRST_CAPACITY) this.#bytes = Buffer.alloc(0)
    this.#length = 0
    this.#head = undefined
    return line
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return
    const doubled = Math.min(2 * this.#bytes.length, this.#limit)
    const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_CAPACITY, length, doubled))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

/**
 * An `id` directly after `jsonrpc`, and an `id` at the end of the message. These patterns cannot match inside a JSON
 * string, because quotes are escaped there.
 */
const firstId = /^\s*\{"jsonrpc":\s?"2\.0",\s?"id":\s?(-?\d+|"(?:[^"\\]|\\.)*")\s?,/
const lastId = /,\s?"id":\s?(-?\d+|"(?:[^"\\]|\\.)*")\s?\}\s*$/

/**
 * Refuses a line above the limit. If the beginning or the end of the line contains an id, the refusal has this id, so
 * that the error reaches the request or response with this id.
 */
function refuseLine({ head, tail }: TruncatedLine, limit: number): Refusal {
  const error = invalidRequest(`Invalid message: a line longer than ${limit} bytes; raise maxLineLength to let it in`)
  const id = parseId(firstId.exec(head)?.[1] ?? lastId.exec(tail)?.[1])
  const opening = head.replace(firstId, '{').replace(/^\s*\{"jsonrpc":\s?"2\.0",/, '{')
  const [, member] = /^\s*\{\s?"(\w+)":/.exec(opening) ?? []
  if (member === 'result' || member === 'error') return new Refusal(error, 'response', id)
  if (member !== 'method') return new Refusal(error, 'unknown', id)
  return id === undefined ? new Refusal(error) : new Refusal(error, 'request', id)
}

function parseId(text: string | undefined): RequestId | undefined {
  if (text === undefined) return undefined
  const id = JSON.parse(text) as RequestId
  return typeof id === 'string' || Number.isSafeInteger(id) ? id : undefined
}

export interface LineReaderOptions {
  readonly input: ByteSource
  readonly maxLineLength: number
  /**
   * Called with each message and its line. If it returns a promise, no further message is delivered until the promise
   * settles.
   */
  readonly onMessage: (item: Decoded, line: string) => Awaitable<void>
  /** Returns a promise if no message may be delivered now. The promise resolves when messages may be delivered again. */
  readonly waitForRoom: () => Promise<void> | undefined
}

/** How many messages are delivered before other tasks of the event loop run. */
const BATCH_SIZE = 128
/** How many chunks are queued before the input is paused. */
const MAX_CHUNKS = 4

/** Reads messages from a stream, no faster than they are handled. */
export class LineReader {
  readonly #options: LineReaderOptions
  readonly #decoder: LineDecoder
  readonly #chunks: Uint8Array[] = []
  #chunksSeen = 0
  #delivered = 0
  #isDelivering = false
  #hasEnded = false
  /** Whether only the chunks that have already arrived are still delivered. */
  #isFinishing = false
  #isStopped = false
  /** Resolves or rejects the promise of `read`. */
  #settle: (error?: unknown) => void = () => {}

  constructor(options: LineReaderOptions) {
    this.#options = options
    this.#decoder = new LineDecoder(options.maxLineLength)
  }

  /** Resolves when the input has ended, or after `finish` or `stop`. Rejects if `stop` was called with an error. */
  read(): Promise<void> {
    const { input } = this.#options
    input.on('data', this.#onData)
    input.on('end', this.#onEnd)
    input.on('close', this.#onEnd)
    input.resume()
    return new Promise((resolve, reject) => {
      this.#settle = (error) => (error === undefined ? resolve() : reject(error))
    })
  }

  /**
   * Ends reading. The messages that have already arrived are still delivered, after this function has resolved if the
   * receiver is busy.
   */
  async finish(): Promise<void> {
    let seen = -1
    while (seen !== this.#chunksSeen && !this.#isStopped && !this.#isDelivering) {
      seen = this.#chunksSeen
      // After two turns of the event loop, all bytes in the pipe have been read.
      await setImmediate()
      await setImmediate()
    }
    this.#isFinishing = true
    this.#detach()
    if (!this.#isDelivering) this.stop()
  }

  /** Stops reading and delivering. Unread bytes stay in the input. */
  stop(error?: unknown): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#detach()
    this.#settle(error)
  }

  #detach(): void {
    const { input } = this.#options
    input.removeListener('data', this.#onData)
    input.removeListener('end', this.#onEnd)
    input.removeListener('close', this.#onEnd)
    input.pause()
  }

  readonly #onData = (chunk: Uint8Array): void => {
    this.#chunksSeen += 1
    this.#chunks.push(chunk)
    if (this.#chunks.length >= MAX_CHUNKS) this.#options.input.pause()
    if (!this.#isDelivering) void this.#deliverAll()
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true
    if (!this.#isDelivering) void this.#deliverAll()
  }

  async #deliverAll(): Promise<void> {
    this.#isDelivering = true
    const { onMessage, waitForRoom } = this.#options
    try {
      for (let lines = this.#nextLines(); lines !== undefined; lines = this.#nextLines()) {
        for (const line of lines) {
          for (let room = waitForRoom(); room !== undefined; room = waitForRoom()) await room
          if (this.#isStopped) return
          const item = this.#decoder.decode(line)
          if (item === undefined) continue
          const handled = onMessage(item, typeof line === 'string' ? line : line.head)
          if (isPromise(handled)) await handled
          this.#delivered += 1
          if (this.#delivered % BATCH_SIZE === 0) await setImmediate()
        }
      }
      this.#isDelivering = false
      if (this.#hasEnded || this.#isFinishing) this.stop()
      else if (!this.#isStopped) this.#options.input.resume()
    } catch (error) {
      this.stop(error)
    }
  }

  /** Returns the complete lines of the next chunk, or undefined if no chunk is left. */
  #nextLines(): Line[] | undefined {
    if (this.#isStopped) return undefined
    const chunk = this.#chunks.shift()
    if (chunk !== undefined) return this.#decoder.split(chunk)
    return this.#hasEnded ? this.#decoder.end() : undefined
  }
}

/**
 * How many characters are collected at most before they are written. Only a write shows whether the stream is full, so
 * large amounts of text are written early.
 */
const WRITE_SIZE = 16 * 1024

/** Writes lines to a stream. The lines of one turn of the event loop are written together. */
export class LineWriter {
  readonly #sink: ByteSink
  readonly #maxUnsent: number
  /** Lines that were not written to the stream yet. */
  #collected = ''
  /** The number of characters that the stream has not written yet. */
  #writing = 0
  #isScheduled = false
  #isFull = false
  #isEnding = false
  #isBroken = false
  /** Functions that resolve waiting promises. All are called and removed each time the state of the stream changes. */
  #waiters: (() => void)[] = []

  constructor(sink: ByteSink, maxUnsent: number) {
    this.#sink = sink
    this.#maxUnsent = maxUnsent
  }

  get isAboveLimit(): boolean {
    return this.#collected.length + this.#writing > this.#maxUnsent
  }

  /** Accepts a line. If the stream is full, returns a promise that resolves when there is room again. */
  write(line: string): Awaitable<void> {
    this.#collected += line
    if (this.#collected.length >= WRITE_SIZE) this.#flush()
    if (this.#isFull) return this.#waitUntil(() => !this.#isFull || this.#isEnding)
    if (!this.#isScheduled) {
      this.#isScheduled = true
      process.nextTick(this.#flush)
    }
    return undefined
  }

  /** If more than `maxUnsent` characters are unsent, returns a promise that resolves when fewer are unsent. */
  waitForRoom(): Promise<void> | undefined {
    return this.isAboveLimit ? this.#waitUntil(() => !this.isAboveLimit) : undefined
  }

  /** Releases all callers that wait for `write`, and resolves when everything is written. */
  async drain(): Promise<void> {
    this.#isEnding = true
    this.#flush()
    this.#wakeWaiters()
    await this.#waitUntil(() => this.#writing === 0)
  }

  /** Called when the stream accepts no more data. Drops all unsent lines and resolves all promises. */
  break(): void {
    this.#isBroken = true
    this.#isFull = false
    this.#collected = ''
    this.#writing = 0
    this.#wakeWaiters()
  }

  readonly #flush = (): void => {
    this.#isScheduled = false
    const text = this.#collected
    if (text === '' || this.#isFull || this.#isBroken) return
    this.#collected = ''
    this.#writing += text.length
    const hasRoom = this.#sink.write(text, () => this.#onWritten(text.length))
    this.#isFull = !hasRoom && this.#writing > 0
  }

  #onWritten(length: number): void {
    if (this.#isBroken) return
    this.#writing -= length
    if (this.#writing === 0) {
      this.#isFull = false
      this.#flush()
    }
    this.#wakeWaiters()
  }

  async #waitUntil(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiters.push(resolve))
  }

  #wakeWaiters(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }
}
