/** Our client and server with those of others. `node conformance/interop/src/main.ts [--only <words>]` */

import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { features } from './features.ts'
import { openServers } from './peers.ts'
import { countOf, failures, tableOf, toResults } from './results.ts'
import { runStranger, type StrangerResults } from './run-stranger.ts'
import { runWay, type WayResults } from './run-way.ts'
import { staleExceptions } from './stale-exceptions.ts'
import { strangers } from './strangers.ts'
import { nameOf, ways } from './ways.ts'

const { values } = parseArgs({
  options: { report: { type: 'string' }, only: { type: 'string', default: '' } },
})

/** How many processes and connections are at work at once. */
const AT_ONCE = 4

const met: WayResults[] = []
const others: StrangerResults[] = []
const started = performance.now()
const servers = await openServers()
const tasks = [
  ...strangers
    .filter((stranger) => `${stranger.package} ${stranger.over}`.includes(values.only))
    .map((stranger) => async () => void others.push(await runStranger(stranger, servers))),
  ...ways
    .filter((way) => nameOf(way).includes(values.only))
    .map((way) => async () => void met.push(await runWay(way, features, servers))),
]
await Promise.all(Array.from({ length: AT_ONCE }, work))
await servers.close()

const results = toResults(met, others)
console.log(tableOf(results))
const stale = values.only === '' ? staleExceptions(results).map((line) => `exceptions.ts: ${line}`) : []
const failed = [...failures(results), ...stale]
for (const line of failed) console.log(`FAILED ${line}`)
const passed = countOf(results, 'passed')
const theirs = countOf(results, 'lacks', 'breaks')
const leftOut = countOf(results, 'left out')
const seconds = ((performance.now() - started) / 1000).toFixed(1)
const known = `${theirs} as the others are known to be, ${leftOut} that we leave out`
console.log(`${passed} passed, ${failed.length} failed, ${known}, in ${seconds} s`)
if (values.report !== undefined) {
  const found = `${ways.length} ways to meet 2 official SDKs, ${strangers.length} to meet others, ${theirs + leftOut} checks as they are known to fail`
  writeFileSync(values.report, JSON.stringify({ passed, failed: failed.length, found }))
}
process.exit(failed.length > 0 || passed === 0 ? 1 : 0)

async function work(): Promise<void> {
  for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) await task()
}
