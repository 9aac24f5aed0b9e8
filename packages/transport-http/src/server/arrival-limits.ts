/** Within which limits a request has to arrive, and what sees to it where Node's own server does not. */

import { invalidRequest } from '@mcpx/protocol'
import { refusal } from './answers.ts'
import type { HttpAnswer } from './http-answer.ts'
import type { Arriving, GoOn, Read } from './http-request.ts'
import { Watch, type Watched } from './watch.ts'

export interface ArrivalLimits {
  /**
   * How large the headers of a request may be together, in bytes. Larger ones are refused with 431, and the connection
   * is ended. What runs the server may have a limit of its own. Default: 16,384.
   */
  readonly maxHeaderSize?: number | undefined
  /**
   * How long a request may take to arrive, to the last byte of its body, in ms: with `serveHttp` from its first byte on,
   * with `mcp` from the last of its headers. A slower one is refused with 408, and the connection is ended; up to a
   * quarter of the time may pass before that is noticed. Default: 60,000.
   */
  readonly requestTimeout?: number | undefined
}

/** The limits with the defaults filled in. Throws a `RangeError` for one that is none. */
export function readArrivalLimits({ maxHeaderSize = 16 * 1024, requestTimeout = 60_000 }: ArrivalLimits) {
  const limits = { maxHeaderSize, requestTimeout }
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name}: expected an integer from 1, got ${value}`)
  }
  return limits
}

export const sayTooLarge = (bytes: number) => `The headers are larger than ${bytes} bytes (maxHeaderSize)`
export const sayTooSlow = (ms: number) => `The request did not arrive within ${ms} ms (requestTimeout)`

interface Arrival extends Watched {
  readonly isAlone: boolean
  /** Absent once it was called. */
  give: ((read: Read) => void) | undefined
}

export class Arrivals implements Arriving {
  readonly #watch: Watch<Arrival>
  /** How many are waited for. */
  size = 0

  /** @param ms how long a body may take; `Infinity` where the runtime sees to that. */
  constructor(ms: number) {
    this.#watch = new Watch({ ms, onLate: (arrival) => this.#end(arrival, tooSlow(ms)) })
  }

  /** Goes on with that body, or with the refusal when it is not here in time: then nobody waits for the rest. */
  inTime<Done>(text: PromiseLike<Read>, isAlone: boolean, goOn: GoOn<Done>): Promise<Done> {
    return new Promise((resolve) => {
      const arrival: Arrival = { isAlone, give: (read) => resolve(goOn(read)) }
      this.#count(1, isAlone)
      // What has a timer of its own may vanish with it, and be kept by nothing else.
      if (!isAlone) this.#watch.add(arrival)
      this.#watch.follow(arrival, isAlone)
      void text.then((read) => this.#end(arrival, read))
    })
  }

  /** Where all of a request ends with its client, nothing might be left to count it off. */
  #count(by: number, isAlone: boolean): void {
    if (!isAlone) this.size += by
  }

  #end(arrival: Arrival, read: Read): void {
    const { give, isAlone } = arrival
    if (give === undefined) return
    arrival.give = undefined
    this.#watch.delete(arrival)
    this.#count(-1, isAlone)
    give(read)
  }

  stop(): void {
    this.#watch.stop()
  }
}

function tooSlow(ms: number): HttpAnswer {
  return refusal(408, invalidRequest(sayTooSlow(ms)), undefined, { connection: 'close' })
}
