/** Three server processes with one Redis, behind a balancer without sticky sessions. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { connectAdmin, type RedisServer, startRedis } from '../../../packages/store-redis/src/redis.fixture.ts'
import { compileCache, fromSource } from '../../transports/src/hosts.fixture.ts'
import type { NodeOptions } from './node.fixture.ts'
import { type Balancer, startBalancer } from './proxy.fixture.ts'

export { hasRedis } from '../../../packages/store-redis/src/redis.fixture.ts'

/** The report of a node after a garbage collection. */
export interface NodeReport {
  readonly heap: number
  /** The warnings and errors, with their numbers. */
  readonly problems: readonly (readonly [string, number])[]
}

export interface ClusterNode {
  readonly pid: number
  readonly port: number
  look(): Promise<NodeReport>
}

export interface Cluster {
  readonly balancer: Balancer
  readonly redis: RedisServer
  readonly admin: Awaited<ReturnType<typeof connectAdmin>>
  readonly nodes: readonly ClusterNode[]
  /** Kills a node with SIGKILL. */
  kill(index: number): Promise<void>
  /** Starts a killed node again, on the same port. */
  restart(index: number): Promise<void>
  close(): Promise<void>
}

interface Started extends ClusterNode {
  readonly child: ChildProcess
}

const SIZE = 3

/** How long the tests cause faults, in seconds. Set it with `CLUSTER_SECONDS`. Default: 60 in CI, otherwise 20. */
export const SECONDS = Number(process.env.CLUSTER_SECONDS ?? (process.env.CI === undefined ? 20 : 60))

const defaults = {
  sessionTtl: 60_000,
  eventTtl: 60_000,
  storeTimeout: 5_000,
  keepAlive: 60_000,
  taskLease: 600_000,
  taskTtl: 60_000,
  ledger: '/dev/null',
}

export async function startCluster(settings: Partial<typeof defaults> = {}): Promise<Cluster> {
  const redis = await startRedis()
  const options = { ...defaults, ...settings, redis: redis.port }
  const nodes = await Promise.all(Array.from({ length: SIZE }, () => startNode(options)))
  const balancer = await startBalancer(nodes.map(({ port }) => port))
  const admin = await connectAdmin(redis.port)

  async function kill(index: number): Promise<void> {
    const { child } = nodes[index] as Started
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  return {
    balancer,
    redis,
    admin,
    nodes,
    kill,
    async restart(index) {
      nodes[index] = await startNode({ ...options, port: (nodes[index] as Started).port })
    },
    async close() {
      balancer.close()
      admin.destroy()
      await Promise.all(nodes.map((_, index) => kill(index)))
      redis.resume()
      await redis.stop()
    },
  }
}

async function startNode(options: NodeOptions): Promise<Started> {
  const child = fork(fileURLToPath(new URL('./node.fixture.ts', import.meta.url)), [JSON.stringify(options)], {
    execArgv: [...fromSource, '--unhandled-rejections=strict'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...compileCache },
  })
  const exited = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`A node ended before it listened: ${code ?? signal}`)
  })
  exited.catch(() => {})
  const [{ url }] = (await Promise.race([once(child, 'message'), exited])) as [{ url: string }]
  return {
    child,
    pid: child.pid as number,
    port: Number(new URL(url).port),
    async look() {
      child.send('look')
      const [report] = (await once(child, 'message')) as [NodeReport]
      return report
    },
  }
}
