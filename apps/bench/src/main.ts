/** The benchmark: speed and size of the compiled packages against the bare limit. `npm run bench -- --help` */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { requireBuilt } from './built.ts'
import type { Case, Findings, RunOptions } from './case.ts'
import { describeMachine } from './machine.ts'
import { measureSize } from './measure-size.ts'
import { type Circumstances, keepResults, markdownOf, sayVerdict, writeReadme } from './report.ts'
import { runRounds } from './run-rounds.ts'

const help = `npm run bench -- [options]

  --list            name the cases and what they measure
  --only <case>     run this case only; may be given several times
  --quick           a short run: for a first look, not for comparing
  --rounds <n>      how often each subject is measured (default: 5, quick: 3)
  --check           exit with 1 when a target is missed
  --write           put the tables into the README of the benchmark
  --report <file>   write how many targets were met and missed, as JSON
`

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  if (error instanceof Error && error.cause !== undefined) console.error(error.cause)
  process.exitCode = 2
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean' },
      list: { type: 'boolean' },
      only: { type: 'string', multiple: true },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      check: { type: 'boolean' },
      write: { type: 'boolean' },
      report: { type: 'string' },
    },
  })
  if (values.help) return say(help)
  requireBuilt()
  const { cases } = await import('./cases.ts')
  if (values.list) return say(cases.map(({ name, says }) => `${name.padEnd(8)} ${says}`).join('\n'))
  if (values.write && values.quick) throw new Error('A quick run is not for the README: leave out --quick or --write')
  const chosen = chooseCases(cases, values.only)
  const options = runOptions(values.quick, values.rounds)
  const found = await runAll(chosen, options, values.write === true)
  const verdicts = found.flatMap((findings) => findings.verdicts)
  const met = verdicts.filter((verdict) => verdict.met).length
  const missed = verdicts.length - met
  say(`${verdicts.map((verdict) => sayVerdict(verdict)).join('\n')}\n${met} of ${verdicts.length} targets met`)
  if (values.report !== undefined) {
    const report = { passed: met, failed: missed, found: `targets of ${chosen.map(({ name }) => name).join(', ')}` }
    writeFileSync(values.report, JSON.stringify(report))
  }
  return values.check && missed > 0 ? 1 : 0
}

async function runAll(chosen: readonly Case[], options: RunOptions, write: boolean): Promise<Findings[]> {
  const all: Findings[] = []
  for (const each of chosen) {
    const findings = each.kind === 'speed' ? await runRounds(each, options) : await measureSize(each)
    const circumstances = circumstancesOf(each, options)
    say(`\n## ${findings.name}\n\n${markdownOf(findings)}\n`)
    keepResults(findings, circumstances)
    if (write) writeReadme(findings, circumstances)
    all.push(findings)
  }
  return all
}

function chooseCases(cases: readonly Case[], only: readonly string[] | undefined): readonly Case[] {
  const unknown = only?.find((name) => !cases.some((each) => each.name === name))
  if (unknown !== undefined) {
    throw new Error(`There is no case '${unknown}': it is one of ${cases.map(({ name }) => name).join(', ')}`)
  }
  return only === undefined ? cases : cases.filter(({ name }) => only.includes(name))
}

function runOptions(quick: boolean, given: string | undefined): RunOptions {
  const rounds = Number(given ?? (quick ? 3 : 5))
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds: expected a positive integer, got '${given}'`)
  const [warmUp, duration] = quick ? [300, 200] : [1500, 1000]
  return { rounds, warmUp, duration, note: (text) => console.error(text) }
}

function circumstancesOf({ kind }: Case, { rounds, duration }: RunOptions): Circumstances {
  const settings = kind === 'speed' ? `${rounds} rounds of ${duration} ms` : 'bundled with esbuild'
  return { machine: describeMachine(), date: new Date().toISOString().slice(0, 10), settings }
}

function say(text: string): 0 {
  console.log(text)
  return 0
}
