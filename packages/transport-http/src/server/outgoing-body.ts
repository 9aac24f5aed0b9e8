/** The body of a response that is a stream of events, where Hono's server for Node will write it. */

import type { EventStream } from './event-stream.ts'
import type { OutgoingStream } from './outgoing.ts'
import { flowTo, watchClient } from './outgoing-sink.ts'

/** After all that runs now, with what waits for nothing but promises: so what is said one by one is written at once. */
interface OnNode {
  readonly process: { nextTick(run: () => void): void }
}

/**
 * Hono's server takes for a stream what has a `getReader`, asks for it when it has written the head, with all that
 * middleware has made of it, and copies what it reads to the response. This one writes there by itself, and tells the
 * server that it is done: a copy of a `ReadableStream` holds 5 kB for as long as it is open. Whoever makes a response of the
 * web's of it, such as a middleware that looks at the body, gets a real stream.
 */
export class OutgoingBody implements AsyncIterable<Uint8Array> {
  readonly #stream: EventStream
  readonly #outgoing: OutgoingStream
  #watch: (() => void) | undefined
  readonly #toReadable: (stream: EventStream) => ReadableStream<Uint8Array<ArrayBuffer>>

  constructor(
    stream: EventStream,
    outgoing: OutgoingStream,
    toReadable: (stream: EventStream) => ReadableStream<Uint8Array<ArrayBuffer>>,
  ) {
    this.#stream = stream
    this.#outgoing = outgoing
    this.#toReadable = toReadable
    // Middleware may send something else in its place: then nobody ever asks for a reader.
    this.#watch = watchClient(outgoing, stream)
  }

  getReader() {
    const stream = this.#stream
    const outgoing = this.#outgoing
    flowTo(outgoing, stream, (globalThis as Partial<OnNode>).process?.nextTick ?? queueMicrotask)
    if (this.#watch !== undefined) outgoing.removeListener('close', this.#watch)
    this.#watch = undefined
    // When Hono's server has taken its own listener away: of three at a time, Node keeps a list with room for 19.
    queueMicrotask(() => queueMicrotask(() => watchClient(outgoing, stream)))
    return { read: never, closed: Promise.resolve(), cancel: done }
  }

  cancel(reason: Error): Promise<void> {
    return this.#toReadable(this.#stream).cancel(reason)
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array<ArrayBuffer>> {
    return this.#toReadable(this.#stream)[Symbol.asyncIterator]()
  }
}

function never(): Promise<never> {
  return new Promise(() => {})
}

async function done(): Promise<void> {}
