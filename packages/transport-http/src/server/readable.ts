/** A stream of events as the web's stream of bytes. */

import { ConnectionError } from '@mcpx/protocol'
import type { EventStream, Sink } from './event-stream.ts'

type Bytes = Uint8Array<ArrayBuffer>

export function toReadable(stream: EventStream): ReadableStream<Bytes> {
  return new ReadableStream<Bytes>(new ReadableSource(stream), { highWaterMark: 0 })
}

/** What waits while the client is told to read first. */
const HIGH_WATER = 64 * 1024
const encoder = new TextEncoder()

/** What is said while nobody reads is given as one chunk to who reads next. */
class ReadableSource implements UnderlyingDefaultSource<Bytes>, Sink {
  readonly #stream: EventStream
  #controller: ReadableStreamDefaultController<Bytes> | undefined
  #said = ''
  #isWanted = false
  #hasEnded = false

  constructor(stream: EventStream) {
    this.#stream = stream
  }

  start(controller: ReadableStreamDefaultController<Bytes>): void {
    this.#controller = controller
    this.#stream.flow(this)
  }

  pull(): void {
    this.#isWanted = true
    this.#give()
  }

  cancel(): void {
    this.#stream.gone(new ConnectionError('closed', 'The client closed the stream'))
  }

  write(text: string): boolean {
    this.#said += text
    this.#give()
    return this.#said.length < HIGH_WATER
  }

  get unsent(): number {
    return this.#said.length
  }

  end(): void {
    this.#hasEnded = true
    this.#give()
  }

  cut(reason: Error): void {
    this.#controller?.error(reason)
  }

  #give(): void {
    if (this.#said !== '' && this.#isWanted) {
      this.#isWanted = false
      const chunk = encoder.encode(this.#said)
      this.#said = ''
      this.#controller?.enqueue(chunk)
      this.#stream.makeRoom()
    }
    if (this.#said === '' && this.#hasEnded) this.#controller?.close()
  }
}
