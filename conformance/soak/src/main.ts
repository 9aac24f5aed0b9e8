/** The soak test: clients of all eras use a server for an hour, with faults. `node conformance/soak/src/main.ts --help` */

import { resolve } from 'node:path'
import process from 'node:process'
import { help, readCommandLine, type Settings } from './command-line.ts'
import { describeEquivalent, writeReport } from './report.ts'
import { run } from './run.ts'
import { judge } from './verdict.ts'

let settings: Settings | 'help'
try {
  settings = readCommandLine(process.argv.slice(2))
} catch (error) {
  console.error((error as Error).message)
  process.exit(2)
}
if (settings === 'help') {
  console.log(help)
  process.exit(0)
}
const { connections, duration, faults, seed } = settings
const seconds = duration / 1_000
console.log(`${connections} connections for ${seconds} s, seed ${seed}, ${faults ? 'with' : 'without'} faults`)
const recording = await run(settings, (line) => console.log(line))
const checks = judge(recording)
const folder = resolve(settings.report)
writeReport(folder, settings, recording, checks)

for (const { operation, problem, at } of recording.failures.slice(0, 20)) {
  console.log(`failure after ${(at / 1_000).toFixed()} s: ${operation}: ${problem}`)
}
for (const { name, passed, found } of checks) console.log(`${passed ? 'ok    ' : 'FAILED'} ${name}: ${found}`)
console.log(`The report is in ${folder}`)
const failed = checks.filter(({ passed }) => !passed)
const operations = recording.samples.at(-1)?.operations ?? 0
console.log(
  failed.length === 0
    ? `flat: ${operations} operations, ${checks.length} checks passed; ${describeEquivalent(operations, connections)}`
    : `not flat: ${failed.map(({ name }) => name).join('; ')}`,
)
process.exit(failed.length === 0 ? 0 : 1)
