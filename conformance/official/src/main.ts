/** Runs the official conformance suite against our server and our client. `npm run conformance [-- --only server-2025 | --write]` */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { testAuthorizationServers } from './authorization.ts'
import { breakServer, serveStreams } from './break-server.ts'
import { missingChecks, type RunResults, readChecks, writeChecks } from './checks.ts'
import { missing, type Verdict } from './evaluate.ts'
import { excuses } from './excused.ts'
import { notYet } from './not-yet.ts'
import { servePipe } from './pipe.ts'
import { attempt, runWithRetries } from './run-with-retries.ts'
import { runs } from './runs.ts'
import { staleEntries } from './stale.ts'
import { suiteVersion } from './suite.ts'
import { summary, table, triesOf } from './table.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = join(root, '.cache', 'conformance')
/** Lowers the priority of clients. The suite starts all clients at once: with 48 clients on two processors it stalled for up
 * to 7 s, and with this priority for less than 1 s.
 */
const lowPriority = process.platform === 'win32' ? '' : 'nice -n 10 '
const client = `${lowPriority}${process.execPath} ${join(root, 'apps', 'everything-client', 'dist', 'main.js')}`

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, report: { type: 'string' }, write: { type: 'boolean' } },
})
const runners: Record<string, () => Promise<RunResults>> = {
  ...Object.fromEntries(runs.map((run) => [run.name, () => runWithRetries(run, () => attempt(run, client, folder))])),
  authorization: async () => ({
    run: 'authorization',
    verdicts: await testAuthorizationServers(join(folder, 'authorization')),
  }),
  pipe: async () => ({ run: 'pipe', verdicts: await servePipe() }),
  streams: async () => ({ run: 'streams', verdicts: await serveStreams(join(folder, 'streams')) }),
  broken: async () => moveRetries({ run: 'broken', verdicts: await breakServer(join(folder, 'broken')) }),
}
const names = values.only?.flatMap((each) => each.split(',')) ?? Object.keys(runners)

const unknown = names.find((name) => !Object.hasOwn(runners, name))
if (unknown !== undefined) {
  console.error(`--only: expected one of ${Object.keys(runners).join(', ')}, got '${unknown}'.`)
  process.exit(1)
}

const results: RunResults[] = []
for (const run of names) {
  const result = (await runners[run]?.()) as RunResults
  results.push(result)
  console.log(table(result))
}
const isWhole = Object.keys(runners).every((name) => names.includes(name))
const ran = results.flatMap(({ verdicts }) => verdicts)
const notes = [...staleEntries(ran, { excuses, notYet }, isWhole), ...compareChecks()]
if (notes.length > 0) {
  results.push({ run: 'lists', verdicts: notes })
  console.log(table({ run: 'lists', verdicts: notes }))
}
report()

/** The reasons of passed servers are their retries. The table shows them as retries. */
function moveRetries({ run, verdicts }: RunResults): RunResults {
  const passed = verdicts.filter(({ outcome }) => outcome === 'passed')
  const again = passed.flatMap(({ scenario, reasons }) => reasons.map((reason) => `${scenario}: ${reason}`))
  return { run, verdicts, tries: 1 + again.length, again }
}

/** Writes the numbers of checks with --write. Otherwise compares them with the expected numbers. */
function compareChecks(): Verdict[] {
  const hasFailures = results.some(({ verdicts }) => verdicts.some(({ outcome }) => outcome === 'failed'))
  if (hasFailures) return []
  if (values.write === true && isWhole) writeChecks(results)
  const faults = missingChecks(readChecks(), results)
  return faults.map((fault) => ({
    ...missing('(checks.json)'),
    reasons: [`${fault}; if the suite has changed, run npm run conformance -- --write`],
  }))
}

function report(): void {
  const all = results.flatMap(({ verdicts }) => verdicts)
  const failed = all.filter(({ outcome }) => outcome === 'failed')
  const passed = all
    .filter(({ outcome }) => outcome === 'passed' || outcome === 'excused')
    .reduce((sum, verdict) => sum + verdict.passed, 0)
  const details = results.map((result) => `${result.run}: ${summary(result)}`)
  const leftOut = notYet.flatMap(({ scenarios, needs }) => {
    const waiting = all.filter((each) => each.outcome === 'not yet' && scenarios.includes(each.scenario))
    const found = [...new Set(waiting.map(({ scenario }) => scenario))]
    return found.length === 0 ? [] : [`${found.join(', ')}: need ${needs}, which is not implemented yet`]
  })
  for (const line of [...details, ...leftOut]) console.log(line)
  const tries = results.reduce((sum, each) => sum + (each.tries ?? 1), 0)
  const found = `${results.length} runs of the official suite ${suiteVersion()}, in ${triesOf(tries)}`
  mkdirSync(folder, { recursive: true })
  const facts = { suite: suiteVersion(), node: process.version, date: new Date().toISOString() }
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify({ ...facts, results }, null, 2)}\n`)
  if (values.report !== undefined) {
    writeFileSync(values.report, JSON.stringify({ passed, failed: failed.length, found, details, leftOut }))
  }
  console.log(`${passed} passed, ${failed.length} failed: ${found}`)
  process.exitCode = failed.length > 0 || passed === 0 ? 1 : 0
}
