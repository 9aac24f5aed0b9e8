/** What came of trying something, beside what was expected of it. */

/** What does not work, as is known. Each is tried: what it says has to be seen. */
export interface Exception {
  /**
   * `lacks`: the other side does not have it; `breaks`: the specification wants something else from it; `left out`: our
   * side does not have it, where the specification leaves it to us.
   */
  readonly kind: 'lacks' | 'breaks' | 'left out'
  readonly reason: string
  /** What is seen when it is tried. */
  readonly seen: RegExp
}

export interface Verdict {
  /** `absent`: the revision or the carrier has no such thing, so it was not tried. */
  readonly status: 'passed' | 'failed' | 'absent' | Exception['kind']
  readonly reason?: string
  /** What was seen, where it did not work. */
  readonly evidence?: string
}

/** What was tried, and the verdict. */
export interface Cell extends Verdict {
  readonly what: string
}

export function judge(error: Error | undefined, exception: Exception | undefined): Verdict {
  if (exception === undefined) {
    return error === undefined ? { status: 'passed' } : { status: 'failed', evidence: said(error) }
  }
  const { kind, reason, seen } = exception
  if (error === undefined) return { status: 'failed', reason: 'it works: take out its exception' }
  return { status: seen.test(error.message) ? kind : 'failed', reason, evidence: said(error) }
}

function said({ message }: Error): string {
  return message.replaceAll(/\s+/g, ' ').slice(0, 300)
}

/** How something ended: with an error, or well; it has to end within some ms. */
export async function outcomeOf(attempt: Promise<void>, limit: number): Promise<Error | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<Error>((resolve) => {
    timer = setTimeout(() => resolve(new Error(`it took longer than ${limit} ms`)), limit)
  })
  const outcome = await Promise.race([late, attempt.then(() => undefined, toError)])
  clearTimeout(timer)
  return outcome
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
