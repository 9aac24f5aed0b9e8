/** The command-line options of the benchmark. */
import { parseArgs } from 'node:util'
import type { Case, RunOptions } from './case.ts'

export const help = `npm run bench -- [options]

  --list            name the cases and what they measure
  --only <cases>    run these cases only: names with commas between them; may be given several times
  --quick           a first look within three minutes: not for comparing
  --rounds <n>      how often each subject is measured (default: 5, quick: 1)
  --write           put the tables into the README of the benchmark, the summary into the first README
`

export interface CommandLine {
  readonly help: boolean
  readonly list: boolean
  readonly only: readonly string[] | undefined
  readonly quick: boolean
  readonly write: boolean
  readonly options: RunOptions
}

export function readCommandLine(args: readonly string[]): CommandLine {
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: flag,
      list: flag,
      only: { type: 'string', multiple: true },
      quick: flag,
      rounds: { type: 'string' },
      write: flag,
    },
  })
  if (values.write && values.quick) throw new Error('A quick run is not for the README: leave out --quick or --write')
  const only = values.only?.flatMap((names) => names.split(',')).filter((name) => name !== '')
  return { ...values, only, options: runOptions(values.quick, values.rounds) }
}

export function chooseCases(cases: readonly Case[], only: readonly string[] | undefined): readonly Case[] {
  const unknown = only?.find((name) => !cases.some((each) => each.name === name))
  if (unknown !== undefined) {
    throw new Error(`There is no case '${unknown}': it is one of ${cases.map(({ name }) => name).join(', ')}`)
  }
  return only === undefined ? cases : cases.filter(({ name }) => only.includes(name))
}

function runOptions(isQuick: boolean, given: string | undefined): RunOptions {
  const rounds = Number(given ?? (isQuick ? 1 : 5))
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds: expected a positive integer, got '${given}'`)
  const [warmUp, duration] = isQuick ? [150, 80] : [1500, 1000]
  return { rounds, isQuick, warmUp, duration, note: (text) => console.error(text) }
}
