/** A stream of events on a response of Node's HTTP server, with next to nothing in between. */

import { ConnectionError } from '@mcpx/protocol'
import type { EventStream, Sink } from './event-stream.ts'
import { closeWith, hasGone, type OutgoingStream } from './outgoing.ts'

/** @param later runs something as soon as what runs now is done */
export function flowTo(outgoing: OutgoingStream, stream: EventStream, later: (run: () => void) => void): void {
  stream.flow(new OutgoingSink(outgoing, stream, later))
}

/**
 * Tells the stream when its client goes, or has gone.
 *
 * @returns what listens until then, if anything
 */
export function watchClient(outgoing: OutgoingStream, stream: EventStream): (() => void) | undefined {
  // Nothing else would tell that there will be no room.
  if (hasGone(outgoing.req, outgoing)) {
    gone(stream)
    return undefined
  }
  const heard = gone.bind(undefined, stream)
  closeWith(outgoing.req.socket, outgoing)
  outgoing.on('close', heard)
  return heard
}

function gone(stream: EventStream): void {
  stream.gone(new ConnectionError('closed', 'The client closed the stream'))
}

/** How much may be said at once before there is no room for more, in characters. */
const MOST_AT_ONCE = 16 * 1024

/** What is said at once is one write: each costs as much as the rest of an event. */
class OutgoingSink implements Sink {
  readonly #outgoing: OutgoingStream
  readonly #stream: EventStream
  readonly #later: (run: () => void) => void
  #said = ''
  #isFull = false

  constructor(outgoing: OutgoingStream, stream: EventStream, later: (run: () => void) => void) {
    this.#outgoing = outgoing
    this.#stream = stream
    this.#later = later
  }

  get unsent(): number {
    return this.#outgoing.writableLength + this.#said.length
  }

  write(text: string): boolean {
    if (this.#said === '') this.#later(() => this.#flush())
    this.#said += text
    return this.#said.length < MOST_AT_ONCE && !this.#isFull
  }

  end(): void {
    this.#outgoing.end(this.#said)
    this.#said = ''
  }

  cut(): void {
    this.#outgoing.destroy()
  }

  #flush(): void {
    const text = this.#said
    this.#said = ''
    const outgoing = this.#outgoing
    if (text === '' || outgoing.destroyed) return
    if (outgoing.write(text)) {
      if (!this.#isFull) this.#stream.makeRoom()
    } else if (!this.#isFull) {
      this.#isFull = true
      outgoing.once('drain', () => this.#drained())
    }
  }

  #drained(): void {
    this.#isFull = false
    this.#stream.makeRoom()
  }
}
