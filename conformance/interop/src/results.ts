/** What came of it all: as data, and as a table to read. */

import type { StrangerResults } from './run-stranger.ts'
import type { WayResults } from './run-way.ts'
import type { Cell } from './verdict.ts'
import { ways as allWays, nameOf } from './ways.ts'

export interface Results {
  readonly ways: readonly WayResults[]
  readonly strangers: readonly StrangerResults[]
}

/** In an order that does not depend on who was quick. */
export function toResults(met: readonly WayResults[], others: readonly StrangerResults[]): Results {
  const order = allWays.map(nameOf)
  return {
    ways: met.toSorted((a, b) => order.indexOf(nameOf(a)) - order.indexOf(nameOf(b))),
    strangers: others.toSorted((a, b) => titleOf(a).localeCompare(titleOf(b))),
  }
}

export function titleOf({ package: name, version, is, over }: Omit<StrangerResults, 'cells'>): string {
  return `${name} ${version} (${is}), ${over}`
}

interface Group {
  readonly title: string
  readonly cells: readonly Cell[]
}

function groupsOf({ ways, strangers }: Results): Group[] {
  return [
    ...ways.map((way) => ({ title: nameOf(way), cells: way.cells })),
    ...strangers.map((each) => ({ title: titleOf(each), cells: each.cells })),
  ]
}

/** How many things came out so. What is known not to work was tried; it did not pass. */
export function countOf(results: Results, ...wanted: readonly Cell['status'][]): number {
  return groupsOf(results).flatMap(({ cells }) => cells.filter(({ status }) => wanted.includes(status))).length
}

export function failures(results: Results): string[] {
  return linesOf(results, ['failed']).map(({ title, what, reason = '', evidence = '' }) =>
    `${title}: ${what}: ${reason} ${evidence}`.trimEnd(),
  )
}

/** One line for each way and each stranger, then what the others lack or break. */
export function tableOf(results: Results): string {
  const rows = groupsOf(results).map(({ title, cells }) => [title, ...counts(cells)])
  const widths = rows.reduce<number[]>((all, row) => row.map((cell, i) => Math.max(all[i] ?? 0, cell.length)), [])
  const lines = rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '))
  const known = linesOf(results, ['lacks', 'breaks', 'left out']).map(
    ({ status, title, what, reason }) => `${status}: ${title}: ${what}: ${reason}`,
  )
  return [...lines, ...known].join('\n')
}

function counts(cells: readonly Cell[]): string[] {
  const count = (...wanted: string[]) => cells.filter(({ status }) => wanted.includes(status)).length
  return [
    `${count('passed')} passed`,
    `${count('failed')} failed`,
    `${count('lacks', 'breaks')} theirs`,
    `${count('left out')} left out`,
    `${count('absent')} absent`,
  ]
}

function linesOf(results: Results, wanted: readonly string[]) {
  return groupsOf(results).flatMap(({ title, cells }) =>
    cells.filter(({ status }) => wanted.includes(status)).map((cell) => ({ title, ...cell })),
  )
}
