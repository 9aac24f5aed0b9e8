/** Holds the bytes of a line until its end arrives: never more than a limit, in time linear in the bytes. */

const FIRST_CAPACITY = 16 * 1024
/** How much is kept of both ends of a line that is too long. */
const ENDS = 512

/** The two ends of a line that was too long to be kept. */
export interface CutLine {
  readonly head: string
  readonly tail: string
}

/** Bytes are copied into one growing buffer: held chunks would each keep the whole block alive that they are cut from. */
export class LineBuffer {
  readonly #limit: number
  #bytes = Buffer.allocUnsafe(0)
  #length = 0
  /** Set once the line is too long; from then on only its last bytes are kept. */
  #head: string | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  get isEmpty(): boolean {
    return this.#length === 0 && this.#head === undefined
  }

  /** Adds bytes of the line, none of which is its end. */
  push(bytes: Buffer): void {
    if (this.#head === undefined && this.#length + bytes.length > this.#limit) this.#cut(bytes)
    if (this.#head !== undefined) {
      this.#keepTail(bytes)
      return
    }
    this.#reserve(this.#length + bytes.length)
    bytes.copy(this.#bytes, this.#length)
    this.#length += bytes.length
  }

  /** Hands the line over and begins the next. */
  take(): string | CutLine {
    const text = this.#bytes.toString('utf8', 0, this.#length)
    const line = this.#head === undefined ? text : { head: this.#head, tail: text }
    if (this.#bytes.length > FIRST_CAPACITY) this.#bytes = Buffer.allocUnsafe(0)
    this.#length = 0
    this.#head = undefined
    return line
  }

  #reserve(needed: number): void {
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(
      Math.max(FIRST_CAPACITY, needed, Math.min(2 * this.#bytes.length, this.#limit)),
    )
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }

  #cut(bytes: Buffer): void {
    const missing = Math.max(0, ENDS - this.#length)
    const start = Buffer.concat([this.#bytes.subarray(0, Math.min(ENDS, this.#length)), bytes.subarray(0, missing)])
    const end = Buffer.from(this.#bytes.subarray(Math.max(0, this.#length - ENDS), this.#length))
    this.#head = start.toString('utf8')
    this.#bytes = Buffer.allocUnsafe(2 * ENDS)
    this.#length = end.copy(this.#bytes)
  }

  #keepTail(bytes: Buffer): void {
    const added = bytes.subarray(Math.max(0, bytes.length - ENDS))
    const kept = Math.min(this.#length, ENDS)
    this.#bytes.copyWithin(0, this.#length - kept, this.#length)
    this.#length = kept + added.copy(this.#bytes, kept)
  }
}

/** A whole line that turned out too long. */
export function cutLine(line: string): CutLine {
  return { head: line.slice(0, ENDS), tail: line.slice(-ENDS) }
}
