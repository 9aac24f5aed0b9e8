/** The responses to requests of the server. A server that sends requests faster than it accepts responses has to wait. */

/** How many responses are sent at the same time. */
const AT_ONCE = 16

export class UnsentResponses {
  #sending = 0
  /** Begins to send each waiting response, oldest first. */
  readonly #waiting: (() => void)[] = []
  #room: Promise<void> | undefined
  #resolveRoom: (() => void) | undefined

  /** Resolves when no response waits, so that more messages of the server may be read. Undefined if none waits now. */
  get room(): Promise<void> | undefined {
    if (this.#waiting.length === 0) return undefined
    this.#room ??= new Promise((resolve) => {
      this.#resolveRoom = resolve
    })
    return this.#room
  }

  /** Sends a response when fewer than 16 others are being sent. Rejects as `send` does. */
  async send(send: () => Promise<void>): Promise<void> {
    if (this.#sending < AT_ONCE) this.#sending += 1
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve))
    try {
      await send()
    } finally {
      this.#end()
    }
  }

  #end(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#sending -= 1
    else next()
    if (this.#waiting.length > 0) return
    this.#resolveRoom?.()
    this.#room = undefined
  }
}
