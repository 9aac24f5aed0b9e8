/** A document of another server, kept for a while: fetched once for all who wait, and not again right after a failure. */

export interface KeptOptions {
  /** How long it is taken for new, in ms. */
  readonly maxAge: number
  /** How long to wait between two attempts that were not due, and after one that failed, in ms. */
  readonly cooldown: number
  /** How long an old one stands in while no new one can be had, in ms. */
  readonly maxStale: number
  /** Hears of failures that an old document stands in for. */
  readonly report: (problem: Error) => void
}

export class KeptDocument<V> {
  readonly #load: () => Promise<V>
  readonly #options: KeptOptions
  #value: V | undefined
  #loadedAt = Number.NEGATIVE_INFINITY
  #failedAt = Number.NEGATIVE_INFINITY
  #failure: Error | undefined
  #pending: Promise<V> | undefined

  constructor(load: () => Promise<V>, options: KeptOptions) {
    this.#load = load
    this.#options = options
  }

  async get(): Promise<V> {
    const value = this.#value
    if (value !== undefined && Date.now() < this.#loadedAt + this.#options.maxAge) return value
    return this.#reload()
  }

  /** A newer one, if the last attempt is long enough ago. */
  async renew(): Promise<V> {
    const value = this.#value
    if (value !== undefined && Date.now() < this.#loadedAt + this.#options.cooldown) return value
    return this.#reload()
  }

  async #reload(): Promise<V> {
    if (Date.now() < this.#failedAt + this.#options.cooldown) return this.#standIn()
    try {
      return await this.#loadOnce()
    } catch (error) {
      this.#failure = error as Error
      this.#failedAt = Date.now()
      return this.#standIn()
    }
  }

  #standIn(): V {
    const { maxAge, maxStale, report } = this.#options
    const failure = this.#failure as Error
    if (this.#value === undefined || Date.now() >= this.#loadedAt + maxAge + maxStale) throw failure
    report(failure)
    return this.#value
  }

  #loadOnce(): Promise<V> {
    if (this.#pending !== undefined && mayWaitForOthers()) return this.#pending
    const pending = this.#load().then((value) => {
      this.#value = value
      this.#loadedAt = Date.now()
      this.#failedAt = Number.NEGATIVE_INFINITY
      return value
    })
    this.#pending = pending
    const forget = () => {
      if (this.#pending === pending) this.#pending = undefined
    }
    pending.then(forget, forget)
    return pending
  }
}

/** Workers may not wait for what another request does. */
function mayWaitForOthers(): boolean {
  return globalThis.navigator?.userAgent !== 'Cloudflare-Workers'
}
