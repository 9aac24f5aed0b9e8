/**
 * Decides when the next operation begins. The rate decreases if the machine is busy. No operation begins while
 * resources are measured.
 */

import { type EventLoopUtilization, performance } from 'node:perf_hooks'

/** The part of the time for which the event loop may be busy. If the event loop is busier, the rate decreases. */
const MOST_BUSY = 0.75
/** The lowest rate, in operations per second. */
const LOWEST = 5
const INTERVAL = 1_000

export class Pace {
  /** Operations per second. */
  rate: number
  readonly #highest: number
  readonly #timer: NodeJS.Timeout
  #last: EventLoopUtilization = performance.eventLoopUtilization()
  #next = 0
  #resumed = Promise.resolve()
  #resume = () => {}

  constructor(highest: number) {
    this.#highest = highest
    this.rate = highest / 4
    this.#timer = setInterval(() => this.#adapt(), INTERVAL)
  }

  /** Resolves when the next operation may begin. */
  async turn(): Promise<void> {
    const now = performance.now()
    const at = Math.max(now, this.#next)
    this.#next = at + 1_000 / this.rate
    if (at > now) await new Promise((resolve) => setTimeout(resolve, at - now))
    await this.#resumed
  }

  /** Delays new operations until `resume` is called. */
  pause(): void {
    this.#resumed = new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  resume(): void {
    this.#next = performance.now()
    this.#resume()
  }

  close(): void {
    clearInterval(this.#timer)
    this.resume()
  }

  #adapt(): void {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, this.#last)
    this.#last = now
    const factor = utilization > MOST_BUSY ? 0.8 : 1.05
    this.rate = Math.min(this.#highest, Math.max(LOWEST, this.rate * factor))
  }
}
