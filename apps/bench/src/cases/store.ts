/** The processor time of calls with the state in memory and in Redis. */
import { type ChildProcess, spawn } from 'node:child_process'
import { type Client, connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { createClient } from '@redis/client'
import type { Findings, OwnCase, RunOptions } from '../case.ts'
import { freePort, type Started, startServer } from '../driver/server-process.ts'
import { wait } from '../driver/window.ts'
import { cpuOf } from '../machine.ts'
import { fixed } from '../statistics.ts'

type Era = 'legacy' | 'modern'

/** A kind of call. */
export interface Kind {
  readonly name: string
  readonly says: string
  readonly era: Era
  call(client: Client): Promise<unknown>
}

const eras: readonly Era[] = ['modern', 'legacy']

/** The calls that use a store, by era. */
export const kinds: readonly Kind[] = eras.flatMap((era): Kind[] => [
  { name: `${era}-call`, says: 'a call', era, call: (client) => client.callTool('plain') },
  {
    name: `${era}-progress`,
    says: 'a call with 5 progress notifications',
    era,
    call: (client) => client.callTool('progress', {}, { onProgress() {} }),
  },
  { name: `${era}-input`, says: 'a call with an input request', era, call: (client) => client.callTool('ask') },
])

/** The processor time of one call, in µs. */
export interface Cost {
  /** That of all nodes. */
  readonly server: number
  readonly redis: number
  /** The calls per second. */
  readonly rate: number
}

export const store: OwnCase = {
  kind: 'own',
  name: 'store',
  says: 'The processor time of one node per call, in µs, with its state in memory and in Redis, and that of Redis.',
  find,
}

async function find(options: RunOptions): Promise<Findings> {
  const redis = await startRedis()
  try {
    const found = []
    for (const kind of kinds) {
      const memory: Cost[] = []
      const stored: Cost[] = []
      for (let round = 0; round < options.rounds; round++) {
        memory.push(await measure(kind, options))
        stored.push(await measure(kind, options, redis))
      }
      found.push({
        ...kind,
        memory: cheapest(memory).server,
        stored: cheapest(stored).server,
        redis: cheapest(stored).redis,
      })
      options.note(`store: ${kind.name}`)
    }
    const delivery = await measureDelivery(redis, options)
    return {
      name: store.name,
      says: store.says,
      header: ['', 'what', 'in memory', 'with Redis', '×', 'Redis itself'],
      rows: found.map(({ name, says, memory, stored, redis: own }) => [
        name,
        says,
        fixed(memory, 0),
        fixed(stored, 0),
        fixed(stored / memory, 2),
        fixed(own, 0),
      ]),
      notes: [
        '16 calls in flight by our client, over one connection of the protocol; the cheapest round. Redis uses no disk.',
        `Redis delivers a message to one of ${SUBSCRIBERS} subscribed processes in ${fixed(delivery, 1)} µs.`,
      ],
      verdicts: [],
      data: found.map(({ name, memory, stored, redis: own }) => ({ name, memory, stored, redis: own })),
    }
  } finally {
    redis.child.kill('SIGKILL')
  }
}

/** Returns the cheapest round, because other processes on the machine only make calls more expensive. */
export function cheapest(costs: readonly Cost[]): Cost {
  return costs.reduce((best, cost) => (cost.server < best.server ? cost : best))
}

/** Measures calls at some nodes. Each request goes to the next node, as behind a balancer without sticky sessions. */
export async function measure(
  { era, call }: Kind,
  { isQuick }: RunOptions,
  redis?: RedisProcess,
  nodes = 1,
): Promise<Cost> {
  const env = redis === undefined ? {} : { REDIS: String(redis.port) }
  const servers = await Promise.all(Array.from({ length: nodes }, () => startServer({ file: 'http/stored.mjs', env })))
  try {
    let turn = 0
    const balanced: typeof fetch = (_, init) => fetch(urls[turn++ % nodes] ?? '', init)
    const urls = servers.map(({ port }) => `http://127.0.0.1:${port}/mcp`)
    const onElicit = () => ({ action: 'accept', content: { name: 'Ada' } }) as const
    const client = await connect(http(urls[0] ?? '', { fetch: balanced }), { era, onElicit })
    // Each node needs as many calls until its code is compiled.
    const calls = (isQuick ? 200 : CALLS_PER_NODE) * nodes
    await repeat(() => call(client), calls, nodes)
    const before = look(servers, redis)
    const start = performance.now()
    await repeat(() => call(client), calls, nodes)
    const seconds = (performance.now() - start) / 1_000
    const after = look(servers, redis)
    await client.close()
    return {
      server: ((after.server - before.server) * 1_000) / calls,
      redis: ((after.redis - before.redis) * 1_000) / calls,
      rate: calls / seconds,
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

const SUBSCRIBERS = 100

/** The processor time of Redis for each process that receives a message, in µs. */
async function measureDelivery(redis: RedisProcess, { isQuick }: RunOptions): Promise<number> {
  const clients = await Promise.all(
    Array.from({ length: SUBSCRIBERS }, async () => {
      const client = createClient({ socket: { host: '127.0.0.1', port: redis.port } })
      client.on('error', () => {})
      await client.connect()
      await client.subscribe('changes', () => {})
      return client
    }),
  )
  const publisher = createClient({ socket: { host: '127.0.0.1', port: redis.port } })
  publisher.on('error', () => {})
  await publisher.connect()
  const before = cpuOf(redis.pid) ?? Number.NaN
  const messages = isQuick ? 500 : 5_000
  for (let n = 0; n < messages; n++) await publisher.publish('changes', CHANGE)
  const used = (cpuOf(redis.pid) ?? Number.NaN) - before
  for (const client of [publisher, ...clients]) client.destroy()
  return (used * 1_000) / messages / SUBSCRIBERS
}

const CHANGE = JSON.stringify({ from: crypto.randomUUID(), changes: [{ kind: 'resource', uri: 'note://1' }] })

/** The processor time that the processes have used, in ms. */
function look(servers: readonly Started[], redis: RedisProcess | undefined): Omit<Cost, 'rate'> {
  return {
    server: servers.reduce((sum, { pid }) => sum + (cpuOf(pid) ?? Number.NaN), 0),
    redis: redis === undefined ? 0 : (cpuOf(redis.pid) ?? Number.NaN),
  }
}

/** The calls in flight per node. */
const IN_FLIGHT = 16
/** The calls before the measurement, and during it. */
const CALLS_PER_NODE = 1_500

/** Repeats a call that many times. */
async function repeat(call: () => Promise<unknown>, calls: number, nodes: number): Promise<void> {
  let left = calls
  const work = async () => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: IN_FLIGHT * nodes }, work))
}

/** A Redis server of a case. */
export interface RedisProcess {
  readonly child: ChildProcess
  readonly pid: number
  readonly port: number
}

export async function startRedis(): Promise<RedisProcess> {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((resolve, reject) => {
    child.once('error', (cause) => reject(new Error('The case `store` needs `redis-server`: install it', { cause })))
    child.stdout.on('data', (text) => String(text).includes('Ready to accept connections') && resolve())
  })
  await wait(100)
  return { child, pid: child.pid ?? 0, port }
}
