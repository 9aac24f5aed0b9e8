/** What a check expects, said without a test runner: these run in workers and pages too. */

/** Compares as JSON, members in any order. */
export function equal(found: unknown, wanted: unknown): void {
  const [left, right] = [sorted(found), sorted(wanted)]
  if (left !== right) throw new Error(`expected ${shortened(right)}, got ${shortened(left)}`)
}

export function match(found: string, wanted: RegExp): void {
  if (!wanted.test(found)) throw new Error(`expected ${wanted}, got ${shortened(found)}`)
}

/** The promise rejects with an error that has these members. */
export async function fails(promise: Promise<unknown>, wanted: Readonly<Record<string, unknown>>): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error === undefined) throw new Error(`expected a failure ${JSON.stringify(wanted)}, got none`)
  const found = Object.keys(wanted).map((name) => [name, (error as Record<string, unknown>)[name]])
  try {
    equal(Object.fromEntries(found), wanted)
  } catch (problem) {
    throw new Error((problem as Error).message, { cause: error })
  }
}

function sorted(value: unknown): string {
  return String(JSON.stringify(value, (_, member) => (isPlain(member) ? ordered(member) : member)))
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function ordered(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
