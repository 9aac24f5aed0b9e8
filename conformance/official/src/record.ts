/** The results as they are kept beside the sources, for whoever wants to know without trying; documents are written from them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Verdict } from './judge.ts'

const FILE = fileURLToPath(new URL('../results.json', import.meta.url))

interface OtherRecord extends Pick<Verdict, 'scenario' | 'outcome'> {
  readonly why: string
}

export interface Score {
  readonly needed: number
  readonly passed: number
}

export interface RunRecord {
  readonly run: string
  /** How many scenarios came out how. */
  readonly scenarios: Readonly<Partial<Record<Verdict['outcome'], number>>>
  /** How many of the scored scenarios passed, of how many that have to. */
  readonly scored?: Score | undefined
  /** How often it was made: again only when the suite stood still for longer than it gives a server to answer. */
  readonly tries: number
  /** What failed in the tries before the last. */
  readonly again?: readonly string[] | undefined
  /** Without those of scenarios that wait for their package. */
  readonly checks: Readonly<Record<'passed' | 'failed' | 'warned' | 'skipped', number>>
  /** Each scenario that did not simply pass. */
  readonly others: readonly OtherRecord[]
}

export interface OfficialRecord {
  /** The version of the suite. */
  readonly suite: string
  readonly node: string
  readonly date: string
  readonly runs: readonly RunRecord[]
}

export interface RunResults {
  readonly run: string
  readonly verdicts: readonly Verdict[]
  readonly tries?: number
  readonly again?: readonly string[]
  readonly scored?: Score | undefined
}

export function toRunRecord({ run, verdicts, tries = 1, again = [], scored }: RunResults): RunRecord {
  const scenarios: Partial<Record<Verdict['outcome'], number>> = {}
  for (const { outcome } of verdicts) scenarios[outcome] = (scenarios[outcome] ?? 0) + 1
  const judged = verdicts.filter(({ outcome }) => outcome !== 'not yet')
  const sum = (which: keyof RunRecord['checks']) => judged.reduce((all, verdict) => all + verdict[which], 0)
  return {
    run,
    ...(scored !== undefined && { scored }),
    tries,
    ...(again.length > 0 && { again }),
    scenarios,
    checks: { passed: sum('passed'), failed: sum('failed'), warned: sum('warned'), skipped: sum('skipped') },
    others: verdicts
      .filter(({ outcome }) => outcome !== 'passed')
      .map(({ scenario, outcome, reasons }) => ({ scenario, outcome, why: [...new Set(reasons)].join('; ') })),
  }
}

export function writeRecord(suite: string, results: readonly RunResults[]): void {
  const facts = { suite, node: process.version, date: new Date().toISOString().slice(0, 10) }
  const record: OfficialRecord = { ...facts, runs: results.map(toRunRecord) }
  writeFileSync(FILE, `${JSON.stringify(record, null, 2)}\n`)
}

export function readRecord(): OfficialRecord {
  return JSON.parse(readFileSync(FILE, 'utf8'))
}

/**
 * What is kept and was found otherwise. All counts are compared: what is sent decides which checks the suite makes, and nothing else does.
 * How often a run was made is not, as it tells of the machine; it has to fit what it says of the tries before.
 */
export function outdated(record: OfficialRecord, suite: string, results: readonly RunResults[], isWhole = false) {
  const found = results.map(toRunRecord)
  const differ = found.filter((each) => {
    const kept = record.runs.find(({ run }) => run === each.run)
    return kept === undefined || comparable(kept) !== comparable(each)
  })
  const gone = record.runs.filter(({ run }) => isWhole && !found.some((each) => each.run === run))
  const untold = record.runs.filter(
    ({ tries, again = [] }) => tries < 1 || (tries === 1 ? again.length > 0 : again.length < tries - 1),
  )
  return [
    ...(record.suite === suite ? [] : [`they are of the suite ${record.suite}`]),
    ...differ.map(({ run }) => `${run} came out otherwise`),
    ...gone.map(({ run }) => `${run} was not run`),
    ...untold.map(({ run, tries }) => `${run} says ${tries} tries, and not what failed in those before`),
  ]
}

function comparable({ run, scenarios, scored, checks, others }: RunRecord): string {
  const kept = others.map(({ scenario, outcome, why }) => [scenario, outcome, why])
  return JSON.stringify([run, sorted(scenarios), scored && sorted(scored), sorted(checks), kept])
}

const sorted = (counts: object) => Object.entries(counts).toSorted(([a], [b]) => a.localeCompare(b))
