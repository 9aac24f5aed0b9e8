/** A contract suite is a list of named cases that any test runner can run. */

/** One rule of an interface, and the function that checks it. */
export interface ContractCase {
  /** The rule, such as "returns a stored record". */
  readonly name: string
  /**
   * Resolves if the implementation follows the rule. Rejects with a `ContractError` that names the expected and the
   * received value. If a case fails while timers are late, because the machine is too busy, it is tried up to four
   * times.
   */
  readonly run: () => Promise<void>
}

/** The error of an implementation that breaks a rule. */
export class ContractError extends Error {
  override readonly name = 'ContractError'
  /** The broken rule, such as "a session store returns a stored record". */
  readonly rule: string

  constructor(rule: string, problem: string, options?: ErrorOptions) {
    super(`${rule}\n  ${problem}`, options)
    this.rule = rule
  }
}

/** Options of every suite. */
export interface ContractOptions {
  /** The timeout of one case, in ms. Default: 4,000, which is less than the timeouts of common test runners. */
  readonly timeout?: number | undefined
}

/** Waits for a promise. If the timeout of the case expires first, the error names `event`. */
export type WaitFor = <T>(event: string, promise: PromiseLike<T> | T) => Promise<T>

/** Creates the cases of a suite. `subject` and the name of a case form a sentence. */
export function defineContract(
  subject: string,
  { timeout = 4_000 }: ContractOptions,
  checks: Readonly<Record<string, (waitFor: WaitFor) => Promise<void>>>,
): readonly ContractCase[] {
  return Object.entries(checks).map(([name, check]) => ({
    name,
    run: () => runCase(`${subject} ${name}`, timeout, check),
  }))
}

/** If timers are late by more than this, in ms, the machine is too busy for the timing of a case. */
const LATE = 50
/** How often a case is tried while the machine is too busy. */
const ATTEMPTS = 4

async function runCase(rule: string, timeout: number, check: (waitFor: WaitFor) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const lateness = watchLateness()
    try {
      await runOnce(rule, timeout, check)
      return
    } catch (error) {
      if (lateness.longest() < LATE || attempt === ATTEMPTS) throw error
    } finally {
      lateness.stop()
    }
  }
}

/** Measures how late timers are. */
function watchLateness() {
  const interval = 10
  let last = performance.now()
  let longest = 0
  const look = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last - interval)
    last = now
    return longest
  }
  const timer = setInterval(look, interval)
  return { longest: look, stop: () => clearInterval(timer) }
}

async function runOnce(rule: string, timeout: number, check: (waitFor: WaitFor) => Promise<void>): Promise<void> {
  let pending = 'the case to end'
  const waitFor: WaitFor = async (event, value) => {
    pending = event
    const result = await value
    pending = 'the case to end'
    return result
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`expected ${pending} within ${timeout} ms, got nothing`)), timeout)
  })
  try {
    await Promise.race([check(waitFor), timedOut])
  } catch (cause) {
    throw new ContractError(rule, cause instanceof Error ? cause.message : `threw ${String(cause)}`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

/** The functions of a test runner that `describeContract` uses. Vitest, Jest, Mocha, Bun and node:test provide them. */
export interface TestRunner {
  /** Registers a group; calls `define` to register its tests. */
  describe(name: string, define: () => void): unknown
  /** Registers a test. */
  it(name: string, run: () => Promise<void>): unknown
}

/**
 * Registers all cases with a test runner, grouped under a name.
 *
 * ```ts
 * import { describe, it } from 'vitest'
 * describeContract('the session store over Redis', sessionStoreContract(create), { describe, it })
 * ```
 *
 * @param runner Default: the global functions `describe` and `it`. Throws a `TypeError` if there are none.
 */
export function describeContract(
  name: string,
  cases: readonly ContractCase[],
  runner: TestRunner = globalThis as unknown as TestRunner,
): void {
  if (typeof runner.describe !== 'function' || typeof runner.it !== 'function') {
    throw new TypeError('describeContract: expected global functions describe and it, got none; pass { describe, it }')
  }
  const { describe, it } = runner
  describe(name, () => {
    for (const { name, run } of cases) it(name, run)
  })
}
