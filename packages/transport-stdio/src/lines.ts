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
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  removeListener(event: 'end' | 'close', listener: () => void): unknown
  pause(): unknown
  resume(): unknown
  destroy(): unknown
}

/** A writable byte stream: a `Writable`, a socket, `process.stdout`. */
export interface ByteSink {
  /** Returns whether there is room for more. Calls `done` once the text is written. */
  write(text: string, done: (error?: Error | null) => void): boolean
  end(done: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'close', listener: () => void): unknown
  removeListener(event: 'close', listener: () => void): unknown
}

/** The default limit of a line, in bytes: 32 MiB. */
export const MAX_LINE_LENGTH: number = 32 * 1024 * 1024

const LF = 10

/** Encodes one message, or the responses of a batch, as a line. Throws `RpcError` for values that JSON cannot hold. */
export function encodeLine(message: Message | Message[]): string {
  return Array.isArray(message) ? `[${message.map(encode).join()}]\n` : `${encode(message)}\n`
}

/** Decodes chunks of bytes, one message at a time. Accepts CRLF and ignores empty lines. */
export class LineDecoder {
  readonly #limits: CodecLimits
  readonly #limit: number
  readonly #unfinished: LineBuffer
  /** The line that began in an earlier chunk. */
  #first: string | TruncatedLine | undefined
  /** The other complete lines of the chunk. */
  #text = ''
  #position = 0
  #mayExceedLimit = false
  #isFirstLine = true
  /** The line of the message that `next` returned last; for a line above the limit, its beginning. */
  line = ''

  constructor(maxLineLength: number = MAX_LINE_LENGTH) {
    this.#limit = maxLineLength
    this.#limits = { ...CODEC_LIMITS, maxLength: maxLineLength }
    this.#unfinished = new LineBuffer(maxLineLength)
  }

  /** Adds a chunk. Must only be called once `next` has returned undefined. */
  add(chunk: Uint8Array | string): void {
    const bytes = toBuffer(chunk)
    // Most chunks end with a line; `lastIndexOf` costs more than this comparison.
    const last = bytes.at(-1) === LF ? bytes.length - 1 : bytes.lastIndexOf(LF)
    let start = 0
    if (last >= 0 && !this.#unfinished.isEmpty) {
      const end = bytes.indexOf(LF)
      this.#unfinished.push(bytes.subarray(0, end))
      this.#first = this.#unfinished.take()
      start = end + 1
    }
    if (last >= start) {
      this.#text = bytes.toString('utf8', start, last + 1)
      this.#position = 0
      this.#mayExceedLimit = last - start > this.#limit
    }
    if (last + 1 < bytes.length) this.#unfinished.push(bytes.subarray(last + 1))
  }

