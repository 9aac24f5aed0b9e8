/** Servers with a store in Redis: requests while Redis does not reply, and the commands of a node without requests. */

import { createServer } from '@mcpx/server'
import { redisStore } from '@mcpx/store-redis'
import { tasks } from '@mcpx/tasks'
import { delay } from '@mcpx/testing'
import { mcp } from '@mcpx/transport-http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectAdmin, connectBy, hasRedis, startRedis } from '../../../packages/store-redis/src/redis.fixture.ts'

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
/** The machine may be busy. */
const TIMEOUT = 30_000

interface Settings {
  readonly timeout?: number
  readonly keepAlive?: number
  readonly lease?: number
}

async function startNode(library: keyof typeof connectBy, { timeout = 5_000, keepAlive = 60_000, lease }: Settings) {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const connected = await connectBy[library](redis.port)
  const store = redisStore(connected.client, { timeout })
  const extensions = lease === undefined ? [] : [tasks({ lease })]
  const server = createServer(
    { name: 'node', version: '1' },
    { store, secrets: ['known to all nodes'], extensions, onError: () => {} },
  ).tool('ping', {}, () => 'pong')
  const app = mcp(server, { allowedHosts: '*', keepAlive })
  onTestFinished(async () => {
    redis.resume()
    app.close()
    server.close()
    await store.close()
    connected.close()
  })
  const send = (init: RequestInit, session?: string) => {
    const headers = session === undefined ? HEADERS : { ...HEADERS, 'mcp-session-id': session }
    return app.request('http://x.test/mcp', { headers, ...init })
  }
  const post = (message: object, session?: string) =>
    send({ method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }) }, session)
  const initialize = async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
    return post({ id: 1, method: 'initialize', params })
  }
  const open = async () => {
    const session = (await initialize()).headers.get('mcp-session-id') as string
    await post({ method: 'notifications/initialized' }, session)
    return session
  }
  const ping = (session: string) => post({ id: 2, method: 'tools/call', params: { name: 'ping' } }, session)
  return { redis, send, initialize, open, ping }
}

describe.skipIf(!hasRedis)('a node with Redis', { timeout: TIMEOUT }, () => {
  it.each(['@redis/client', 'ioredis'] as const)(
    'refuses by name while Redis stands still, over %s',
    async (library) => {
      const { redis, initialize, open, ping } = await startNode(library, { timeout: 300 })
      const session = await open()
      redis.pause()
      for (const request of [() => ping(session), initialize]) {
        const started = performance.now()
        const refused = await request()
        expect(performance.now() - started).toBeLessThan(2_000)
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
        const message = 'The state of this server cannot be reached at the moment'
        expect(await refused.json()).toMatchObject({ error: { code: -32603, message } })
      }
      redis.resume()
      await expect.poll(async () => (await ping(session)).status).toBe(200)
    },
  )

  it('has stored each session that it has acknowledged, although Redis stood still meanwhile', async () => {
    const { redis, initialize, ping } = await startNode('ioredis', { timeout: 200 })
    const opened: Promise<Response>[] = []
    for (let n = 0; n < 10; n++) {
      redis.pause()
      opened.push(initialize(), initialize())
      // Some requests succeed, others take too long.
      await delay(n % 2 ? 50 : 250)
      redis.resume()
      await delay(20)
    }
    const responses = await Promise.all(opened)
    const acknowledged = responses.filter(({ status }) => status === 200)
    expect(acknowledged.length).toBeGreaterThan(5)
    expect(responses.filter(({ status }) => status === 503).length).toBeGreaterThan(5)
    expect(acknowledged.length + responses.filter(({ status }) => status === 503).length).toBe(20)
    for (const { headers } of acknowledged) {
      expect((await ping(headers.get('mcp-session-id') as string)).status).toBe(200)
    }
  })

  /** Counts commands for a time in ms. Commands in scripts are not counted. */
  async function count(port: number, time: number): Promise<Record<string, number>> {
    const monitor = await connectAdmin(port)
    const counts: Record<string, number> = {}
    await monitor.monitor((line) => {
      const [, sender = '', command = ''] = /\[\d+ ([^\]]+)\] "(\w+)"/.exec(line.toString()) ?? []
      const name = command.toUpperCase()
      if (sender !== 'lua') counts[name] = (counts[name] ?? 0) + 1
    })
    await delay(time)
    monitor.destroy()
    return counts
  }

  it('sends two commands per `keepAlive` for each open stream of a session', async () => {
    const { redis, send, open } = await startNode('ioredis', { keepAlive: 200 })
    for (let n = 0; n < 5; n++) {
      const stream = await send({}, await open())
      expect(stream.status).toBe(200)
      onTestFinished(() => stream.body?.cancel())
    }
    await delay(300)
    const counts = await count(redis.port, 2_000)
    expect(Object.keys(counts).sort()).toEqual(['GETEX', 'PEXPIRE'])
    // Five streams, ten times.
    for (const name of ['GETEX', 'PEXPIRE']) {
      expect(counts[name]).toBeGreaterThan(35)
      expect(counts[name]).toBeLessThanOrEqual(55)
    }
  })

  it('looks for lapsed tasks by 16 scripts, three times per lease', async () => {
    const { redis } = await startNode('ioredis', { lease: 900 })
    const counts = await count(redis.port, 3_000)
    expect(Object.keys(counts)).toEqual(['EVAL'])
    expect((counts.EVAL ?? 0) / 16).toBeGreaterThan(6)
    expect((counts.EVAL ?? 0) / 16).toBeLessThanOrEqual(11)
  })
})
