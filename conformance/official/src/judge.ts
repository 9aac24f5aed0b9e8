/** Says of what the suite wrote down whether it is good: a green mark alone is not, for some are given for nothing. */
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

/** What is left of a scenario when it has run. */
export interface Remains {
  readonly scenario: string
  /** Nothing when the suite wrote no `checks.json`: the scenario broke. */
  readonly checks: readonly Check[] | undefined
  /** What a client that failed had to say; the suite does not look at it. */
  readonly complaint: string
  /** The revisions that the messages of a client named. */
  readonly spoken?: readonly string[]
  /** Those in the headers of what it sent after handshakes, and `none`. */
  readonly headers?: readonly string[]
}

/** What the suite writes down of what went over the wire. Any other remark says that something could not be checked. */
const TRAFFIC = /^(?:incoming|outgoing)-|^(?:stream-closed|server-info|scope-retry-auth-attempt)$/

export interface Verdict {
  readonly scenario: string
  readonly outcome: 'passed' | 'excused' | 'not yet' | 'failed'
  readonly passed: number
  readonly failed: number
  readonly warned: number
  readonly skipped: number
  /** One line for everything that did not pass. */
  readonly reasons: readonly string[]
  /** The checks that did not pass and are not excused; `(run)` for what is wrong with the scenario as a whole. */
  readonly failing?: readonly string[]
  /** The excuses that were needed. */
  readonly used?: readonly Excuse[]
}

export interface Lists {
  readonly excuses: readonly Excuse[]
  readonly notYet: readonly NotYet[]
}

export function judge(remains: Remains, { excuses, notYet }: Lists): Verdict {
  const { scenario } = remains
  const checks = (remains.checks ?? []).filter(({ id, status }) => status !== 'INFO' || !TRAFFIC.test(id))
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
  if (remains.checks === undefined) faults.push('broke: the suite wrote no checks')
  if (remains.complaint !== '') faults.push(`the client failed: ${remains.complaint}`)
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
  // What waits for its package needs no excuse.
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
    return { outcome: 'failed', reasons: ['passes already: take it out of not-yet.ts'] }
  }
  if (faults.length > 0) return { outcome: 'failed', reasons: [...faults, ...excused] }
  return { outcome: excused.length > 0 ? 'excused' : 'passed', reasons: excused }
}

function excuseFor(scenario: string, check: Check, excuses: readonly Excuse[]): Excuse | undefined {
  return excuses.find(
    (each) => each.scenario === scenario && each.check === check.id && each.says.test(reasonOf(check)),
  )
}

function reasonOf({ errorMessage, details, description = '' }: Check): string {
  return errorMessage ?? details?.message ?? details?.note ?? description
}

/** A scenario that was to be run and was not. */
export function missing(scenario: string): Verdict {
  const reasons = ['did not run']
  return { scenario, outcome: 'failed', passed: 0, failed: 0, warned: 0, skipped: 0, reasons }
}