  /** Ends the input: text after the last line break is a line too. Returns whether there was any. */
  end(): boolean {
    if (this.#unfinished.isEmpty) return false
    this.#first = this.#unfinished.take()
    return true
  }

  /** Returns the next message, a `Refusal` for a line that is no valid message, or undefined when more bytes are needed. */
  next(): Decoded | undefined {
    for (let line = this.#nextLine(); line !== undefined; line = this.#nextLine()) {
      if (typeof line !== 'string') {
        this.line = line.head
        return refuseLine(line, this.#limit)
      }
      this.line = line
      if (line !== '') return decode(line, this.#limits)
    }
    return undefined
  }

  #nextLine(): string | TruncatedLine | undefined {
    const first = this.#first
    if (first !== undefined) {
      this.#first = undefined
      return typeof first === 'string' ? this.#trim(first) : first
    }
    const end = this.#text.indexOf('\n', this.#position)
    if (end < 0) {
      this.#text = ''
      this.#position = 0
      return undefined
    }
    const line = this.#text.slice(this.#position, end)
    this.#position = end + 1
    if (this.#mayExceedLimit && Buffer.byteLength(line) > this.#limit) {
      return { head: line.slice(0, KEPT_LENGTH), tail: line.slice(-KEPT_LENGTH) }
    }
    return this.#trim(line)
  }

  /** Removes a CR at the end, and the byte order mark that some shells write before the first line. */
  #trim(line: string): string {
    const start = this.#isFirstLine && line.startsWith('\uFEFF') ? 1 : 0
    this.#isFirstLine = false
    const end = line.endsWith('\r') ? line.length - 1 : line.length
    return line.slice(start, end)
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

/** How much of each end of a line above the limit is kept. */
const KEPT_LENGTH = 512
const FIRST_CAPACITY = 16 * 1024

/**
 * Holds the bytes of an unfinished line: never more than the limit, in time linear in the bytes. Bytes are copied into
 * one growing buffer, because a list of small chunks takes many times their size.
 */
class LineBuffer {
  readonly #limit: number
  #bytes = Buffer.allocUnsafe(0)
  #length = 0
  /** Defined once the line exceeds the limit; from then on only its last bytes are kept. */
  #head: string | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  get isEmpty(): boolean {
    return this.#length === 0 && this.#head === undefined
  }

  /** Adds bytes without a line break. */
  push(bytes: Buffer): void {
    if (this.#head === undefined && this.#length + bytes.length > this.#limit) this.#truncate(bytes)
    if (this.#head !== undefined) {
      this.#keepTail(bytes)
      return
    }
    this.#reserve(this.#length + bytes.length)
    bytes.copy(this.#bytes, this.#length)
    this.#length += bytes.length
  }

  /** Returns the line and starts the next one. */
  take(): string | TruncatedLine {
    const text = this.#bytes.toString('utf8', 0, this.#length)
    const line = this.#head === undefined ? text : { head: this.#head, tail: text }
    if (this.#bytes.length > FIRST_CAPACITY) this.#bytes = Buffer.allocUnsafe(0)
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

  #truncate(next: Buffer): void {
    const missing = Math.max(0, KEPT_LENGTH - this.#length)
    const start = this.#bytes.subarray(0, Math.min(KEPT_LENGTH, this.#length))
    this.#head = Buffer.concat([start, next.subarray(0, missing)]).toString('utf8')
    const end = Buffer.from(this.#bytes.subarray(Math.max(0, this.#length - KEPT_LENGTH), this.#length))
    this.#bytes = Buffer.allocUnsafe(2 * KEPT_LENGTH)
    this.#length = end.copy(this.#bytes)
  }

  #keepTail(next: Buffer): void {
    const added = next.subarray(Math.max(0, next.length - KEPT_LENGTH))
    const kept = Math.min(this.#length, KEPT_LENGTH)
    this.#bytes.copyWithin(0, this.#length - kept, this.#length)
    this.#length = kept + added.copy(this.#bytes, kept)
  }
}

/** An `id` that is the first or the last member of the message. A quote within a JSON string is always escaped. */
const firstId = /^\s*\{"jsonrpc":\s?"2\.0",\s?"id":\s?(-?\d+|"(?:[^"\\]|\\.)*")\s?,/
const lastId = /,\s?"id":\s?(-?\d+|"(?:[^"\\]|\\.)*")\s?\}\s*$/

/** Refuses a line above the limit, and addresses the error to its request or response if the ends of the line show the id. */
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
  readonly decoder: LineDecoder
  /** Called with each message. While a promise that it returned is pending, no further message is delivered. */
  readonly onMessage: (item: Decoded) => Awaitable<void>
  /** Resolves when messages may be delivered; undefined: at once. */
  readonly waitForRoom: () => Promise<void> | undefined
}

/** How many messages are delivered before other tasks of the event loop run. */
const BATCH_SIZE = 128
/** How many chunks are queued before the input is paused. */
const MAX_CHUNKS = 4

/** Reads messages from a stream, no faster than they are handled. */
export class LineReader {
  readonly #options: LineReaderOptions
  readonly #chunks: Uint8Array[] = []
  #hasEnded = false
  #isPaused = false
  #isStopped = false
  #failure: { readonly error: unknown } | undefined
  #isDelivering = false
  #chunksSeen = 0
  /** Resumes the loop that waits for a chunk. */
  #wake: (() => void) | undefined

  constructor(options: LineReaderOptions) {
    this.#options = options
  }

  /** Resolves when the input has ended or `stop` was called. Rejects when `stop` was called with an error. */
  async read(): Promise<void> {
    const { input, decoder } = this.#options
    input.on('data', this.#onData)
    input.on('end', this.#onEnd)
    input.on('close', this.#onEnd)
    input.resume()
    const stopped = new Promise<void>((resolve) => (this.#onStop = resolve))
    try {
      await Promise.race([this.#deliverAll(decoder), stopped])
    } finally {
      this.stop()
    }
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** Delivers the chunks that have already arrived, then stops. */
  async stopWhenIdle(): Promise<void> {
    let seen = -1
    while (seen !== this.#chunksSeen && !this.#isStopped && !this.#isDelivering) {
      seen = this.#chunksSeen
      // After two turns of the event loop everything that lay in the pipe has been read.
      await setImmediate()
      await setImmediate()
    }
    this.stop()
  }

  /** Stops reading and removes all listeners. Unread bytes stay in the input. */
  stop(failure?: { readonly error: unknown }): void {
    if (this.#isStopped) return
    const { input } = this.#options
    this.#isStopped = true
    this.#failure = failure
    input.removeListener('data', this.#onData)
    input.removeListener('end', this.#onEnd)
    input.removeListener('close', this.#onEnd)
    input.pause()
    this.#onStop()
    this.#wake?.()
  }

  #onStop: () => void = () => {}

  async #deliverAll(decoder: LineDecoder): Promise<void> {
    for (let chunk = await this.#nextChunk(); chunk !== undefined; chunk = await this.#nextChunk()) {
      decoder.add(chunk)
      await this.#deliver(decoder)
    }
    if (!this.#isStopped && decoder.end()) await this.#deliver(decoder)
  }

  async #deliver(decoder: LineDecoder): Promise<void> {
    const { onMessage, waitForRoom } = this.#options
    this.#isDelivering = true
    for (let count = 1; !this.#isStopped; count++) {
      for (let room = waitForRoom(); room !== undefined; room = waitForRoom()) await room
      if (this.#isStopped) return
      const item = decoder.next()
      if (item === undefined) break
      const handled = onMessage(item)
      if (isPromise(handled)) await handled
      if (count % BATCH_SIZE === 0) await setImmediate()
    }
    this.#isDelivering = false
  }

  /** Resolves to undefined when the input has ended or reading was stopped. */
  async #nextChunk(): Promise<Uint8Array | undefined> {
    while (this.#chunks.length === 0 && !this.#hasEnded && !this.#isStopped) {
      if (this.#isPaused) {
        this.#isPaused = false
        this.#options.input.resume()
      }
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    return this.#isStopped ? undefined : this.#chunks.shift()
  }

  readonly #onData = (chunk: Uint8Array): void => {
    this.#chunksSeen += 1
    this.#chunks.push(chunk)
    if (this.#chunks.length >= MAX_CHUNKS && !this.#isPaused) {
      this.#isPaused = true
      this.#options.input.pause()
    }
    this.#wake?.()
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true
    this.#wake?.()
  }
}

/** How many characters are collected before they are written: a stream says only then that it is full. */
const WRITE_SIZE = 16 * 1024

/** Writes lines to a stream. The lines of one turn of the event loop are written together. */
export class LineWriter {
  readonly #sink: ByteSink
  readonly #maxUnsent: number
  /** Lines that were not given to the stream yet. */
  #collected = ''
  /** The number of characters that the stream has not written yet. */
  #writing = 0
  #isScheduled = false
  #isFull = false
  #isBroken = false
  /** Resolves when the stream accepts more. */
  #room: Deferred | undefined
  /** Resolves when no more than `maxUnsent` characters are unsent. */
  #belowLimit: Deferred | undefined
  /** Resolves when everything is written. */
  #empty: Deferred | undefined

  constructor(sink: ByteSink, maxUnsent: number) {
    this.#sink = sink
    this.#maxUnsent = maxUnsent
  }

  get isAboveLimit(): boolean {
    return this.#collected.length + this.#writing > this.#maxUnsent
  }

  /** Returns a promise when the stream is full; it resolves when there is room again. The line is accepted either way. */
  write(line: string): Awaitable<void> {
    this.#collected += line
    if (!this.#isFull && this.#collected.length >= WRITE_SIZE) this.#flush()
    if (this.#isFull) {
      this.#room ??= createDeferred()
      return this.#room.promise
    }
    if (!this.#isScheduled && this.#collected !== '') {
      this.#isScheduled = true
      process.nextTick(this.#flush)
    }
    return undefined
  }

  /** Returns undefined when no more than `maxUnsent` characters are unsent, else a promise that resolves then. */
  waitForRoom(): Promise<void> | undefined {
    if (!this.isAboveLimit) return undefined
    this.#belowLimit ??= createDeferred()
    return this.#belowLimit.promise
  }

  /** Resolves when everything is written. */
  async drain(): Promise<void> {
    this.#flush()
    if (this.#writing === 0) return
    this.#empty ??= createDeferred()
    await this.#empty.promise
  }

  /** Resolves the promises that `write` returned, although the stream is full. */
  release(): void {
    this.#room?.resolve()
    this.#room = undefined
  }

  /** Drops what is unsent and resolves all promises: the stream does not accept anything any more. */
  break(): void {
    this.#isBroken = true
    this.#isFull = false
    this.#collected = ''
    this.#writing = 0
    this.#resolveAll()
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
    this.#resolveAll()
  }

  #resolveAll(): void {
    if (!this.#isFull) this.release()
    if (!this.isAboveLimit) {
      this.#belowLimit?.resolve()
      this.#belowLimit = undefined
    }
    if (this.#writing === 0 && this.#collected === '') {
      this.#empty?.resolve()
      this.#empty = undefined
    }
  }
}

interface Deferred {
  readonly promise: Promise<void>
  resolve(): void
}

function createDeferred(): Deferred {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
