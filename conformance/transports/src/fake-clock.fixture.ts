/** A fake clock for each test of a file, and functions to wait with it. */

import { createServer, type ServerOptions } from '@mcpx/server'
import { type FakeClock, fakeClock } from '@mcpx/testing/server'
import { afterEach, beforeEach, expect } from 'vitest'

export const SECOND = 1_000
export const MINUTE = 60 * SECOND

/** Creates a clock before each test of the file, and restores the real clock after the test. */
export function useFakeClock() {
  let clock: FakeClock
  beforeEach(() => {
    clock = fakeClock()
  })
  afterEach(() => clock.restore())
  /** Expects that a promise is pending after `from` ms and settled after `to` ms. Returns its value or its error. */
  async function settlesBetween(promise: PromiseLike<unknown>, from: number, to: number): Promise<unknown> {
    let outcome: { readonly value: unknown } | undefined
    const settle = (value: unknown) => {
      outcome = { value }
    }
    void promise.then(settle, settle)
    await clock.advance(from)
    expect(outcome, `after ${from} ms`).toBeUndefined()
    await clock.advance(to - from)
    expect(outcome, `after ${to} ms`).toBeDefined()
    return outcome?.value
  }

  return {
    get now() {
      return clock.now
    },
    advance: (ms: number) => clock.advance(ms),
    settlesBetween,
  }
}

export const never = () => new Promise<never>(() => {})

/** A server with a tool that responds and a tool that does not respond. */
export function create(options: ServerOptions = {}) {
  return createServer({ name: 'clock', version: '1' }, options)
    .tool('now', {}, () => 'now')
    .tool('never', {}, never)
}
