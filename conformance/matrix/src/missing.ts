/** What does not exist is tried too: it has to be missing in the way that its table says, and in no other. */

/** Why a behaviour does not exist, and what is seen instead. */
export interface Missing {
  readonly reason: string
  /** What the try ends with, as `describeEnd` writes it. */
  readonly seen: RegExp
}

/** Rejects when it works, and when it fails for anything but what was foreseen. */
export async function tryMissing(run: () => Promise<void>, { seen }: Missing): Promise<void> {
  const failure = await run().then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  if (failure === undefined) throw new Error('It works: take its entry out of skips.ts or gaps.ts')
  const end = describeEnd(failure.error)
  if (seen.test(end)) return
  const message = `It is missing in another way than skips.ts or gaps.ts says, ${seen}: ${end}`
  throw new Error(message, { cause: failure.error })
}

/** An error in one line: `AssertionError: expected 1 to be 2`, `RpcError -32601: Method not found`. */
export function describeEnd(error: unknown): string {
  const { name, message, code, reason } = error as { name: string; message: string; code?: number; reason?: string }
  const kind = code ?? reason
  return `${name}${kind === undefined ? '' : ` ${kind}`}: ${message}`
}

/** What is seen where the client cannot be asked, for it has not declared, or is not known to have declared, this. */
export function notAsked(lacking: string): RegExp {
  const starts = [
    'Error: (?:With an upstream of [-\\d]{10}: )?The tool failed: ',
    'RpcError -32600: ',
    "AssertionError: expected '",
  ]
  const said = 'The client cannot be asked\\. The client must declare: '
  const ends = ['$', `' to be 'The call of "drop" was not approved\\.`]
  return new RegExp(`^(?:${starts.join('|')})${said}${lacking.replaceAll('.', '\\.')}(?:${ends.join('|')})`)
}
