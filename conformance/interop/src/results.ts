/** The results of all pairings and third parties, as data and as a table. */

import type { CheckResult } from './outcome.ts'
import { pairings as allPairings, nameOf } from './pairings.ts'
import type { PairingResults } from './run-pairing.ts'
import type { ThirdPartyResults } from './run-third-party.ts'

export interface Results {
  readonly pairings: readonly PairingResults[]
  readonly thirdParties: readonly ThirdPartyResults[]
}

/** Sorts the results, independently of their timing. */
export function toResults(pairings: readonly PairingResults[], others: readonly ThirdPartyResults[]): Results {
  const order = allPairings.map(nameOf)
  return {
    pairings: pairings.toSorted((a, b) => order.indexOf(nameOf(a)) - order.indexOf(nameOf(b))),
    thirdParties: others.toSorted((a, b) => titleOf(a).localeCompare(titleOf(b))),
  }
}

export function titleOf({ package: name, version, is, over }: Omit<ThirdPartyResults, 'checks'>): string {
  return `${name} ${version} (${is}), ${over}`
}

interface Group {
  readonly title: string
  readonly checks: readonly CheckResult[]
}

function groupsOf({ pairings, thirdParties }: Results): Group[] {
  return [
    ...pairings.map((pairing) => ({ title: nameOf(pairing), checks: pairing.checks })),
    ...thirdParties.map((each) => ({ title: titleOf(each), checks: each.checks })),
  ]
}

/** Counts the checks with the given statuses. */
export function countOf(results: Results, ...statuses: readonly CheckResult['status'][]): number {
  return groupsOf(results).flatMap(({ checks }) => checks.filter(({ status }) => statuses.includes(status))).length
}

export function failures(results: Results): string[] {
  return linesOf(results, ['failed']).map(({ title, name, reason = '', evidence = '' }) =>
    `${title}: ${name}: ${reason} ${evidence}`.trimEnd(),
  )
}

/** Returns a line for each pairing and third party, then the known failures. */
export function tableOf(results: Results): string {
  const rows = groupsOf(results).map(({ title, checks }) => [title, ...counts(checks)])
  const widths = rows.reduce<number[]>((all, row) => row.map((cell, i) => Math.max(all[i] ?? 0, cell.length)), [])
  const lines = rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '))
  const known = linesOf(results, ['lacks', 'breaks', 'left out']).map(
    ({ status, title, name, reason }) => `${status}: ${title}: ${name}: ${reason}`,
  )
  return [...lines, ...known].join('\n')
}

function counts(checks: readonly CheckResult[]): string[] {
  const count = (...statuses: string[]) => checks.filter(({ status }) => statuses.includes(status)).length
  return [
    `${count('passed')} passed`,
    `${count('failed')} failed`,
    `${count('lacks', 'breaks')} theirs`,
    `${count('left out')} left out`,
    `${count('absent')} absent`,
  ]
}

function linesOf(results: Results, statuses: readonly string[]) {
  return groupsOf(results).flatMap(({ title, checks }) =>
    checks.filter(({ status }) => statuses.includes(status)).map((cell) => ({ title, ...cell })),
  )
}
