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

interface Kind {
  readonly name: string
  readonly says: string
  readonly era: Era
  call(client: Client): Promise<unknown>
}

const eras: readonly Era[] = ['modern', 'legacy']

const kinds: readonly Kind[] = eras.flatMap((era): Kind[] => [
  { name: `${era}-call`, says: 'a call', era, call: (client) => client.callTool('plain') },
  {
    name: `${era}-progress`,
    says: 'a call with 5 progress notifications',
    era,
    call: (client) => client.callTool('progress', {}, { onProgress() {} }),
  },
  { name: `${era}-input`, says: 'a call with an input request', era, call: (client) => client.callTool('ask') },
])

/** Processor time of one call, in µs. */
interface Cost {
  readonly server: number
  readonly redis: number
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
      found.push({ ...kind, memory: least(memory).server, stored: least(stored).server, redis: least(stored).redis })
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
function least(costs: readonly Cost[]): Cost {
  return costs.reduce((best, cost) => (cost.server < best.server ? cost : best))
}

async function measure({ era, call }: Kind, { isQuick }: RunOptions, redis?: RedisProcess): Promise<Cost> {
  const env = redis === undefined ? {} : { REDIS: String(redis.port) }
  const server = await startServer({ file: 'http/stored.mjs', env })
  try {
    const onElicit = () => ({ action: 'accept', content: { name: 'Ada' } }) as const
    const client = await connect(http(`http://127.0.0.1:${server.port}/mcp`), { era, onElicit })
    await repeat(() => call(client), isQuick ? 300 : 2_500)
    const before = look(server, redis)
    const calls = await repeat(() => call(client), isQuick ? 500 : 2_500)
    const after = look(server, redis)
    await client.close()
    return {
      server: ((after.server - before.server) * 1_000) / calls,
      redis: ((after.redis - before.redis) * 1_000) / calls,
    }
  } finally {
    await server.stop()
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
function look(server: Started, redis: RedisProcess | undefined): Cost {
  return { server: cpuOf(server.pid) ?? Number.NaN, redis: redis === undefined ? 0 : (cpuOf(redis.pid) ?? Number.NaN) }
}

const IN_FLIGHT = 16

/** Repeats a call for the given milliseconds; returns the count. */
async function repeat(call: () => Promise<unknown>, ms: number): Promise<number> {
  const until = performance.now() + ms
  let count = 0
  const work = async () => {
    while (performance.now() < until) {
      await call()
      count += 1
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, work))
  return count
}

interface RedisProcess {
  readonly child: ChildProcess
  readonly pid: number
  readonly port: number
}

async function startRedis(): Promise<RedisProcess> {
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
