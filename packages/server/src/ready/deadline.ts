/** A timer that can be halted, and the signal that it fires. */

export interface Deadline {
  /** Fires when the time is over. */
  readonly signal: AbortSignal
  /** Resolves when the time is over. */
  readonly passed: Promise<undefined>
  /** Halts the clock while something else is waited for. Rejects, and waits for nothing, when the time is over. */
  outside<Value>(wait: () => Promise<Value>): Promise<Value>
  clear(): void
}

export function startDeadline(ms: number): Deadline {
  const controller = new AbortController()
  const { signal } = controller
  let resolve = (_: undefined): void => {}
  const passed = new Promise<undefined>((settle) => {
    resolve = settle
  })
  let left = ms
  let waits = 0
  let isCleared = false
  let startedAt = performance.now()
  let timer = setTimeout(pass, left)

  function pass(): void {
    controller.abort(new DOMException(`The request did not end within ${ms} ms`, 'TimeoutError'))
    resolve(undefined)
  }

  function halt(): void {
    waits += 1
    if (waits > 1) return
    clearTimeout(timer)
    left -= performance.now() - startedAt
  }

  function resume(): void {
    waits -= 1
    if (waits > 0 || isCleared) return
    startedAt = performance.now()
    timer = setTimeout(pass, Math.max(0, left))
  }

  return {
    signal,
    passed,
    async outside(wait) {
      signal.throwIfAborted()
      halt()
      try {
        return await wait()
      } finally {
        resume()
      }
    },
    clear() {
      isCleared = true
      clearTimeout(timer)
    },
  }
}
