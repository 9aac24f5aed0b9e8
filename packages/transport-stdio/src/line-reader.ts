/** Reads a stream line by line, never faster than what it reads is dealt with. */

import { type Awaitable, type Decoded, isPromise } from '@mcpx/protocol'
import type { LineDecoder } from './line-codec.ts'
import type { ByteSource } from './streams.ts'

export interface LineReaderOptions {
  readonly input: ByteSource
  readonly decoder: LineDecoder
  /** Takes each item; while a promise it returned is pending, nothing more is read. */
  readonly hand: (item: Decoded) => Awaitable<void>
  /** Asked before each item: while it is so, nothing more is read. `proceed` ends that. */
  readonly isCrowded: () => boolean
  /** Called before items are handed over, however many there are, and when that is done for now. */
  readonly onBegin: () => void
  readonly onEnd: () => void
}

/** How many items are handed over before other tasks get their turn, and their answers are counted. */
const SLICE = 128
/** How many chunks may wait for that. */
const MAX_CHUNKS = 4

export class LineReader {
  readonly #options: LineReaderOptions
  readonly #input: ByteSource
  readonly #chunks: Uint8Array[] = []
  #settle: { resolve: () => void; reject: (error: unknown) => void } | undefined
  #isBusy = false
  #isCrowded = false
  #isPaused = false
  #hasEnded = false
  #chunksSeen = 0

  constructor(options: LineReaderOptions) {
    this.#options = options
    this.#input = options.input
  }

  /** Resolves when the stream has ended, or reading was stopped. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      this.#input.on('data', this.#onData)
      this.#input.on('end', this.#onEnd)
      this.#input.on('close', this.#onEnd)
      this.#input.resume()
    })
  }

  /** Goes on if it was too crowded to read. */
  proceed(): void {
    if (!this.#isCrowded || this.#options.isCrowded()) return
    this.#isCrowded = false
    if (!this.#isBusy) this.#pump()
  }

  /** Reads what has arrived already, then stops. */
  async stopWhenQuiet(): Promise<void> {
    for (let before = -1; before !== this.#chunksSeen && this.#settle !== undefined && !this.#isHeld; ) {
      before = this.#chunksSeen
      await twoTurns()
    }
    this.stop()
  }

  /** Lets go of the stream. What was not read yet stays in it. */
  stop(error?: unknown): void {
    const settle = this.#settle
    if (settle === undefined) return
    this.#settle = undefined
    this.#input.removeListener('data', this.#onData)
    this.#input.removeListener('end', this.#onEnd)
    this.#input.removeListener('close', this.#onEnd)
    this.#input.pause()
    if (error === undefined) settle.resolve()
    else settle.reject(error)
  }

  get #isHeld(): boolean {
    return this.#isBusy || this.#isCrowded
  }

  readonly #onData = (chunk: Uint8Array): void => {
    this.#chunksSeen += 1
    this.#chunks.push(chunk)
    if (!this.#isHeld) this.#pump()
    else if (this.#chunks.length >= MAX_CHUNKS) this.#pause()
  }

  readonly #onEnd = (): void => {
    this.#hasEnded = true
    if (!this.#isHeld) this.#pump()
  }

  readonly #pump = (): void => {
    this.#isBusy = false
    this.#options.onBegin()
    try {
      this.#handOver()
    } catch (error) {
      this.stop(error)
    } finally {
      this.#options.onEnd()
    }
  }

  /** Hands over what has arrived until it is used up, or has to wait. */
  #handOver(): void {
    for (let count = 0; this.#settle !== undefined; count++) {
      if (this.#options.isCrowded()) {
        this.#isCrowded = true
        this.#pause()
        return
      }
      if (count === SLICE) {
        this.#isBusy = true
        setImmediate(this.#pump)
        return
      }
      const item = this.#options.decoder.next()
      if (item === undefined) {
        if (!this.#takeChunk()) return
        continue
      }
      const busy = this.#options.hand(item)
      if (isPromise(busy)) {
        this.#isBusy = true
        this.#pause()
        busy.then(this.#pump, (error) => this.stop(error))
        return
      }
    }
  }

  /** Gives the decoder more to read; false when there is nothing now. */
  #takeChunk(): boolean {
    const chunk = this.#chunks.shift()
    if (chunk !== undefined) {
      this.#options.decoder.take(chunk)
      return true
    }
    if (this.#hasEnded) return this.#takeEnd()
    if (this.#isPaused) {
      this.#isPaused = false
      this.#input.resume()
    }
    return false
  }

  /** What has no end is a line too; then there is no more. */
  #takeEnd(): boolean {
    if (this.#options.decoder.end()) return true
    this.stop()
    return false
  }

  #pause(): void {
    if (this.#isPaused || this.#hasEnded) return
    this.#isPaused = true
    this.#input.pause()
  }
}

/** Long enough for what lies in a pipe to be read. */
async function twoTurns(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}
