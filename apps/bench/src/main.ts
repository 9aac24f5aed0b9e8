/** The benchmark: speed and size of the compiled packages compared with the baselines. `npm run bench -- --help` */
import { requireBuilt } from './built.ts'
import type { Case, Findings, RunOptions } from './case.ts'
import { type CommandLine, chooseCases, help, readCommandLine } from './command-line.ts'
import { describeMachine } from './machine.ts'
import { type Circumstances, keepResults, markdownOf, sayVerdict, writeReadme } from './report.ts'
import { runRounds } from './run-rounds.ts'
import { runServed } from './run-served.ts'
import { writeSummary } from './speed-section.ts'
import { fixed } from './statistics.ts'

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))

try {
  process.exitCode = await main(readCommandLine(process.argv.slice(2)))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  if (error instanceof Error && error.cause !== undefined) console.error(error.cause)
  process.exitCode = 2
}

async function main(given: CommandLine): Promise<number> {
  if (given.help) return say(help)
  requireBuilt()
  const { cases } = await import('./cases.ts')
  if (given.list) return say(cases.map(({ name, says }) => `${name.padEnd(11)} ${says}`).join('\n'))
  const chosen = chooseCases(cases, given.only)
  const found = await runAll(chosen, given.options, given.write)
  const verdicts = found.flatMap((findings) => findings.verdicts)
  const met = verdicts.filter((verdict) => verdict.met).length
  say(`${verdicts.map((verdict) => sayVerdict(verdict)).join('\n')}\n${met} of ${verdicts.length} targets met`)
  return 0
}

async function runAll(chosen: readonly Case[], options: RunOptions, write: boolean): Promise<Findings[]> {
  const all: Findings[] = []
  for (const each of chosen) {
    const started = performance.now()
    const findings = await measure(each, options)
    const circumstances = circumstancesOf(each, options)
    say(`\n## ${findings.name}\n\n${markdownOf(findings)}\n`)
    options.note(`${each.name}: ${fixed((performance.now() - started) / 1000, 1)} s`)
    keepResults(findings, circumstances)
    if (write) writeReadme(findings, circumstances)
    all.push(findings)
  }
  if (write) say(writeSummary())
  return all
}

function measure(each: Case, options: RunOptions): Promise<Findings> {
  switch (each.kind) {
    case 'speed':
      return runRounds(each, options)
    case 'served':
      return runServed(each, options)
    case 'size':
      return import('./measure-size.ts').then(({ measureSize }) => measureSize(each))
    case 'own':
      return each.find(options)
  }
}

function circumstancesOf({ kind }: Case, { rounds, isQuick }: RunOptions): Circumstances {
  const settings =
    kind === 'size'
      ? 'bundled with esbuild'
      : `${rounds === 1 ? '1 round' : `${rounds} rounds`}${isQuick ? ', a quick run' : ''}`
  return { machine: describeMachine(), date: new Date().toISOString().slice(0, 10), settings }
}

function say(text: string): 0 {
  console.log(text)
  return 0
}
