/** Tasks whose nodes are killed and whose Redis is stopped, for `CLUSTER_SECONDS`. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, connect } from '@mcpx/client'
import { ConnectionError, RpcError } from '@mcpx/protocol'
import { delay } from '@mcpx/testing'
import { http } from '@mcpx/transport-http/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { causeFaults } from './chaos.fixture.ts'
import { type Cluster, hasRedis, SECONDS, startCluster } from './cluster.fixture.ts'

/** The machine may be busy. */
const TIMEOUT = SECONDS * 1_000 + 240_000
const CLIENTS = 6
const STEPS = 10
/** This is longer than the faults last, so that no task expires. */
const TASK_TTL = SECONDS * 1_000 + 30_000

describe.skipIf(!hasRedis)(`tasks of a cluster with faults for ${SECONDS} s`, { timeout: TIMEOUT }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-tasks-'))
  const ledger = join(folder, 'ledger')
  let cluster: Cluster
  /** The nodes that worked on each created task, and the errors of calls that created no task. */
  const results = new Map<string, readonly string[]>()
  const failures = new Map<string, unknown>()
  /** The errors of calls that created no task. */
  const refused: unknown[] = []
  let asked = 0

  beforeAll(async () => {
    cluster = await startCluster({ storeTimeout: 2_000, taskLease: 1_000, taskTtl: TASK_TTL, ledger })
    const stopping = new AbortController()
    const clients = Array.from({ length: CLIENTS }, (_, n) => keepBusy(`client${n}`, stopping.signal))
    const asking = keepAsking(stopping.signal)
    const faults = await causeFaults(cluster, SECONDS)
    stopping.abort()
    await Promise.all([...clients, asking])
    const moved = [...results.values()].filter((nodes) => new Set(nodes).size > 1).length
    const lines = [
      faults.join(', '),
      `${results.size} tasks have ended with their result, ${moved} of them at another node than they began at`,
      `${failures.size} tasks have failed, ${refused.length} calls were not answered by a task`,
      `${asked} tasks have asked their user`,
      ...new Set([...refused, ...failures.values()].map(String)),
    ]
    console.log(lines.join('\n'))
  }, TIMEOUT)
  afterAll(async () => {
    await cluster?.close()
    rmSync(folder, { recursive: true, force: true })
  }, TIMEOUT)

  /** Connects a client. Tries again if the balancer fails, because nodes are killed meanwhile. */
  async function open(attempts = 20): Promise<Client> {
    try {
      return await connect(http(cluster.balancer.url, { reconnect: { minDelay: 50, maxDelay: 1_000, attempts: 20 } }), {
        timeout: 20_000,
        onElicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
      })
    } catch (error) {
      if (attempts === 1 || (error as { retryable?: boolean }).retryable !== true) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
      return open(attempts - 1)
    }
  }

  /** Starts one task after the other, and waits for its result. */
  async function keepBusy(name: string, signal: AbortSignal): Promise<void> {
    const client = await open()
    for (let n = 0; !signal.aborted; n++) {
      const key = `${name}-${n}`
      const handle = await client
        .callTool('work', { key, steps: STEPS, pause: 50 }, { task: 'handle' })
        .catch((error) => void refused.push(error))
      if (handle === undefined) continue
      await handle.result({ maxTimeout: TASK_TTL }).then(
        ({ content }) => results.set(key, textOf(content).split(' ')),
        (error) => failures.set(key, error),
      )
    }
    await client.close()
  }

  async function keepAsking(signal: AbortSignal): Promise<void> {
    const client = await open()
    for (let n = 0; !signal.aborted; n++) {
      const handle = await client.callTool('confirm', {}, { task: 'handle' }).catch((error) => void refused.push(error))
      if (handle === undefined) continue
      await handle.result({ maxTimeout: TASK_TTL }).then(
        ({ content }) => {
          expect(textOf(content)).toBe('accept')
          asked += 1
        },
        (error) => failures.set(`confirm-${n}`, error),
      )
      await delay(50)
    }
    await client.close()
  }

  /** The steps that were begun, by the key of the task. */
  function begunSteps(): Map<string, number[]> {
    const begun = new Map<string, number[]>()
    for (const line of readFileSync(ledger, 'utf8').trim().split('\n')) {
      const [key = '', step] = line.split(' ')
      begun.set(key, [...(begun.get(key) ?? []), Number(step)])
    }
    return begun
  }

  it('end with their result, and are lost by no node', () => {
    expect([...failures]).toEqual([])
    expect(results.size).toBeGreaterThan(SECONDS)
    expect(asked).toBeGreaterThan(SECONDS / 4)
    for (const nodes of results.values()) expect(nodes).toHaveLength(STEPS)
  })

  it('are continued by other nodes', () => {
    const moved = [...results.values()].filter((nodes) => new Set(nodes).size > 1)
    expect(moved.length).toBeGreaterThan(SECONDS / 10)
  })

  it('run no finished step again', () => {
    for (const [key, steps] of begunSteps()) {
      // An interrupted step is begun again. A finished step is never begun again.
      expect(steps, key).toEqual([...steps].sort((some, other) => some - other))
      if (results.has(key)) expect(new Set(steps).size, key).toBe(STEPS)
    }
  })

  it('are refused with a named error, if at all', () => {
    for (const error of refused) {
      if (error instanceof RpcError) expect(error.data).toEqual({ reason: 'store' })
      else expect(error).toBeInstanceOf(ConnectionError)
    }
  })

  it('leave no key in Redis without a time to live', async () => {
    const keys = await cluster.admin.keys('*')
    expect(keys.length).toBeGreaterThan(results.size)
    for (const key of keys) {
      const ttl = await cluster.admin.pTTL(key)
      // The key may have expired.
      if (ttl !== -2) expect(ttl, key).toBeGreaterThan(0)
      expect(ttl, key).toBeLessThanOrEqual(2 * TASK_TTL)
    }
    // Tasks that have ended have no lease. A call may fail after its task was created. This task then waits for its
    // user.
    const leases = keys.filter((key) => key.endsWith(':leases'))
    const sizes = await Promise.all(leases.map((key) => cluster.admin.zCard(key)))
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(refused.length)
  })
})

function textOf(content: readonly unknown[]): string {
  return (content as { text?: string }[])[0]?.text ?? ''
}
