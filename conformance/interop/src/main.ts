/** Tests our client and server with other implementations. `node conformance/interop/src/main.ts [--only <text>]` */

import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { features } from './features.ts'
import { nameOf, pairings } from './pairings.ts'
import { openServers } from './peers.ts'
import { countOf, failures, tableOf, toResults } from './results.ts'
import { type PairingResults, runPairing } from './run-pairing.ts'
import { runThirdParty, type ThirdPartyResults } from './run-third-party.ts'
import { staleExceptions } from './stale-exceptions.ts'
import { thirdParties } from './third-parties.ts'

const { values } = parseArgs({
  options: { report: { type: 'string' }, only: { type: 'string', default: '' } },
})

/** The number of concurrent tasks. */
const CONCURRENCY = 4

const pairingResults: PairingResults[] = []
const thirdPartyResults: ThirdPartyResults[] = []
const started = performance.now()
const servers = await openServers()
const tasks = [
  ...thirdParties
    .filter((thirdParty) => `${thirdParty.package} ${thirdParty.over}`.includes(values.only))
    .map((thirdParty) => async () => void thirdPartyResults.push(await runThirdParty(thirdParty, servers))),
  ...pairings
    .filter((pairing) => nameOf(pairing).includes(values.only))
    .map((pairing) => async () => void pairingResults.push(await runPairing(pairing, features, servers))),
]
await Promise.all(Array.from({ length: CONCURRENCY }, work))
await servers.close()

const results = toResults(pairingResults, thirdPartyResults)
console.log(tableOf(results))
const stale = values.only === '' ? staleExceptions(results).map((line) => `exceptions.ts: ${line}`) : []
const failed = [...failures(results), ...stale]
for (const line of failed) console.log(`FAILED ${line}`)
const passed = countOf(results, 'passed')
const theirs = countOf(results, 'lacks', 'breaks')
const leftOut = countOf(results, 'left out')
const seconds = ((performance.now() - started) / 1000).toFixed(1)
const known = `${theirs} known failures of others, ${leftOut} features left out by us`
console.log(`${passed} passed, ${failed.length} failed, ${known}, in ${seconds} s`)
if (values.report !== undefined) {
  const summary = `${pairings.length} pairings with 2 official SDKs, ${thirdParties.length} with third parties, ${theirs + leftOut} known failures`
  writeFileSync(values.report, JSON.stringify({ passed, failed: failed.length, found: summary }))
}
process.exit(failed.length > 0 || passed === 0 ? 1 : 0)

async function work(): Promise<void> {
  for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) await task()
}
