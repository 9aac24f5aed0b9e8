/** Runs unsupported behaviours, which must fail exactly as their table says. */

/** Why a behaviour is unsupported, and how it fails. */
export interface Unsupported {
  readonly reason: string
  /** Matches the error, as `describeError` formats it. */
  readonly failure: RegExp
}

/** Rejects if the behaviour works or fails with another error than the expected one. */
export async function expectUnsupported(run: () => Promise<void>, { failure }: Unsupported): Promise<void> {
  const outcome = await run().then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  if (outcome === undefined) throw new Error('It works: remove its entry from skips.ts or gaps.ts')
  const actual = describeError(outcome.error)
  if (failure.test(actual)) return
  const message = `The error differs from the expected failure in skips.ts or gaps.ts: expected ${failure}, got ${actual}`
  throw new Error(message, { cause: outcome.error })
}

/** Formats an error as one line: `AssertionError: expected 1 to be 2`, `RpcError -32601: Method not found`. */
export function describeError(error: unknown): string {
  const { name, message, code, reason } = error as { name: string; message: string; code?: number; reason?: string }
  const kind = code ?? reason
  return `${name}${kind === undefined ? '' : ` ${kind}`}: ${message}`
}

/** Matches the failure of an input request for which the client has not declared the capability. */
export function cannotBeAsked(capability: string): RegExp {
  const starts = [
    'Error: (?:With an upstream of [-\\d]{10}: )?The tool failed: ',
    'RpcError -32600: ',
    "AssertionError: expected '",
  ]
  const message = 'The client cannot be asked\\. The client must declare: '
  const ends = ['$', `' to be 'The call of "drop" was not approved\\.`]
  return new RegExp(`^(?:${starts.join('|')})${message}${capability.replaceAll('.', '\\.')}(?:${ends.join('|')})`)
}
