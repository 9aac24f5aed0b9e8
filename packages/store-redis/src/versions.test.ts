/** The store uses only commands and options that Redis 6.2 has, and gives each key a time to live. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { type RedisStore, redisStore } from './index.ts'
import { connectAdmin, connectBy, hasRedis, startRedis } from './redis.fixture.ts'

/** Uses each method of a store, also in the ways that fail or have nothing to do. */
async function useAll({ sessions, records, events, bus, counters, replays, tasks }: RedisStore): Promise<void> {
  for (const store of [sessions, records]) {
    for (const id of ['kept', 'deleted']) await store.create(id, {}, 60_000)
    await expect(store.create('kept', {}, 60_000)).rejects.toThrow('exists already')
    for (const id of ['kept', 'unknown']) {
      await store.get(id)
      await store.get(id, 60_000)
    }
    await Promise.all(Array.from({ length: 20 }, () => store.update('kept', (state) => void Object.assign(state, {}))))
    for (const id of ['deleted', 'unknown']) await store.delete(id)
  }
  for (const [stream, ends] of [['open'], ['ended', true], ['deleted']] as const) {
    const id = await events.append(stream, 'x')
    await events.append(stream, 'y')
    await events.replay(id)
    await events.refresh?.(stream)
    for await (const _ of events.follow(id, AbortSignal.timeout(1_000))) break
    if (ends) await events.end(stream)
  }
  for (const stream of ['deleted', 'unknown']) await events.delete(stream)
  await events.end('unknown')
  await events.refresh?.('unknown')
  const unsubscribe = await bus.subscribe('t', () => {})
  await bus.publish('t', 'x')
  await unsubscribe()
  for (let n = 0; n < 3; n++) {
    await counters.increment('k', 60_000)
    await replays.add('p', 60_000)
  }
  const lease = { owner: 'one', duration: 1 }
  for (const id of ['leased', 'ended', 'claimed']) await tasks.create(id, '', 60_000, lease)
  await tasks.create('free', '', 60_000)
  await tasks.get('leased')
  await tasks.update('ended', 1, 'x', true)
  await tasks.renew('leased', { owner: 'one', duration: 60_000 })
  await expect.poll(() => tasks.claim({ owner: 'two', duration: 60_000 })).toMatchObject({ id: 'claimed' })
  await tasks.claim(lease)
}

/** What `COMMAND DOCS` returns about a command, an option or an argument. */
interface Docs {
  readonly since?: string
  readonly token?: string
  readonly arguments?: readonly Docs[]
}

function isNewer({ since = '1.0.0' }: Docs): boolean {
  const [major = 0, minor = 0] = since.split('.').map(Number)
  return major > 6 || (major === 6 && minor > 2)
}

/** Returns the words of options that are newer than the oldest version. The parts of a newer option are newer, too. */
function newerTokens({ arguments: args = [] }: Docs, isPartOfNewer = false): string[] {
  return args.flatMap((each) => {
    const isNew = isPartOfNewer || isNewer(each)
    return [...(each.token !== undefined && isNew ? [each.token] : []), ...newerTokens(each, isNew)]
  })
}

/** Returns the documentation of a command. Redis 6.2 has none, but has run the command. */
async function docsOf(admin: Awaited<ReturnType<typeof connectAdmin>>, name: string): Promise<Docs> {
  if (/redis_version:6/.test(await admin.info('server'))) return {}
  const replies = Object.values((await admin.sendCommand(['COMMAND', 'DOCS', name])) as object)
  expect(replies, name).toHaveLength(1)
  return replies[0]
}

/** Clients send these when they connect, and ignore that an old server refuses one. */
const OF_CLIENTS = ['CLIENT', 'HELLO', 'INFO', 'PING']

describe.skipIf(!hasRedis)('each method of a store', () => {
  it.each(Object.entries(connectBy))('has commands and options of Redis 6.2, over %s', async (_, connect) => {
    const server = await startRedis()
    const admin = await connectAdmin(server.port)
    const monitor = await connectAdmin(server.port)
    const connected = await connect(server.port)
    const store = redisStore(connected.client)
    onTestFinished(async () => {
      await store.close()
      connected.close()
      monitor.destroy()
      admin.destroy()
      await server.stop()
    })
    const used = new Map<string, Set<string>>()
    await monitor.monitor((line) => {
      const [name = '', ...args] = [...line.toString().matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word]) => String(word))
      const words = used.get(name.toUpperCase()) ?? new Set()
      used.set(name.toUpperCase(), words)
      for (const word of args) words.add(word.toUpperCase())
    })
    await useAll(store)
    await expect.poll(() => [...used.keys()]).toContain('UNSUBSCRIBE')
    for (const name of OF_CLIENTS) used.delete(name)
    // Commands of scripts are seen as well.
    expect([...used.keys()]).toEqual(expect.arrayContaining(['GETEX', 'EVAL', 'XADD', 'HINCRBY', 'ZRANGEBYSCORE']))
    for (const [name, words] of used) {
      const docs = await docsOf(admin, name)
      expect(isNewer(docs), `${name} came with ${docs.since}`).toBe(false)
      expect(
        newerTokens(docs).filter((token) => words.has(token)),
        name,
      ).toEqual([])
    }
  })

  it('leaves only keys with a time to live', async () => {
    const server = await startRedis()
    const admin = await connectAdmin(server.port)
    const connected = await connectBy.ioredis(server.port)
    const store = redisStore(connected.client)
    await useAll(store)
    await store.close()
    const keys: string[] = []
    for await (const batch of admin.scanIterator()) keys.push(...batch)
    expect(keys.length).toBeGreaterThan(10)
    for (const key of keys) {
      expect(key).toMatch(/^mcpx:/)
      expect(await admin.pTTL(key), key).toBeGreaterThan(0)
      expect(await admin.pTTL(key), key).toBeLessThanOrEqual(300_000)
    }
    connected.close()
    admin.destroy()
    await server.stop()
  })
})
