/** results.json: the tables of the last recorded run, by case. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Findings } from './case.ts'

const file = fileURLToPath(new URL('../results.json', import.meta.url))

/** A recorded case. */
export interface Recorded extends Partial<Pick<Findings, 'header' | 'rows' | 'notes' | 'verdicts' | 'summary'>> {
  readonly machine: string
  readonly date: string
  readonly settings: string
  readonly packages: Readonly<Record<string, string>>
}

export type Results = Readonly<Record<string, Recorded>>

export function readRecord(): Results {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {}
}

export function addToRecord(name: string, recorded: Recorded): void {
  writeFileSync(file, `${JSON.stringify({ ...readRecord(), [name]: recorded }, null, 2)}\n`)
}
