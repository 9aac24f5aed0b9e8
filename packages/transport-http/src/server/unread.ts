/** The responses that clients have not read yet. Limits their bytes, in total and per caller, and the time without progress. */

import { ConnectionError, type SharedLimit } from '@mcpx/protocol'
import type { NodeOutgoing } from './http-request.ts'
import { every, nextTurn } from './timers.ts'

/** Only responses above this size count, in bytes. Smaller responses are limited by the number of requests. */
export const COUNTED = 16 * 1024
/** After this many bytes of new responses, all responses are counted immediately, without waiting for the timer. */
const MANY = 1024 * 1024
/** How often the responses are counted, in ms. */
const INTERVAL = 1_000

/** A response that may wait for its client. */
export interface UnreadResponse {
  readonly caller: string | undefined
  /** The number of unread bytes. 0 if the client has read everything or has disconnected. */
  readonly unread: number
  /** Ends the connection of the client. */
  cut(problem: ConnectionError): void
}

export class UnreadResponses {
  /** The responses, oldest first. */
  readonly #responses = new Set<UnreadResponse>()
  readonly #limit: Pick<SharedLimit, 'total' | 'perCaller'>
  readonly #report: (problem: Error) => void
  #byCaller = new Map<string | undefined, number>()
  /** The bytes that were added since the last count. */
  #added = 0
  #isCounting = false
  #timer: ReturnType<typeof every>

  constructor(limit: Pick<SharedLimit, 'total' | 'perCaller'>, report: (problem: Error) => void) {
    this.#limit = limit
    this.#report = report
  }

  /**
   * Returns whether the unread bytes of a caller have reached its limit. Its next requests are then refused. False for
   * unknown callers, because they may be many: above the total, their oldest responses are cut off instead.
   */
  isFull(caller: string | undefined): boolean {
    return caller !== undefined && (this.#byCaller.get(caller) ?? 0) >= this.#limit.perCaller
  }

  /** Counts a response until it is read. */
  add(response: UnreadResponse, bytes: number): void {
    this.#responses.add(response)
    this.#added += bytes
    this.#timer ??= every(INTERVAL, () => this.#count())
    if (this.#added >= MANY && !this.#isCounting) void this.#countSoon()
  }

  /**
   * Counts after the runtime has written the responses of this turn. Responses that clients read at once are then no
   * longer counted.
   */
  async #countSoon(): Promise<void> {
    this.#isCounting = true
    await nextTurn()
    this.#isCounting = false
    this.#count()
  }

  #count(): void {
    this.#added = 0
    this.#byCaller = new Map()
    let total = 0
    for (const response of this.#responses) {
      const bytes = this.#bytesOf(response)
      if (bytes === 0) this.#responses.delete(response)
      else this.#byCaller.set(response.caller, (this.#byCaller.get(response.caller) ?? 0) + bytes)
      total += bytes
    }
    for (const response of this.#responses) {
      if (total <= this.#limit.total) break
      // Skip known callers that are below their share.
      if (response.caller !== undefined && !this.isFull(response.caller)) continue
      const bytes = this.#bytesOf(response)
      this.#responses.delete(response)
      this.#byCaller.set(response.caller, (this.#byCaller.get(response.caller) ?? 0) - bytes)
      total -= bytes
      this.#cut(response)
    }
    if (this.#responses.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /**
   * Returns how many bytes of a response are counted. Because a single response may have any size, it counts at most
   * half of the caller's share.
   */
  #bytesOf({ unread }: UnreadResponse): number {
    return Math.min(unread, Math.ceil(this.#limit.perCaller / 2))
  }

  #cut(response: UnreadResponse): void {
    const text = `The client left ${response.unread} bytes unread: its response was cut (limits.unreadBytes)`
    const problem = new ConnectionError('limit', text)
    this.#report(problem)
    response.cut(problem)
  }
}

/** A JSON response on Node, whose bytes wait in `outgoing`. */
export class UnreadJson implements UnreadResponse {
  readonly caller: string | undefined
  readonly #outgoing: NodeOutgoing

  constructor(caller: string | undefined, outgoing: NodeOutgoing) {
    this.caller = caller
    this.#outgoing = outgoing
  }

  get unread(): number {
    const { destroyed, writableFinished, writableLength } = this.#outgoing
    return destroyed || writableFinished ? 0 : writableLength
  }

  cut(): void {
    this.#outgoing.destroy()
  }
}
