/** Assertions without a test runner, for workers and pages. */

/** Compares values as JSON. The order of members does not matter. */
export function equal(found: unknown, expected: unknown): void {
  const [left, right] = [sorted(found), sorted(expected)]
  if (left !== right) throw new Error(`expected ${shortened(right)}, got ${shortened(left)}`)
}

export function match(found: string, expected: RegExp): void {
  if (!expected.test(found)) throw new Error(`expected ${expected}, got ${shortened(found)}`)
}

/** Checks that the promise rejects with an error that has these members. */
export async function fails(promise: Promise<unknown>, expected: Readonly<Record<string, unknown>>): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error === undefined) throw new Error(`expected a failure ${JSON.stringify(expected)}, got none`)
  const found = Object.keys(expected).map((name) => [name, (error as Record<string, unknown>)[name]])
  try {
    equal(Object.fromEntries(found), expected)
  } catch (mismatch) {
    throw new Error((mismatch as Error).message, { cause: error })
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
