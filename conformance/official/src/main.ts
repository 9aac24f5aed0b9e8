/** Runs the official conformance suite against our server and our client. `npm run conformance [-- --only server-2025 | --write]` */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { breakServer } from './break-server.ts'
import { startServer } from './everything-server.ts'
import { excuses } from './excused.ts'
import { judge, missing, type Verdict } from './judge.ts'
import { notYet } from './not-yet.ts'
import { servePipe } from './pipe.ts'
import { outdated, readRecord, writeRecord } from './record.ts'
import { type Run, runs } from './runs.ts'
import { staleEntries } from './stale.ts'
import { collect, list, suiteVersion } from './suite.ts'
import { summary, table } from './table.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = join(root, '.cache', 'conformance')
const client = `${process.execPath} ${join(root, 'apps', 'everything-client', 'dist', 'main.js')}`

/** How long the suite may be kept from its work, in ms, for a failure to count; times are part of what it judges. */
const STALL = 1_000
const ATTEMPTS = 3

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, report: { type: 'string' }, write: { type: 'boolean' } },
})
const performers: Record<string, () => Promise<Verdict[]>> = {
  ...Object.fromEntries(runs.map((run) => [run.name, () => perform(run)])),
  pipe: servePipe,
  broken: () => breakServer(join(folder, 'broken')),
}
const names = values.only?.flatMap((each) => each.split(',')) ?? Object.keys(performers)

const unknown = names.find((name) => !Object.hasOwn(performers, name))
if (unknown !== undefined) {
  console.error(`There is no run '${unknown}': it is one of ${Object.keys(performers).join(', ')}.`)
  process.exit(1)
}

const results: { run: string; verdicts: Verdict[] }[] = []
for (const run of names) {
  const verdicts = (await performers[run]?.()) ?? []
  results.push({ run, verdicts })
  console.log(table(run, verdicts))
}
const isWhole = Object.keys(performers).every((name) => names.includes(name))
const notes = [
  ...staleEntries(
    results.flatMap(({ verdicts }) => verdicts),
    { excuses, notYet },
    isWhole,
  ),
  ...keep(),
]
if (notes.length > 0) {
  results.push({ run: 'lists', verdicts: notes })
  console.log(table('lists', notes))
}
report()

/** Runs again what failed on a machine that was too busy to judge. */
async function perform(run: Run): Promise<Verdict[]> {
  for (let attempt = 1; ; attempt += 1) {
    const { verdicts, stalled } = await attemptRun(run)
    const isGood = verdicts.every(({ outcome }) => outcome !== 'failed')
    if (isGood || stalled <= STALL || attempt === ATTEMPTS) return verdicts
    console.log(table(run.name, verdicts))
    console.log(`${run.name} runs again: the machine was busy, the suite stood still for ${stalled} ms\n`)
  }
}

async function attemptRun(run: Run): Promise<{ verdicts: Verdict[]; stalled: number }> {
  const expected = list(run.role, run.list)
  const faults: Verdict[] = []
  const server = run.role === 'server' ? await startServer() : undefined
  try {
    const target = server === undefined ? ['--command', client] : ['--url', server.url]
    const { remains, output } = await collect(run.role, [...target, ...run.choice], join(folder, run.name))
    const ran = new Set(remains.map(({ scenario }) => scenario))
    const notRun = (await expected).filter((name) => !ran.has(name)).map(missing)
    if (remains.length < run.scenarios || notRun.length > 0) console.log(output.text)
    if (remains.length < run.scenarios) {
      faults.push({ ...missing('(all)'), reasons: [`${remains.length} of ${run.scenarios} scenarios ran`] })
    }
    const complaints = server?.complaints() ?? ''
    if (complaints !== '') faults.push({ ...missing('(server)'), reasons: [`complained: ${complaints}`] })
    const verdicts = remains.map((each) => judge(each, { excuses, notYet }))
    return { verdicts: [...verdicts, ...notRun, ...faults], stalled: output.stalled }
  } finally {
    await server?.stop()
  }
}

/** Keeps the results, or sees whether those that are kept still hold. */
function keep(): Verdict[] {
  const isBad = results.some(({ verdicts }) => verdicts.some(({ outcome }) => outcome === 'failed'))
  if (isBad || (values.write === true && !isWhole)) return []
  if (values.write === true) writeRecord(suiteVersion(), results)
  return outdated(readRecord(), suiteVersion(), results).map((what) => ({
    ...missing('(results.json)'),
    reasons: [`what is kept does not hold, ${what}: run npm run conformance -- --write`],
  }))
}

function report(): void {
  const all = results.flatMap(({ verdicts }) => verdicts)
  const failed = all.filter(({ outcome }) => outcome === 'failed')
  const passed = all
    .filter(({ outcome }) => outcome === 'passed' || outcome === 'excused')
    .reduce((sum, verdict) => sum + verdict.passed, 0)
  const details = results.map(({ run, verdicts }) => `${run}: ${summary(verdicts)}`)
  const leftOut = notYet.flatMap(({ scenarios, needs }) => {
    const waiting = all.filter((each) => each.outcome === 'not yet' && each.scenario.startsWith(scenarios))
    const count = new Set(waiting.map(({ scenario }) => scenario)).size
    return count === 0 ? [] : [`${count} scenarios ${scenarios}* need ${needs}, which is not there yet`]
  })
  for (const line of [...details, ...leftOut]) console.log(line)
  const found = `${results.length} runs of the official suite ${suiteVersion()}`
  mkdirSync(folder, { recursive: true })
  const facts = { suite: suiteVersion(), node: process.version, date: new Date().toISOString() }
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify({ ...facts, results }, null, 2)}\n`)
  if (values.report !== undefined) {
    writeFileSync(values.report, JSON.stringify({ passed, failed: failed.length, found, details, leftOut }))
  }
  console.log(`${passed} passed, ${failed.length} failed`)
  process.exitCode = failed.length > 0 || passed === 0 ? 1 : 0
}
