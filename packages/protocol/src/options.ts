/** Checks options: refuses unknown names, with a suggestion, and invalid numbers. */

import { isObject, kindOf, quoted } from './json.ts'

/**
 * Returns a sentence about the first unknown option, or undefined. Unknown options are errors, because a misspelled
 * option would have no effect.
 *
 * ```ts
 * unknownOption('connect', { timeuot: 3 }, ['timeout'])
 * // connect: there is no option "timeuot"; did you mean "timeout"?
 * ```
 *
 * @param otherNames names that other libraries use, with the names of our options
 */
export function unknownOption(
  place: string,
  options: unknown,
  names: readonly string[],
  otherNames: Readonly<Record<string, string>> = {},
): string | undefined {
  if (!isObject(options)) return `${place}: expected an object of options, got ${kindOf(options)}`
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown === undefined) return undefined
  const other = Object.hasOwn(otherNames, unknown) ? otherNames[unknown] : undefined
  const meant = other !== undefined && names.includes(other) ? other : nearestName(unknown, names)
  const remedy = meant === undefined ? `expected one of ${names.join(', ')}` : `did you mean ${quoted(meant)}?`
  return `${place}: there is no option ${quoted(unknown)}; ${remedy}`
}

/** Throws a `TypeError` with the sentence of `unknownOption` for the first option that does not exist. */
export function refuseUnknownOption(
  place: string,
  options: unknown,
  names: readonly string[],
  otherNames?: Readonly<Record<string, string>>,
): void {
  const problem = unknownOption(place, options, names, otherNames)
  if (problem !== undefined) throw new TypeError(problem)
}

/**
 * Throws a `RangeError` for the first value that is neither undefined nor a number from 0. NaN is refused, because
 * comparisons with NaN are false: it would disable a limit, or end a timeout at once.
 *
 * @param place the beginning of the message, for example `callTool: `
 */
export function checkNumbers(place: string, options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || (typeof value === 'number' && value >= 0)) continue
    throw new RangeError(`${place}${name}: expected a number from 0, got ${String(value)}`)
  }
}

/** Longer names are not compared, because the comparison takes quadratic time. */
const MAX_COMPARED_LENGTH = 64

/** Returns the name that is most similar to a misspelled name. At most a third of the letters may differ. */
export function nearestName(misspelled: string, names: readonly string[]): string | undefined {
  if (misspelled.length > MAX_COMPARED_LENGTH) return undefined
  let nearest: string | undefined
  let least = Math.floor(misspelled.length / 3) + 1
  for (const name of names) {
    const distance = editDistance(misspelled.toLowerCase(), name.toLowerCase())
    if (distance >= least) continue
    nearest = name
    least = distance
  }
  return nearest
}

/** Returns how many letters must be inserted, removed, replaced or swapped with their neighbour to change `from` to `to`. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = from[row - 2] === to[column - 1] && from[row - 1] === to[column - 2]
      const replaced = (last[column - 1] as number) + (isSame ? 0 : 1)
      const swapped = isSwapped ? (beforeLast[column - 2] as number) + 1 : replaced
      current[column] = Math.min(replaced, swapped, (last[column] as number) + 1, (current[column - 1] as number) + 1)
    }
    beforeLast = last
    last = current
  }
  return last[to.length] as number
}
