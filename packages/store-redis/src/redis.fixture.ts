/** Starts Redis servers for tests, and connects both kinds of clients. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, createCluster } from '@redis/client'
import { Cluster, Redis as IoRedis } from 'ioredis'
import type { RedisClient } from './clients.ts'

/** The program that tests start as Redis. `REDIS_SERVER` names another one, for example a Redis 6.2. */
const redisProgram = process.env.REDIS_SERVER ?? 'redis-server'

const isInstalled = (program: string) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0

/** Whether `redis-server` is installed. In CI it must be. */
export const hasRedis = process.env.CI !== undefined || isInstalled(redisProgram)

/** The servers that the contract of stores is tested with. Valkey may be missing: not every Debian has it. */
export const servers = [
  { name: 'Redis', program: redisProgram, isInstalled: hasRedis },
  { name: 'Valkey', program: 'valkey-server', isInstalled: isInstalled('valkey-server') },
] as const

/** A Redis server on a free port of this machine, without persistence. */
export interface RedisServer {
  readonly port: number
  /** Stops the process by SIGSTOP, so that connections stay open without replies. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

/** @param more further arguments, which override the others */
export async function startRedis(
  port?: number,
  more: readonly string[] = [],
  program: string = redisProgram,
): Promise<RedisServer> {
  const chosen = port ?? (await freePort())
  const folder = mkdtempSync(join(tmpdir(), 'redis-'))
  const args = [
    '--port',
    String(chosen),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
    ...more,
  ]
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await waitUntilReady(child)
  return {
    port: chosen,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function waitUntilReady(child: ChildProcess): Promise<void> {
  let output = ''
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk)
    if (output.includes('Ready to accept connections')) {
      child.stdout?.resume()
      return
    }
  }
  throw new Error(`The Redis server did not start: ${output}`)
}

/** How far the port for other servers of a cluster is from the port of a server. Redis 6.2 has no option for it. */
const BUS_OFFSET = 10_000

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return address.port + BUS_OFFSET < 65_536 ? address.port : freePort()
}

/** A client with a function that closes it. */
export interface Connected {
  readonly client: RedisClient
  close(): void
}

/** Connects a client of each supported library. */
export const connectBy: Readonly<Record<'@redis/client' | 'ioredis', (port: number) => Promise<Connected>>> = {
  async '@redis/client'(port) {
    const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: 50 } })
    client.on('error', () => {})
    await client.connect()
    return { client, close: () => client.destroy() }
  },
  async ioredis(port) {
    const settings = { retryStrategy: () => 50, maxRetriesPerRequest: null }
    // Without a connection, `disconnect` starts a timer of this time, which keeps the process alive.
    const client = new IoRedis({ host: '127.0.0.1', port, disconnectTimeout: 100, ...settings })
    client.on('error', () => {})
    await once(client, 'ready')
    return { client, close: () => client.disconnect() }
  },
}

/** Connects a client that asks the server about itself. */
export async function connectAdmin(port: number) {
  const client = createClient({ socket: { host: '127.0.0.1', port } })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** The number of slots of a cluster. */
const SLOTS = 16_384
const SERVERS = 3

/** The servers of one cluster. */
export interface RedisCluster {
  readonly ports: readonly number[]
  /** Kills one server. The function that is returned starts it again. */
  kill(index: number): Promise<() => Promise<void>>
  stop(): Promise<void>
}

/** Starts a cluster of three servers, each with a third of the slots. */
export async function startCluster(program?: string): Promise<RedisCluster> {
  const folders = Array.from({ length: SERVERS }, () => mkdtempSync(join(tmpdir(), 'redis-cluster-')))
  const start = (index: number, port?: number) => {
    const settings = { 'cluster-enabled': 'yes', 'cluster-node-timeout': 2_000, dir: folders[index] }
    const args = Object.entries(settings).map(([name, value]) => [`--${name}`, `${value}`])
    return startRedis(port, args.flat(), program)
  }
  const servers = await Promise.all(folders.map((_, index) => start(index)))
  const admins = await Promise.all(servers.map(({ port }) => connectAdmin(port)))
  for (const [index, admin] of admins.entries()) {
    const [first, last] = [index, index + 1].map((each) => Math.floor((each * SLOTS) / SERVERS)) as [number, number]
    const slots = Array.from({ length: last - first }, (_, slot) => String(first + slot))
    await admin.sendCommand(['CLUSTER', 'ADDSLOTS', ...slots])
    await admin.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', String(servers[0]?.port)])
  }
  for (const admin of admins) await isReady(admin)
  for (const admin of admins) admin.destroy()
  return {
    ports: servers.map(({ port }) => port),
    async kill(index) {
      const { port, stop } = servers[index] as RedisServer
      await stop()
      return async () => {
        servers[index] = await start(index, port)
      }
    },
    async stop() {
      for (const server of servers) await server.stop()
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Waits until a server knows all others and their slots. */
async function isReady(admin: Awaited<ReturnType<typeof connectAdmin>>): Promise<void> {
  for (;;) {
    const info = String(await admin.sendCommand(['CLUSTER', 'INFO']))
    if (/cluster_state:ok[\s\S]*cluster_size:3/.test(info)) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Connects a cluster client of each supported library. */
export const connectClusterBy: Readonly<
  Record<'@redis/client' | 'ioredis', (ports: readonly number[]) => Promise<Connected>>
> = {
  async '@redis/client'(ports) {
    const client = createCluster({
      rootNodes: ports.map((port) => ({ socket: { host: '127.0.0.1', port } })),
      defaults: { socket: { reconnectStrategy: 50 } },
    })
    client.on('error', () => {})
    const connecting: Promise<unknown> = client.connect()
    await connecting
    return { client, close: () => client.destroy() }
  },
  async ioredis(ports) {
    const client = new Cluster(
      ports.map((port) => ({ host: '127.0.0.1', port })),
      { clusterRetryStrategy: () => 50 },
    )
    client.on('error', () => {})
    await once(client, 'ready')
    return { client, close: () => client.disconnect() }
  },
}
