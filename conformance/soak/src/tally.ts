/** Counts operations by their outcome: a result, an expected error caused by an injected fault, or a failure. */

import { ConnectionError, RpcError } from '@mcpx/protocol'

/** The time after which an operation counts as lost, in ms. The machine may be busy. */
export const LONGEST_OPERATION = 120_000

/** The expected errors of a broken connection or a killed server process. */
const EXPLAINED: readonly string[] = ['closed', 'unreachable', 'exited', 'unmatched']

export interface Failure {
  /** The time of the failure, in ms since the beginning of the load. */
  readonly at: number
  readonly operation: string
  readonly problem: string
}

/** The result of an operation was wrong. */
export class WrongResult extends Error {}

/** The operation did not end. */
class Lost extends Error {}

const MOST_FAILURES = 100

export class Tally {
  /** The number of operations by their name, and by their outcome. */
  readonly outcomes = new Map<string, Map<string, number>>()
  /** The first failures. */
  readonly failures: Failure[] = []
  failed = 0
  started = 0
  ended = 0
  /** The durations of measured operations since they were last taken, in ms. */
  #durations: number[] = []
  readonly #begin = performance.now()

  /** The number of operations that run. */
  get running(): number {
    return this.started - this.ended
  }

  /**
   * Runs an operation and counts its outcome. Returns whether it had a result. Never rejects.
   *
   * @param mayBreak whether a fault may break the connection
   * @param isQuick whether its duration is measured, because it depends on the server alone
   */
  async record(
    operation: string,
    run: () => Promise<unknown>,
    { mayBreak, isQuick = false }: { mayBreak: boolean; isQuick?: boolean },
  ): Promise<boolean> {
    const begin = performance.now()
    this.started += 1
    let outcome = 'result'
    try {
      await withDeadline(run())
      if (isQuick) this.#durations.push(performance.now() - begin)
    } catch (error) {
      outcome = nameOf(error)
      if (!isExplained(error, mayBreak)) this.fail(operation, describe(error))
    }
    this.ended += 1
    this.count(operation, outcome)
    return outcome === 'result'
  }

  count(operation: string, outcome: string): void {
    const outcomes = this.outcomes.get(operation) ?? new Map<string, number>()
    this.outcomes.set(operation, outcomes)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }

  fail(operation: string, problem: string): void {
    this.failed += 1
    if (this.failures.length >= MOST_FAILURES) return
    this.failures.push({ at: Math.round(performance.now() - this.#begin), operation, problem })
  }

  /** Returns the measured durations since the last call, in ascending order. */
  takeDurations(): number[] {
    const durations = this.#durations.sort((a, b) => a - b)
    this.#durations = []
    return durations
  }
}

async function withDeadline(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Lost(`no result within ${LONGEST_OPERATION} ms`)), LONGEST_OPERATION)
  })
  try {
    await Promise.race([work, deadline])
  } finally {
    clearTimeout(timer)
  }
}

function isExplained(error: unknown, mayBreak: boolean): boolean {
  return mayBreak && error instanceof ConnectionError && EXPLAINED.includes(error.reason) && error.status !== 500
}

/** Names an error: its class, its reason or code, and whether the same request may be sent again. */
function nameOf(error: unknown): string {
  if (error instanceof ConnectionError) {
    const status = error.status === undefined ? '' : ` ${error.status}`
    return `${error.reason}${status}${error.retryable ? ', retryable' : ''}`
  }
  if (error instanceof RpcError) return `RpcError ${error.code}`
  if (error instanceof WrongResult) return 'wrong result'
  if (error instanceof Lost) return 'lost'
  return `unnamed: ${error instanceof Error ? error.name : typeof error}`
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return `${nameOf(error)}: ${error.message.slice(0, 300)}${cause.slice(0, 200)}`
}
