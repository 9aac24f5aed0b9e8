/** Finds stale entries of the lists, whose scenario was removed or passes. */
import type { Lists, Verdict } from './evaluate.ts'

/**
 * Returns a failed verdict for each entry that no scenario needed.
 *
 * @param isWhole whether all runs were made; otherwise only entries of scenarios that ran are checked.
 */
export function staleEntries(verdicts: readonly Verdict[], { excuses, notYet }: Lists, isWhole: boolean): Verdict[] {
  const ran = (name: string) => verdicts.some(({ scenario }) => scenario === name)
  const used = new Set(verdicts.flatMap((verdict) => verdict.used ?? []))
  const idle = excuses.filter((excuse) => !used.has(excuse) && (isWhole || ran(excuse.scenario)))
  const waiting = notYet.flatMap(({ scenarios }) => scenarios)
  const gone = isWhole ? waiting.filter((name) => !ran(name)) : []
  return [
    ...idle.map(({ scenario, check }) => stale('excused.ts', `${check} of ${scenario} needs no excuse: remove it`)),
    ...gone.map((name) => stale('not-yet.ts', `there is no scenario ${name}: remove it`)),
  ]
}

function stale(file: string, reason: string): Verdict {
  return { scenario: `(${file})`, outcome: 'failed', passed: 0, failed: 0, warned: 0, skipped: 0, reasons: [reason] }
}
