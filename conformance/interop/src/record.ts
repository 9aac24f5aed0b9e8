/** The results as they are kept beside the sources, for whoever wants to know without trying. */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Results, titleOf } from './results.ts'
import type { StrangerResults } from './run-stranger.ts'
import type { Cell, Verdict } from './verdict.ts'
import { nameOf, type Way } from './ways.ts'

const FILE = fileURLToPath(new URL('../results.json', import.meta.url))

interface Tried {
  /** What was tried, and what came of it. */
  readonly verdicts: Readonly<Record<string, Verdict['status']>>
  /** What there is to say of what did not work. */
  readonly notes: readonly Cell[]
}

export interface WayRecord extends Way, Tried {}
export interface StrangerRecord extends Omit<StrangerResults, 'cells'>, Tried {}

export interface ResultsRecord extends Pick<Results, 'date' | 'node' | 'versions'> {
  readonly ways: readonly WayRecord[]
  readonly strangers: readonly StrangerRecord[]
}

export function toRecord({ ways, strangers, ...rest }: Results): ResultsRecord {
  return {
    ...rest,
    ways: ways.map(({ cells, ...way }) => ({ ...way, ...triedOf(cells) })),
    strangers: strangers.map(({ cells, ...stranger }) => ({ ...stranger, ...triedOf(cells) })),
  }
}

function triedOf(cells: readonly Cell[]): Tried {
  return {
    verdicts: Object.fromEntries(cells.map(({ what, status }) => [what, status])),
    notes: cells.filter(({ status }) => status !== 'passed' && status !== 'absent'),
  }
}

/**
 * What is kept and came out otherwise now, or is not kept. What was seen of what does not work is not compared, as ports and times are in it;
 * nor is what was not tried, as only a part was.
 */
export function outdated(kept: ResultsRecord, results: Results, only = ''): string[] {
  const found = toRecord(results)
  const keyed = ({ ways, strangers }: ResultsRecord) =>
    new Map<string, string>([
      ...ways.map((way) => [nameOf(way), comparable(way)] as const),
      ...strangers.map((each) => [titleOf(each), comparable(each)] as const),
    ])
  const [before, now] = [keyed(kept), keyed(found)]
  const differ = [...now].filter(([name, verdicts]) => before.get(name) !== verdicts)
  const gone = only === '' ? [...before.keys()].filter((name) => !now.has(name)) : []
  const versions =
    JSON.stringify(kept.versions) === JSON.stringify(found.versions) ? [] : ['the versions of the official SDK']
  return [...differ.map(([name]) => name), ...gone, ...versions].map(
    (name) => `${name}: what is kept in results.json does not hold: run conformance/interop/src/main.ts --write`,
  )
}

function comparable({ verdicts, notes }: Tried): string {
  return JSON.stringify([verdicts, notes.map(({ what, status, reason }) => [what, status, reason])])
}

export function writeRecord(results: Results): void {
  writeFileSync(FILE, `${JSON.stringify(toRecord(results), undefined, 2)}\n`)
}

export function readRecord(): ResultsRecord {
  return JSON.parse(readFileSync(FILE, 'utf8'))
}
