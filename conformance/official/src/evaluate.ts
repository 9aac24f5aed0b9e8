/** Evaluates the output of the suite more strictly than its exit code, which ignores skipped checks and failed clients. */
import type { Excuse } from './excused.ts'
import type { NotYet } from './not-yet.ts'

/** One entry of a `checks.json`. */
export interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly description?: string
  readonly errorMessage?: string
  readonly details?: { readonly message?: string; readonly note?: string }
}

/** The output of a scenario. */
export interface ScenarioOutput {
  readonly scenario: string
  /** The entries of `checks.json`; undefined if the scenario crashed before writing it. */
  readonly checks: readonly Check[] | undefined
  /** The error of a failed client, which the suite ignores. */
  readonly clientError: string
  /** The revisions in the messages of a client. */
  readonly messageRevisions?: readonly string[]
  /** The revisions in the headers of its messages after the handshake; `none` for a missing header. */
  readonly headerRevisions?: readonly string[]
}

/** Entries that record traffic. Any other entry with the status INFO means that something was not checked. */
const TRAFFIC = /^(?:incoming|outgoing)-|^(?:stream-closed|server-info|scope-retry-auth-attempt)$/

export interface Verdict {
  readonly scenario: string
  readonly outcome: 'passed' | 'excused' | 'not yet' | 'failed'
  readonly passed: number
  readonly failed: number
  readonly warned: number
  readonly skipped: number
  /** A line for each check that did not pass. */
  readonly reasons: readonly string[]
  /** The checks that did not pass and are not excused; `(run)` for a failure of the scenario as a whole. */
  readonly failing?: readonly string[]
  /** The excuses that applied. */
  readonly used?: readonly Excuse[]
}

export interface Lists {
  readonly excuses: readonly Excuse[]
  readonly notYet: readonly NotYet[]
}

export function evaluate(scenarioOutput: ScenarioOutput, { excuses, notYet }: Lists): Verdict {
  const { scenario } = scenarioOutput
  const checks = (scenarioOutput.checks ?? []).filter(({ id, status }) => status !== 'INFO' || !TRAFFIC.test(id))
  const count = (status: Check['status']) => checks.filter((each) => each.status === status).length
  const counts = {
    passed: count('SUCCESS'),
    failed: count('FAILURE'),
    warned: count('WARNING'),
    skipped: count('SKIPPED') + count('INFO'),
  }
  const faults: string[] = []
  const failing: string[] = []
  const used: Excuse[] = []
  if (scenarioOutput.checks === undefined) faults.push('crashed: the suite wrote no checks')
  if (scenarioOutput.clientError !== '') faults.push(`the client failed: ${scenarioOutput.clientError}`)
  for (const check of checks) {
    if (check.status === 'SUCCESS') continue
    const isOpen = check.status === 'SKIPPED' || check.status === 'INFO'
    const excuse = isOpen ? excuseFor(scenario, check, excuses) : undefined
    if (excuse === undefined) {
      faults.push(`${check.status} ${check.id}: ${reasonOf(check)}`)
      failing.push(check.id)
    } else used.push(excuse)
  }
  const excused = used.map(({ check, reason }) => `excused ${check}: ${reason}`)
  if (faults.length === 0 && excused.length === 0 && counts.passed === 0) faults.push('nothing was checked')
  if (faults.length > failing.length) failing.push('(run)')
  const needs = notYet.find(({ scenarios }) => scenarios.includes(scenario))?.needs
  const outcome = outcomeOf({ faults, excused, needs, passed: counts.passed })
  // Scenarios that need a missing package need no excuse.
  return { scenario, ...counts, ...outcome, failing, used: needs === undefined ? used : [] }
}

interface Findings {
  readonly faults: readonly string[]
  readonly excused: readonly string[]
  readonly needs: string | undefined
  readonly passed: number
}

function outcomeOf({ faults, excused, needs, passed }: Findings): Pick<Verdict, 'outcome' | 'reasons'> {
  if (needs !== undefined) {
    if (faults.length > 0 || passed === 0) return { outcome: 'not yet', reasons: [`needs ${needs}`] }
    return { outcome: 'failed', reasons: ['passes already: remove it from not-yet.ts'] }
  }
  if (faults.length > 0) return { outcome: 'failed', reasons: [...faults, ...excused] }
  return { outcome: excused.length > 0 ? 'excused' : 'passed', reasons: excused }
}

function excuseFor(scenario: string, check: Check, excuses: readonly Excuse[]): Excuse | undefined {
  return excuses.find(
    (each) => each.scenario === scenario && each.check === check.id && each.message.test(reasonOf(check)),
  )
}

function reasonOf({ errorMessage, details, description = '' }: Check): string {
  return errorMessage ?? details?.message ?? details?.note ?? description
}

/** Returns the verdict of a scenario that did not run. */
export function missing(scenario: string): Verdict {
  const reasons = ['did not run']
  return { scenario, outcome: 'failed', passed: 0, failed: 0, warned: 0, skipped: 0, reasons }
}
