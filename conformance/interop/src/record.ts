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
 * What is kept and came out otherwise now, or is not kept. Versions are those of the installed packages; what was not tried, as only
 * a part was, is not compared.
 */
export function outdated(kept: ResultsRecord, results: Results, only = ''): string[] {
  const found = toRecord(results)
  const keyed = ({ ways, strangers }: ResultsRecord) =>
    new Map<string, unknown>([
      ...ways.map((way) => [nameOf(way), way.verdicts] as const),
      ...strangers.map((each) => [titleOf(each), each.verdicts] as const),
    ])
  const [before, now] = [keyed(kept), keyed(found)]
  const differ = [...now].filter(([name, verdicts]) => JSON.stringify(before.get(name)) !== JSON.stringify(verdicts))
  const gone = only === '' ? [...before.keys()].filter((name) => !now.has(name)) : []
  return [...differ.map(([name]) => name), ...gone].map(
    (name) => `${name}: what is kept in results.json does not hold: run conformance/interop/src/main.ts --write`,
  )
}

export function writeRecord(results: Results): void {
  writeFileSync(FILE, `${JSON.stringify(toRecord(results), undefined, 2)}\n`)
}

export function readRecord(): ResultsRecord {
  return JSON.parse(readFileSync(FILE, 'utf8'))
}
