/** Runs one suite with the client of every runtime against the server of every runtime. `node conformance/runtimes/src/main.ts` */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { bundle } from './bundle.ts'
import { leftOutOf, limits, runClient, startServers } from './cells.ts'
import { runGuarded } from './guarded.ts'
import type { Job, Report } from './job.ts'
import { endAll } from './programs.ts'
import { findRuntimes, type Runtime, runtimeNames } from './runtimes.ts'
import { type CheckResult, checkNames } from './smoke.ts'

const { values } = parseArgs({
  options: { report: { type: 'string' }, client: { type: 'string' }, server: { type: 'string' } },
})
process.on('exit', endAll)
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(143))

const total = { passed: 0, failed: 0, found: '', details: [] as string[], leftOut: [] as string[] }
const runtimes = await findRuntimes()
for (const name of runtimeNames)
  if (!runtimes.some((each) => each.name === name)) total.leftOut.push(`${name}: it is not here`)

await bundle()
for (const { server, carrier, era, check, why } of limits) {
  total.leftOut.push(`${server} serving over ${carrier}, ${era}: "${check}": ${why}`)
}
const jobs = await startServers(runtimes.filter(({ name }) => values.server === undefined || name === values.server))
const clients = runtimes.filter(({ name }) => values.client === undefined || name === values.client)
// Two at a time: more would make the slowest of them late on a small machine.
const queue = [...clients]
await Promise.all([drain(), drain()])
if (values.client === undefined && values.server === undefined)
  await guardOne(runtimes.find(({ name }) => name === 'workerd'))
total.found = runtimes.map(({ name, version }) => `${name.replace(/\d+$/, '')} ${version}`).join(', ')
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify(total))
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0)

async function drain(): Promise<void> {
  for (let client = queue.shift(); client !== undefined; client = queue.shift()) await runOne(client, jobs)
}

async function runOne(client: Runtime, jobs: readonly Job[]): Promise<void> {
  const started = performance.now()
  try {
    const reports = await runClient(client, jobs)
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    const [passed, failed] = [total.passed, total.failed]
    for (const report of reports) add(client, report)
    const line = `${client.name} as client, ${reports.length} conversations: ${total.passed - passed} passed, ${total.failed - failed} failed  ${seconds} s`
    total.details.push(line)
    console.log(line)
  } catch (error) {
    total.failed += 1
    console.log(`FAILED ${client.name} as client: ${error instanceof Error ? error.stack : error}`)
  }
}

/** The only runtime that has rules of its own about what a guard does: randomness, and waiting for others. */
async function guardOne(worker: Runtime | undefined): Promise<void> {
  if (worker === undefined) return
  const results = await runGuarded(worker).catch((error: Error): CheckResult[] => [
    { check: 'starts', fault: error.stack ?? error.message },
  ])
  const failed = results.filter(({ fault }) => fault !== undefined)
  total.passed += results.length - failed.length
  total.failed += failed.length
  const line = `workerd as guard: ${results.length - failed.length} passed, ${failed.length} failed`
  total.details.push(line)
  console.log(line)
  for (const { check, fault } of failed) console.log(`FAILED workerd as guard: ${check}\n    ${fault}`)
}

/** A check that was not even tried counts as failed. */
function add(client: Runtime, { server, carrier, era, results }: Report): void {
  const cannot = leftOutOf({ server, carrier, era })
  for (const name of checkNames().filter((each) => !cannot.includes(each))) {
    const result = results.find(({ check }) => check === name)
    if (result !== undefined && result.fault === undefined) {
      total.passed += 1
      continue
    }
    total.failed += 1
    const where = `${client.name} calls ${server} over ${carrier}, ${era}`
    console.log(`FAILED ${where}: ${name}\n    ${result?.fault ?? 'not tried'}`)
  }
}
