/** Formats the results of a run: a line for each scenario, and the reasons of failures. */

import type { RunResults } from './checks.ts'
import type { Verdict } from './evaluate.ts'

const columns = ['passed', 'failed', 'warned', 'skipped'] as const

export function table(results: RunResults): string {
  const { run, verdicts, again = [] } = results
  const width = Math.max(...verdicts.map(({ scenario }) => scenario.length), run.length)
  const head = `${run.padEnd(width)} ${columns.map((each) => each.padStart(8)).join('')}`
  const rows = verdicts.flatMap((verdict) => [
    `${verdict.scenario.padEnd(width)} ${columns.map((each) => String(verdict[each]).padStart(8)).join('')}  ${verdict.outcome}`,
    ...verdict.reasons.map((reason) => `    ${shorten(reason)}`),
  ])
  const before = again.map((reason) => `failed in an earlier try: ${shorten(reason)}`)
  return [head, ...rows, ...before, summary(results), ''].join('\n')
}

/** Returns a summary, for example `33 scenarios: 32 passed, 1 excused; checks: 80 passed, 0 failed, 0 warned, 1 skipped; scored: 30 of 30; 1 try`. */
export function summary({ verdicts, tries = 1, scored }: Omit<RunResults, 'run'>): string {
  const outcomes = (['passed', 'excused', 'not yet', 'failed'] as const)
    .map((outcome) => [verdicts.filter((each) => each.outcome === outcome).length, outcome] as const)
    .filter(([count]) => count > 0)
    .map(([count, outcome]) => `${count} ${outcome}`)
  const counted = verdicts.filter(({ outcome }) => outcome !== 'not yet')
  const checks = columns.map((each) => `${sumOf(counted, each)} ${each}`)
  return [
    `${verdicts.length} scenarios: ${outcomes.join(', ')}`,
    `checks: ${checks.join(', ')}`,
    ...(scored === undefined ? [] : [`scored: ${scored.passed} of ${scored.needed}`]),
    triesOf(tries),
  ].join('; ')
}

export function triesOf(tries: number): string {
  return tries === 1 ? '1 try' : `${tries} tries`
}

function sumOf(verdicts: readonly Verdict[], column: (typeof columns)[number]): number {
  return verdicts.reduce((sum, verdict) => sum + verdict[column], 0)
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 240 ? `${line.slice(0, 240)}…` : line
}
