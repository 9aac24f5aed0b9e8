/** The number of checks that each run must pass; fewer checks mean that less is tested than before. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Verdict } from './evaluate.ts'

const FILE = fileURLToPath(new URL('../checks.json', import.meta.url))

export interface RunResults {
  readonly run: string
  readonly verdicts: readonly Verdict[]
  /** The number of tries. Default: 1. */
  readonly tries?: number
  /** The failures of earlier tries. */
  readonly again?: readonly string[]
  /** The number of scored scenarios that passed, and that must pass. */
  readonly scored?: { readonly needed: number; readonly passed: number } | undefined
}

export type CheckCounts = Readonly<Record<string, number>>

/** Counts the checks that passed. Scenarios that wait for an extension are not counted. */
function passedChecks({ verdicts }: RunResults): number {
  return verdicts.filter(({ outcome }) => outcome !== 'not yet').reduce((sum, verdict) => sum + verdict.passed, 0)
}

/** Returns a sentence for each run that passed fewer checks than expected, or that has no expected number. */
export function missingChecks(expected: CheckCounts, results: readonly RunResults[]): string[] {
  return results.flatMap((each) => {
    const [minimum, found] = [expected[each.run], passedChecks(each)]
    if (minimum !== undefined && found >= minimum) return []
    return [`${each.run}: expected at least ${minimum ?? 'a known number of'} passed checks, got ${found}`]
  })
}

export function readChecks(): CheckCounts {
  return JSON.parse(readFileSync(FILE, 'utf8'))
}

export function writeChecks(results: readonly RunResults[]): void {
  const counts = Object.fromEntries(results.map((each) => [each.run, passedChecks(each)]))
  writeFileSync(FILE, `${JSON.stringify(counts, null, 2)}\n`)
}
