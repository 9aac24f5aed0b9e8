/** The results as they are kept beside the sources, for whoever wants to know without trying. */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Results } from './results.ts'
import type { StrangerResults } from './run-stranger.ts'
import type { Cell, Verdict } from './verdict.ts'
import type { Way } from './ways.ts'

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

export function writeRecord(results: Results): void {
  writeFileSync(FILE, `${JSON.stringify(toRecord(results), undefined, 2)}\n`)
}

export function readRecord(): ResultsRecord {
  return JSON.parse(readFileSync(FILE, 'utf8'))
}
