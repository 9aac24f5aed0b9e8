/** Bytes to lines to messages, and back: one message a line, ended by LF; CRLF and empty lines are put up with. */

import {
  CODEC_LIMITS,
  type CodecLimits,
  type Decoded,
  decode,
  encode,
  invalidRequest,
  type Message,
  Refusal,
  type RequestId,
} from '@mcpx/protocol'
import { type CutLine, cutLine, LineBuffer } from './line-buffer.ts'

/** How long a line may be unless told otherwise, in bytes: 32 MiB. */
export const MAX_LINE_LENGTH = 32 * 1024 * 1024

const LF = 10

/** Gives messages one at a time, so that its user can stop between two of them. */
export class LineDecoder {
  readonly #limits: CodecLimits
  readonly #limit: number
  readonly #unfinished: LineBuffer
  /** The line that began in an earlier chunk. */
  #first: string | CutLine | undefined
  /** The other whole lines of the chunk. */
  #text = ''
  #at = 0
  #fits = true
  #isStart = true
  /** The line of the message that was given last; of one that was too long, its beginning. */
  line = ''

  constructor(maxLineLength: number = MAX_LINE_LENGTH) {
    this.#limit = maxLineLength
    this.#limits = { ...CODEC_LIMITS, maxLength: maxLineLength }
    this.#unfinished = new LineBuffer(maxLineLength)
  }

  /** Takes a chunk; to be called only when `next` has nothing more to give. */
  take(chunk: Uint8Array | string): void {
    const bytes = toBuffer(chunk)
    // Most chunks end with a line: to search from the end takes a call below the language.
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
      this.#at = 0
      this.#fits = last - start <= this.#limit
    }
    if (last + 1 < bytes.length) this.#unfinished.push(bytes.subarray(last + 1))
  }

  /** No more chunks come: what has no end is a line too. Whether there was such a line. */
  end(): boolean {
    if (this.#unfinished.isEmpty) return false
    this.#first = this.#unfinished.take()
    return true
  }

  /** The next message of what was taken, or what is to be said of a line that holds none. */
  next(): Decoded | undefined {
    for (;;) {
      const line = this.#nextLine()
      if (line === undefined) return undefined
      if (typeof line !== 'string') {
        this.line = line.head
        return tooLong(line, this.#limit)
      }
      this.line = line
      if (line !== '') return decode(line, this.#limits)
    }
  }

  #nextLine(): string | CutLine | undefined {
    const first = this.#first
    if (first !== undefined) {
      this.#first = undefined
      return typeof first === 'string' ? this.#clean(first) : first
    }
    const end = this.#text.indexOf('\n', this.#at)
    if (end < 0) {
      this.#text = ''
      this.#at = 0
      return undefined
    }
    const line = this.#text.slice(this.#at, end)
    this.#at = end + 1
    if (!this.#fits && Buffer.byteLength(line) > this.#limit) return cutLine(line)
    return this.#clean(line)
  }

  /** Drops a CR at the end, and the byte order mark that some shells put before the first line. */
  #clean(line: string): string {
    const start = this.#isStart && line.startsWith('\uFEFF') ? 1 : 0
    this.#isStart = false
    const end = line.endsWith('\r') ? line.length - 1 : line.length
    return start === 0 && end === line.length ? line : line.slice(start, end)
  }
}

/** One message, or the answers to an array of them, as a line. Throws `RpcError` for what JSON cannot hold. */
export function encodeLine(message: Message | Message[]): string {
  return Array.isArray(message) ? `[${message.map(encode).join()}]\n` : `${encode(message)}\n`
}

function toBuffer(chunk: Uint8Array | string): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

/** `"id":7` as the first or the last member of a message is its id: no quote within a string stands without a backslash. */
const firstId = /^\s*\{"jsonrpc":\s?"2\.0",\s?"id":\s?(-?\d+|"(?:[^"\\]|\\.)*")\s?,/
const lastId = /,\s?"id":\s?(-?\d+|"(?:[^"\\]|\\.)*")\s?\}\s*$/

/** Says whom to tell of a line that was not kept, as far as its ends show it: who waits for it learns why. */
function tooLong({ head, tail }: CutLine, limit: number): Refusal {
  const error = invalidRequest(`Invalid message: a line longer than ${limit} bytes; raise maxLineLength to let it in`)
  const id = readId(firstId.exec(head)?.[1] ?? lastId.exec(tail)?.[1])
  const opening = head.replace(firstId, '{').replace(/^\s*\{"jsonrpc":\s?"2\.0",/, '{')
  const [, member] = /^\s*\{\s?"(\w+)":/.exec(opening) ?? []
  if (member === 'result' || member === 'error') return new Refusal(error, 'response', id)
  if (member !== 'method') return new Refusal(error, 'unknown', id)
  return id === undefined ? new Refusal(error) : new Refusal(error, 'request', id)
}

function readId(text: string | undefined): RequestId | undefined {
  if (text === undefined) return undefined
  const id = JSON.parse(text) as RequestId
  return typeof id === 'string' || Number.isSafeInteger(id) ? id : undefined
}
