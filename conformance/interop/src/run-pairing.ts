/** Runs every feature between one client and one server. */

import type { Driver } from './driver.ts'
import { sdkException } from './exceptions.ts'
import type { Feature, Features, Rig } from './feature.ts'
import { type CheckResult, evaluateOutcome, outcomeOf } from './outcome.ts'
import type { Pairing } from './pairings.ts'
import { endsOf, type Servers } from './peers.ts'

export interface PairingResults extends Pairing {
  readonly checks: readonly CheckResult[]
}

/** The timeout of one feature, in milliseconds. */
const TIMEOUT = 10_000

export async function runPairing(pairing: Pairing, features: Features, servers: Servers): Promise<PairingResults> {
  const { connect, target } = endsOf(pairing, servers)
  const checks: CheckResult[] = []
  let shared: Promise<Driver> | undefined

  async function attempt({ run }: Feature, others: Driver[]): Promise<void> {
    shared ??= connect(target)
    const rig: Rig = {
      pairing,
      driver: await shared,
      url: target.url ?? '',
      async connect({ detectRevision = false, fetch } = {}) {
        const { revision, ...withoutRevision } = target
        const driver = await connect({ ...(detectRevision ? withoutRevision : target), ...(fetch && { fetch }) })
        others.push(driver)
        return driver
      },
    }
    await run(rig)
  }

  for (const [name, feature] of Object.entries(features)) {
    const reason = absence(feature, pairing)
    if (reason !== undefined) {
      checks.push({ name: name, status: 'absent', reason })
      continue
    }
    const others: Driver[] = []
    const error = await outcomeOf(attempt(feature, others), TIMEOUT)
    checks.push({ name: name, ...evaluateOutcome(error, sdkException(name, pairing)) })
    await Promise.allSettled(others.map((driver) => driver.close()))
    // After a failure the connection may be broken, so the next feature opens a new connection.
    if (error !== undefined && shared !== undefined && (await closeShared(shared))) shared = undefined
  }
  if (shared !== undefined) await closeShared(shared)
  return { ...pairing, checks }
}

function absence(feature: Feature, { revision, transport }: Pairing): string | undefined {
  const { since, until, transports } = feature
  if (since !== undefined && revision < since) return `added in ${since}`
  if (until !== undefined && revision > until) return `removed after ${until}`
  if (transports !== undefined && !transports.includes(transport)) return `not over ${transport}`
  return undefined
}

/** Closes the connection; returns false if connecting had failed, so that the next feature does not try again. */
async function closeShared(shared: Promise<Driver>): Promise<boolean> {
  const driver = await shared.catch(() => undefined)
  await driver?.close().catch(() => {})
  return driver !== undefined
}
