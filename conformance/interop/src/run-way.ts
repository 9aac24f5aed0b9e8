/** Tries every feature between one client and one server. */

import type { Driver } from './driver.ts'
import { sdkException } from './exceptions.ts'
import type { Feature, Features, Rig } from './feature.ts'
import { endsOf, type Servers } from './peers.ts'
import { type Cell, judge, outcomeOf } from './verdict.ts'
import type { Way } from './ways.ts'

export interface WayResults extends Way {
  readonly cells: readonly Cell[]
}

/** How long one feature may take, in ms. */
const LIMIT = 10_000

export async function runWay(way: Way, features: Features, servers: Servers): Promise<WayResults> {
  const { connect, target } = endsOf(way, servers)
  const cells: Cell[] = []
  let shared: Promise<Driver> | undefined

  async function attempt({ run }: Feature, others: Driver[]): Promise<void> {
    shared ??= connect(target)
    const rig: Rig = {
      way,
      driver: await shared,
      url: target.url ?? '',
      async connect({ findOut = false, fetch } = {}) {
        const { revision, ...free } = target
        const driver = await connect({ ...(findOut ? free : target), ...(fetch && { fetch }) })
        others.push(driver)
        return driver
      },
    }
    await run(rig)
  }

  for (const [name, feature] of Object.entries(features)) {
    const reason = absence(feature, way)
    if (reason !== undefined) {
      cells.push({ what: name, status: 'absent', reason })
      continue
    }
    const others: Driver[] = []
    const error = await outcomeOf(attempt(feature, others), LIMIT)
    cells.push({ what: name, ...judge(error, sdkException(name, way)) })
    await Promise.allSettled(others.map((driver) => driver.close()))
    // A connection that something went wrong on may be broken; the next feature gets a new one.
    if (error !== undefined && shared !== undefined && (await closeShared(shared))) shared = undefined
  }
  if (shared !== undefined) await closeShared(shared)
  return { ...way, cells }
}

function absence(feature: Feature, { revision, carrier }: Way): string | undefined {
  const { since, until, carriers } = feature
  if (since !== undefined && revision < since) return `came with ${since}`
  if (until !== undefined && revision > until) return `went after ${until}`
  if (carriers !== undefined && !carriers.includes(carrier)) return `not over ${carrier}`
  return undefined
}

/** Says whether there was a connection: where there was none, the next feature need not wait for one in vain. */
async function closeShared(shared: Promise<Driver>): Promise<boolean> {
  const driver = await shared.catch(() => undefined)
  await driver?.close().catch(() => {})
  return driver !== undefined
}
