/** One check under way: the steps that it may take, where it is, and what it has found. */

import { MAX_FINDINGS, TELLING_STEPS } from './limits.ts'
import { excerpt } from './schema-error.ts'

/** What is wrong in one place. */
export interface Finding {
  readonly path: string
  /** How many members lead to the place. */
  readonly depth: number
  readonly message: string
  /** Whether it often only follows from another finding. */
  readonly secondary: boolean
  /** What was asked for, where that is one of some types or of some values. */
  readonly asked: Asked | undefined
}

export interface Asked {
  readonly what: 'type' | 'value'
  readonly words: readonly string[]
}

export interface Run {
  /** Steps that are left. */
  steps: number
  /** How many there were. */
  readonly maxSteps: number
  /** Where findings go. Without it a check ends with the first thing that is wrong. */
  told: Finding[] | undefined
  /** Where those go in the end that are not only about one of several forms. */
  readonly findings: Finding[] | undefined
  path: string
  depth: number
  /** Whether what is found now often only follows from something else. */
  secondary: boolean
}

/** The properties and indexes of a value that were evaluated; nothing where no keyword asks for it. */
export type Seen = Set<string | number> | undefined

/** Whether a value is as a schema wants it. Throws a `Hindrance`, or anything at all when the value is no JSON. */
export type Check = (value: unknown, run: Run, seen: Seen) => boolean

interface Checked {
  readonly test: Check
}

/** Why a value cannot be checked, in words for the reader of a problem. */
export class Hindrance extends Error {}

/** Takes steps for what is about to be done. */
export function spend(run: Run, steps: number): void {
  run.steps -= steps
  if (run.steps < 0) throw new Hindrance(`takes more than ${run.maxSteps} steps to check`)
}

/** Says what is wrong where somebody hears it, and only there makes the words. Always false. */
export function fail<Limit, Value>(
  run: Run,
  say: (limit: Limit, value: Value) => string,
  limit: Limit,
  value: Value,
  asked?: Asked,
): false {
  const { told, path, depth, secondary } = run
  const isFinal = told === run.findings
  if (!told || (told.length >= MAX_FINDINGS && !isFinal)) return false
  told.push({ path, depth, message: say(limit, value), secondary, asked })
  // Once something is wrong, looking for more is a courtesy.
  if (isFinal) run.steps = Math.min(run.steps, TELLING_STEPS)
  return false
}

/** Goes on behind what is wrong only where somebody hears of it. */
export const all = (checks: readonly Check[]): Check => {
  const [only] = checks
  if (only && checks.length === 1) return only
  return (value, run, seen) => {
    let fits = true
    for (const check of checks) {
      if (check(value, run, seen)) continue
      if (!run.told) return false
      fits = false
    }
    return fits
  }
}

/** The same for the members of a value, which are as many as its author likes. */
export function every<T>(members: readonly T[], run: Run, test: (member: T, index: number) => boolean): boolean {
  // Going past a member that no schema is for costs little, but not nothing.
  spend(run, members.length >> 3)
  let fits = true
  for (let index = 0; index < members.length; index++) {
    if (test(members[index] as T, index)) continue
    if (!run.told) return false
    fits = false
  }
  return fits
}

/** Checks a member of the value that is being checked. */
export function enter({ test }: Checked, value: unknown, key: string | number, run: Run): boolean {
  if (!run.told) return test(value, run, undefined)
  const { path } = run
  run.path = pathInto(path, key)
  run.depth++
  const fits = test(value, run, undefined)
  run.path = path
  run.depth--
  return fits
}

/** Whether a value fits. What is wrong with it goes to a place of its own, or to nobody. */
export function apart(
  { test }: Checked,
  value: unknown,
  run: Run,
  seen: Seen = undefined,
  heard: Finding[] | undefined = undefined,
): boolean {
  const { told } = run
  run.told = heard
  const fits = test(value, run, seen)
  run.told = told
  return fits
}

/** Adds what was evaluated to what was. */
export function merge(seen: Seen, more: Seen): void {
  if (seen && more) for (const key of more) seen.add(key)
}

/** A path such as `arguments.items[2]["odd key"]`. Long keys and long paths are cut. */
export function pathInto(path: string, key: string | number): string {
  if (path.length > 200) return path.endsWith('...') ? path : `${path}...`
  if (typeof key === 'number') return `${path}[${key}]`
  const short = excerpt(key, 60)
  return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(short) ? `${path}.${short}` : `${path}[${JSON.stringify(short)}]`
}
