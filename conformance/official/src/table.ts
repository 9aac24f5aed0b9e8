/** Shows what came of a run: a line for each scenario, and why, where it did not pass. */
import type { Verdict } from './judge.ts'

const columns = ['passed', 'failed', 'warned', 'skipped'] as const

export function table(run: string, verdicts: readonly Verdict[]): string {
  const width = Math.max(...verdicts.map(({ scenario }) => scenario.length), run.length)
  const head = `${run.padEnd(width)} ${columns.map((each) => each.padStart(8)).join('')}`
  const rows = verdicts.flatMap((verdict) => [
    `${verdict.scenario.padEnd(width)} ${columns.map((each) => String(verdict[each]).padStart(8)).join('')}  ${verdict.outcome}`,
    ...verdict.reasons.map((reason) => `    ${shorten(reason)}`),
  ])
  return [head, ...rows, summary(verdicts), ''].join('\n')
}

/** Such as `33 scenarios: 32 passed, 1 excused; 80 checks passed, 0 failed, 0 warned, 1 skipped`. */
export function summary(verdicts: readonly Verdict[]): string {
  const outcomes = (['passed', 'excused', 'not yet', 'failed'] as const)
    .map((outcome) => [verdicts.filter((each) => each.outcome === outcome).length, outcome] as const)
    .filter(([count]) => count > 0)
    .map(([count, outcome]) => `${count} ${outcome}`)
  const judged = verdicts.filter(({ outcome }) => outcome !== 'not yet')
  const checks = columns.map((each) => `${judged.reduce((sum, verdict) => sum + verdict[each], 0)} ${each}`)
  return `${verdicts.length} scenarios: ${outcomes.join(', ')}; checks: ${checks.join(', ')}`
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 240 ? `${line.slice(0, 240)}…` : line
}
