/** Refuses bodies that take too long to arrive. */

import { invalidRequest } from '@mcpx/protocol'
import { refusal } from './answers.ts'
import { sayTooSlow } from './arrival-limits.ts'
import type { HttpAnswer } from './http-answer.ts'
import type { Arriving } from './http-request.ts'
import { Watch, type Watched } from './watch.ts'

interface Arrival extends Watched {
  refuse(): void
}

export class Arrivals implements Arriving {
  readonly #ms: number
  readonly #watch: Watch<Arrival>
  #size = 0

  constructor(ms: number) {
    this.#ms = ms
    this.#watch = new Watch({ ms, onLate: (arrival) => arrival.refuse() })
  }

  /** How many are waited for. */
  get size(): number {
    return this.#size
  }

  /** The same body, or the refusal when it is not here in time: then nobody waits for the rest. */
  inTime(text: PromiseLike<string | HttpAnswer>, isAlone: boolean): PromiseLike<string | HttpAnswer> {
    if (this.#ms === Number.POSITIVE_INFINITY) return this.#counted(text, isAlone)
    return this.#counted(this.#watched(text, isAlone), isAlone)
  }

  /** Where all of a request ends with its client, nothing might be left to count it off. */
  #counted(text: PromiseLike<string | HttpAnswer>, isAlone: boolean): PromiseLike<string | HttpAnswer> {
    if (isAlone) return text
    this.#size += 1
    return text.then((read) => {
      this.#size -= 1
      return read
    })
  }

  #watched(text: PromiseLike<string | HttpAnswer>, isAlone: boolean): Promise<string | HttpAnswer> {
    return new Promise((resolve) => {
      const arrival: Arrival = { refuse: () => resolve(tooSlow(this.#ms)) }
      // What has a timer of its own may vanish with it, and be kept by nothing else.
      if (!isAlone) this.#watch.add(arrival)
      this.#watch.follow(arrival, isAlone)
      void text.then((read) => {
        this.#watch.delete(arrival)
        resolve(read)
      })
    })
  }

  stop(): void {
    this.#watch.stop()
  }
}

function tooSlow(ms: number): HttpAnswer {
  return refusal(408, invalidRequest(sayTooSlow(ms)), undefined, { connection: 'close' })
}
