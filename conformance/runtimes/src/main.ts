/** Runs one suite with the client of every runtime against the server of every runtime. `node conformance/runtimes/src/main.ts` */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { bundle } from './bundle.ts'
import { runGuarded } from './guarded.ts'
import type { Job, Report } from './job.ts'
import { runPipelined } from './pipelined.ts'
import { endAll } from './programs.ts'
import { limits, runClient, startServers } from './runtime-matrix.ts'
import { findRuntimes, type Runtime, type RuntimeName, runtimeNames } from './runtimes.ts'
import { type CheckResult, checkNames } from './suite.ts'

const { values } = parseArgs({
  options: { report: { type: 'string' }, client: { type: 'string' }, server: { type: 'string' } },
})
process.on('exit', endAll)
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(143))

const total = { passed: 0, failed: 0, found: '', details: [] as string[], leftOut: [] as string[] }
const runtimes = await findRuntimes()
for (const name of runtimeNames) if (!runtimes.some((each) => each.name === name)) reportMissing(name)

await bundle()
/** The known limits that occurred. */
const met = new Set<string>()
const jobs = await startServers(runtimes.filter(({ name }) => values.server === undefined || name === values.server))
const clients = runtimes.filter(({ name }) => values.client === undefined || name === values.client)
// Two clients at a time, because more would time out on a small machine.
const queue = [...clients]
const isWhole = values.client === undefined && values.server === undefined
await Promise.all([drain(), drain()])
if (isWhole) {
  const worker = runtimes.find(({ name }) => name === 'workerd')
  if (worker !== undefined) count('workerd as guard', await runGuarded(worker).catch(notStarted))
  count('node, pipelined', await runPipelined(runtimes.filter(({ name }) => name.startsWith('node'))))
  reportLimits(runtimes.map(({ name }) => name))
}
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
    const line = `${client.name} as client, ${reports.length} reports: ${total.passed - passed} passed, ${total.failed - failed} failed  ${seconds} s`
    total.details.push(line)
    console.log(line)
  } catch (error) {
    total.failed += 1
    console.log(`FAILED ${client.name} as client: ${error instanceof Error ? error.stack : error}`)
  }
}

/** Reports a missing runtime: as omitted locally, as a failure in CI. */
function reportMissing(name: RuntimeName): void {
  if (process.env.CI === undefined) {
    total.leftOut.push(`${name}: not installed`)
    return
  }
  total.failed += 1
  console.log(`FAILED ${name}: not installed, but CI needs all runtimes: see .ci/run for the installation`)
}

function notStarted(error: Error): CheckResult[] {
  return [{ check: 'starts', fault: error.stack ?? error.message }]
}

/** Counts checks outside of the suite. */
function count(title: string, results: readonly CheckResult[]): void {
  const failed = results.filter(({ fault }) => fault !== undefined)
  total.passed += results.length - failed.length
  total.failed += failed.length
  const line = `${title}: ${results.length - failed.length} passed, ${failed.length} failed`
  total.details.push(line)
  console.log(line)
  for (const { check, fault } of failed) console.log(`FAILED ${title}: ${check}\n    ${fault}`)
}

/** Lists the limits that occurred; a limit that did not occur with any client fails the run. */
function reportLimits(names: readonly RuntimeName[]): void {
  for (const { server, transport, era, check, reason } of limits.filter((limit) => names.includes(limit.server))) {
    const title = `${server} serving over ${transport}, ${era}: "${check}"`
    if (met.has(keyOf({ server, transport, era }, check))) {
      total.leftOut.push(`${title}: ${reason}`)
      continue
    }
    total.failed += 1
    console.log(`FAILED ${title}: it works with every client: remove it from the limits in runtime-matrix.ts`)
  }
}

function keyOf({ server, transport, era }: Omit<Report, 'results'>, check: string): string {
  return JSON.stringify([server, transport, era, check])
}

/** Counts the results of a report. A check that was not run counts as failed; a known failure does not count. */
function add(client: Runtime, report: Report): void {
  const { server, transport, era, results } = report
  for (const name of checkNames()) {
    const result = results.find(({ check }) => check === name)
    if (result?.isLimited) {
      met.add(keyOf(report, name))
      continue
    }
    if (result !== undefined && result.fault === undefined) {
      total.passed += 1
      continue
    }
    total.failed += 1
    const where = `${client.name} calls ${server} over ${transport}, ${era}`
    console.log(`FAILED ${where}: ${name}\n    ${result?.fault ?? 'not run'}`)
  }
}
