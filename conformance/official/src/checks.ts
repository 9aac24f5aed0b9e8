/** How many checks of the suite each run must pass: a run with fewer checks has tested less than before. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Verdict } from './judge.ts'

const FILE = fileURLToPath(new URL('../checks.json', import.meta.url))

export interface RunResults {
  readonly run: string
  readonly verdicts: readonly Verdict[]
  /** How often the run was made. Default: 1. */
  readonly tries?: number
  /** What failed in the tries before the last. */
  readonly again?: readonly string[]
  /** The number of scored scenarios that passed, and that must pass. */
  readonly scored?: { readonly needed: number; readonly passed: number } | undefined
}

export type CheckCounts = Readonly<Record<string, number>>

/** Counts the checks that passed, without those of scenarios that wait for an extension. */
function passedChecks({ verdicts }: RunResults): number {
  return verdicts.filter(({ outcome }) => outcome !== 'not yet').reduce((sum, verdict) => sum + verdict.passed, 0)
}

/** Returns a sentence for each run that passed fewer checks than expected, or of which no number is known. */
export function missingChecks(expected: CheckCounts, results: readonly RunResults[]): string[] {
  return results.flatMap((each) => {
    const [wanted, found] = [expected[each.run], passedChecks(each)]
    if (wanted !== undefined && found >= wanted) return []
    return [`${each.run}: expected at least ${wanted ?? 'a known number of'} passed checks, got ${found}`]
  })
}

export function readChecks(): CheckCounts {
  return JSON.parse(readFileSync(FILE, 'utf8'))
}

export function writeChecks(results: readonly RunResults[]): void {
  const counts = Object.fromEntries(results.map((each) => [each.run, passedChecks(each)]))
  writeFileSync(FILE, `${JSON.stringify(counts, null, 2)}\n`)
}
