/** Assertions of the contract suites. A failure has the form `<place>: expected X, got Y`. */

/** Requires deep equality. Undefined members count as absent. */
export function checkEqual(place: string, received: unknown, expected: unknown): void {
  if (!isEqual(received, expected)) fail(place, show(expected), received)
}

/** Requires a condition. `expected` says in words what the value should be. */
export function check(place: string, condition: boolean, expected: string, received: unknown): void {
  if (!condition) fail(place, expected, received)
}

/** Requires that a call throws or rejects with an Error that has these members, and returns the error. */
export async function checkError(
  place: string,
  call: () => unknown,
  members: Readonly<Record<string, unknown>> = {},
): Promise<Error> {
  const expected = isEqual(members, {}) ? 'an Error' : `an Error with ${show(members)}`
  let result: unknown
  try {
    result = await call()
  } catch (error) {
    if (!(error instanceof Error)) fail(place, expected, error)
    const received = error as Error & Record<string, unknown>
    const differing = Object.keys(members).find((name) => !isEqual(received[name], members[name]))
    if (differing !== undefined) fail(place, expected, { ...pick(received, members), message: received.message })
    return error
  }
  return fail(place, expected, result === undefined ? 'no error' : result)
}

function fail(place: string, expected: string, received: unknown): never {
  throw new Error(`${place}: expected ${expected}, got ${received === 'no error' ? received : show(received)}`)
}

function pick(source: Readonly<Record<string, unknown>>, members: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(members).map((name) => [name, source[name]]))
}

export function isEqual(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const [first, second] = [definedEntries(left), new Map(definedEntries(right))]
  return first.length === second.size && first.every(([name, value]) => isEqual(value, second.get(name)))
}

function definedEntries(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, each]) => each !== undefined)
}

const MAX_SHOWN = 300

/**
 * Returns a sentence about each place where a value differs from the expected one. Members that are undefined count as
 * absent. If `isPart` is true, objects may have further members.
 */
export function findDifferences(place: string, received: unknown, expected: unknown, isPart = false): string[] {
  if (Object.is(received, expected)) return []
  if (isMatcher(expected))
    return expected.asymmetricMatch(received) ? [] : [`${place}: expected ${show(expected)}, got ${show(received)}`]
  const areObjects = [received, expected].every((value) => typeof value === 'object' && value !== null)
  if (!areObjects || Array.isArray(received) !== Array.isArray(expected)) {
    return [`${place}: expected ${show(expected)}, got ${show(received)}`]
  }
  const [left, right] = [received as Record<string, unknown>, expected as Record<string, unknown>]
  const isOpen = isPart && !Array.isArray(expected)
  const names = isOpen ? Object.keys(right) : Object.keys({ ...right, ...left })
  return names.flatMap((name) => {
    const inner = Array.isArray(expected) ? `${place}[${name}]` : `${place}.${name}`
    return findDifferences(inner, left[name], right[name], isPart)
  })
}

const MATCHER = Symbol.for('jest.asymmetricMatcher')

/** A matcher of Vitest, Jest or Bun for a part of a value, such as `expect.any(String)`. */
interface Matcher {
  asymmetricMatch(value: unknown): boolean
  toAsymmetricMatcher?(): string
}

function isMatcher(value: unknown): value is Matcher {
  return typeof (value as Partial<Matcher> | null | undefined)?.asymmetricMatch === 'function'
}

/** Shows matchers by their names. Recognizes them by `$$typeof`, because a proxy appears to have every method. */
function replaceMatcher(_: string, value: unknown): unknown {
  const { $$typeof: type } = (value ?? {}) as { readonly $$typeof?: unknown }
  return type === MATCHER && isMatcher(value) ? (value.toAsymmetricMatcher?.() ?? String(value)) : value
}

/** The most differences that an error lists. */
const MAX_LISTED = 10

/** Joins differences to one text, one per line. */
export function listDifferences(differences: readonly string[]): string {
  const listed = differences.slice(0, MAX_LISTED)
  const rest = differences.length - listed.length
  return [...listed, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n  ')
}

/** Formats a value as JSON, cut after 300 characters. Errors show their name and message, which are not cut. */
export function show(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`
  if (typeof value === 'function') return 'a function'
  const text = JSON.stringify(value, replaceMatcher) ?? String(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
