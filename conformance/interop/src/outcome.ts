/** Evaluates the outcome of a check with its known exception. */

/** A known failure. Its check is run, and the failure must match. */
export interface Exception {
  /**
   * `lacks`: the other side does not implement it; `breaks`: the other side violates the specification; `left out`: our side
   * does not implement it, and the specification does not require it.
   */
  readonly kind: 'lacks' | 'breaks' | 'left out'
  readonly reason: string
  /** Matches the error message. */
  readonly pattern: RegExp
}

export interface Outcome {
  /** `absent`: the revision or the transport does not have the feature, so it was not run. */
  readonly status: 'passed' | 'failed' | 'absent' | Exception['kind']
  readonly reason?: string
  /** The error message of a failure. */
  readonly evidence?: string
}

/** The name of a check and its outcome. */
export interface CheckResult extends Outcome {
  readonly name: string
}

export function evaluateOutcome(error: Error | undefined, exception: Exception | undefined): Outcome {
  if (exception === undefined) {
    return error === undefined ? { status: 'passed' } : { status: 'failed', evidence: messageOf(error) }
  }
  const { kind, reason, pattern } = exception
  if (error === undefined) return { status: 'failed', reason: 'it works: remove its exception' }
  return { status: pattern.test(error.message) ? kind : 'failed', reason, evidence: messageOf(error) }
}

function messageOf({ message }: Error): string {
  return message.replaceAll(/\s+/g, ' ').slice(0, 300)
}

/** Returns the error of a promise, or undefined if it resolves; fails after `limit` milliseconds. */
export async function outcomeOf(attempt: Promise<void>, limit: number): Promise<Error | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timedOut = new Promise<Error>((resolve) => {
    timer = setTimeout(() => resolve(new Error(`it took longer than ${limit} ms`)), limit)
  })
  const outcome = await Promise.race([timedOut, attempt.then(() => undefined, toError)])
  clearTimeout(timer)
  return outcome
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
