/** Starts Redis servers for tests, and connects both kinds of clients. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, createCluster } from '@redis/client'
import { Redis as IoRedis } from 'ioredis'
import type { RedisClient } from './clients.ts'

/** Whether `redis-server` is installed. In CI it must be. */
export const hasRedis =
  process.env.CI !== undefined || spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0

/** A Redis server on a free port of this machine, without persistence. */
export interface RedisServer {
  readonly port: number
  /** Stops the process by SIGSTOP, so that connections stay open without replies. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

export async function startRedis(port?: number, more: readonly string[] = []): Promise<RedisServer> {
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
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] })
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
  throw new Error(`redis-server did not start: ${output}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return address.port
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
    const client = new IoRedis({ host: '127.0.0.1', port, retryStrategy: () => 50, maxRetriesPerRequest: null })
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

/** Starts a cluster of one server. */
export async function startCluster(): Promise<RedisServer> {
  const server = await startRedis(undefined, ['--cluster-enabled', 'yes'])
  const admin = await connectAdmin(server.port)
  await admin.sendCommand(['CLUSTER', 'ADDSLOTS', ...Array.from({ length: SLOTS }, (_, slot) => String(slot))])
  while (!String(await admin.sendCommand(['CLUSTER', 'INFO'])).includes('cluster_state:ok')) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  admin.destroy()
  return server
}

/** Connects a cluster client of `@redis/client`. */
export async function connectCluster(port: number): Promise<Connected> {
  const client = createCluster({ rootNodes: [{ socket: { host: '127.0.0.1', port } }] })
  client.on('error', () => {})
  const connecting: Promise<unknown> = client.connect()
  await connecting
  return { client, close: () => client.destroy() }
}
