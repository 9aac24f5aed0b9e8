/** Nodes are killed and Redis is stopped, with clients of both eras, for `CLUSTER_SECONDS`. */

import { delay } from '@mcpx/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BusyClient, causeFaults, createTally, makeChanges, startBusyClient, type Tally } from './chaos.fixture.ts'
import { type ClientName, connectBy } from './clients.fixture.ts'
import { type Cluster, hasRedis, SECONDS, startCluster } from './cluster.fixture.ts'

/** The machine may be busy. */
const TIMEOUT = SECONDS * 1_000 + 240_000

/** The official SDK 1 reopens a lost stream of HTTP+SSE without a handshake. After that, its client cannot be used. */
const names = (Object.keys(connectBy) as ClientName[]).filter((name) => name !== 'official SDK 1, HTTP+SSE')

const SESSION_TTL = 15_000
const EVENT_TTL = 10_000

describe.skipIf(!hasRedis)(`a cluster with faults for ${SECONDS} s`, { timeout: TIMEOUT }, () => {
  let cluster: Cluster
  let tally: Tally
  let busy: (readonly [ClientName, BusyClient])[]

  beforeAll(async () => {
    tally = createTally()
    cluster = await startCluster({
      sessionTtl: SESSION_TTL,
      eventTtl: EVENT_TTL,
      storeTimeout: 2_000,
      keepAlive: 1_000,
    })
    const { url } = cluster.balancer
    busy = await Promise.all(names.map(async (name) => [name, await startBusyClient(name, url, tally)] as const))
    const caller = await connectBy['our client, modern era'](url)
    const changing = new AbortController()
    const changes = makeChanges(caller, busy, tally, changing.signal)
    const faults = await causeFaults(cluster, SECONDS)
    await delay(1_000)
    changing.abort()
    await changes
    await Promise.all(busy.map(([, { stop }]) => stop()))
    await caller.close()
    print(faults)
  }, TIMEOUT)
  afterAll(() => cluster?.close(), TIMEOUT)

  function print(faults: readonly string[]): void {
    const { outcomes, changes, longestDelays, longestCall } = tally
    const lines = [...outcomes].map(([what, count]) => `${what} | ${count}`).sort()
    const delays = [...longestDelays].map(([name, ms]) => `${name}: notified after ${ms.toFixed()} ms at most`)
    const made = `${changes.resources} changes of resources, ${changes.tools} of the list of tools`
    console.log([faults.join(', '), ...lines, made, ...delays, `longest call: ${longestCall.toFixed()} ms`].join('\n'))
  }

  it('loses no session', () => {
    expect(tally.lostSessions).toEqual([])
  })

  it('notifies every client of every change of a resource or a list', () => {
    expect(tally.changes.resources).toBeGreaterThan(SECONDS / 2)
    expect(tally.changes.tools).toBeGreaterThan(SECONDS / 4)
    expect(tally.untold).toEqual([])
  })

  it('sends no message twice on a stream', () => {
    expect(tally.repeatedMessages).toEqual([])
    expect(tally.repeatedProgress).toEqual([])
    expect(busy.flatMap(([, { watch }]) => watch.repeatedChanges(tally.attempts))).toEqual([])
  })

  it('ends every call with a result or a named error', () => {
    expect(tally.unnamed).toEqual([])
    const succeeded = [...tally.outcomes].filter(([what]) => what.endsWith('| result')).map(([what]) => what)
    for (const name of names) expect(succeeded).toContain(`${name}: call with an input request | result`)
  })

  it('serves every client afterwards', async () => {
    for (const [name, { client }] of busy) expect(await client.call('ask'), name).toMatch(/^accept/)
  })

  it('leaves no key in Redis after the time to live', async () => {
    const keys = () => cluster.admin.keys('*')
    expect((await keys()).length).toBeGreaterThan(0)
    // The session of one client is not deleted, because its DELETE request does not arrive.
    await Promise.all(busy.slice(1).map(([, { client }]) => client.close()))
    cluster.balancer.close()
    const end = performance.now() + SESSION_TTL + EVENT_TTL
    while ((await keys()).length > 0 && performance.now() < end) await delay(200)
    expect(await keys()).toEqual([])
  })
})
