import { spawn } from 'node:child_process'
import { getEventListeners, once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RedisClient } from './clients.ts'
import { RedisStoreError, redisStore } from './index.ts'
import { type Connected, connectAdmin, connectBy, hasRedis, type RedisServer, startRedis } from './redis.fixture.ts'

describe('options', () => {
  const client = { call: async () => null, duplicate: () => undefined } as unknown as RedisClient

  it.each([
    [{ timeout: 0 }, 'timeout: expected a whole number from 1 to 2147483647, got 0'],
    [{ maxEvents: 1.5 }, 'maxEvents: expected a whole number from 1 to 2147483647, got 1.5'],
    [{ eventTtl: Number.NaN }, 'eventTtl: expected a whole number from 1 to 2147483647, got NaN'],
    [{ prefix: 5 }, 'prefix: expected a string, got number'],
    [
      { ttl: 5 },
      'redisStore: there is no option "ttl"; expected one of prefix, timeout, eventTtl, maxEvents, onWarning',
    ],
  ])('refuses %o', (options, message) => {
    expect(() => redisStore(client, options as never)).toThrow(message)
  })

  it.each([undefined, null, 'redis://127.0.0.1', {}, { sendCommand() {} }])('refuses %o as a client', (value) => {
    expect(() => redisStore(value as never)).toThrow('redisStore: expected a connected client of @redis/client 6 or')
  })
})

describe('errors of commands in scripts', () => {
  const inScript = 'ERR Error running script (call to f_e3fd): @user_script:1:'

  it.each([
    // Redis 6.2
    [`${inScript} WRONGTYPE Operation against a key`, 'WRONGTYPE .* choose another `prefix`', false],
    [`${inScript} @user_script: 1: -OOM command not allowed.`, 'OOM command not allowed. Redis is full: ', false],
    [
      `${inScript} @user_script: 1: -READONLY a replica.`,
      'READONLY a replica. Connect the client to the primary',
      false,
    ],
    [`${inScript} @user_script: 1: -MASTERDOWN Link is down.`, 'MASTERDOWN Link is down$', true],
    [`${inScript} @user_script: 1: The user can't run this command`, '.* the right to run this command', false],
    [`${inScript} @user_script: 1: something else`, 'something else$', false],
    // Redis 7
    ["ERR The user executing the script can't run this command or subcommand", '.* the right to run this', false],
    // Valkey 8
    ["ERR ACL failure in script: no permissions to run the 'incr' command", '.* the right to run this', false],
  ])('%s', async (reply, message, retryable) => {
    const client = { call: () => Promise.reject(new Error(reply)), duplicate: () => undefined }
    const store = redisStore(client as unknown as RedisClient)
    await expect(store.counters.increment('k', 1_000)).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`^EVAL: ${message}`)),
      retryable,
    })
  })
})

describe.skipIf(!hasRedis).each(Object.entries(connectBy))('a store over %s', (library, connect) => {
  let server: RedisServer
  let connected: Connected
  beforeEach(async () => {
    server = await startRedis()
    connected = await connect(server.port)
  })
  afterEach(async () => {
    connected.close()
    await server.stop()
  })

  it('gives every key a time to live and the prefix', async () => {
    const store = redisStore(connected.client, { prefix: 'shop:' })
    await store.sessions.create('a', {}, 60_000)
    await store.sessions.update('a', (state) => void Object.assign(state, { subject: 's' }))
    await store.events.append('s', 'x')
    await store.events.end('s')
    await store.counters.increment('k', 60_000)
    await store.replays.add('p', 60_000)
    await store.tasks.create('t', 'x', 60_000, { owner: 'one', duration: 1 })
    await store.tasks.update('t', 1, 'y')
    await store.tasks.renew('t', { owner: 'one', duration: 1 })
    await expect.poll(() => store.tasks.claim({ owner: 'two', duration: 1_000 })).toMatchObject({ version: 3 })
    const admin = await connectAdmin(server.port)
    const keys = await admin.keys('*')
    const taskKeys = ['leases', 'task:t'].map((name) => expect.stringMatching(`^shop:tasks:\\{\\d+\\}:${name}$`))
    expect(keys.sort()).toEqual(['shop:count:k', 'shop:events:s', 'shop:replay:p', 'shop:session:a', ...taskKeys])
    for (const key of keys) expect(await admin.pTTL(key), key).toBeGreaterThan(50_000)
    admin.destroy()
  })

  it('keeps leases as long as the task that is kept longest, and none of a task that has ended or expired', async () => {
    const store = redisStore(connected.client)
    const admin = await connectAdmin(server.port)
    const lease = { owner: 'one', duration: 1 }
    const keys = async () => (await admin.keys('*')).sort()
    await store.tasks.create('a', '', 60_000, lease)
    await expect(store.tasks.create('a', '', 60_000, lease)).rejects.toThrow('A task with this id exists already')
    const [leases = '', task = ''] = await keys()
    // These ids have the same hash tag.
    await store.tasks.create('q', '', 200, lease)
    expect(await keys()).toHaveLength(3)
    expect(await admin.pTTL(leases)).toBeGreaterThan(59_000)
    await store.tasks.update('a', 1, 'result', true)
    expect(await keys()).toEqual([leases, task, expect.stringMatching('task:q')])
    expect(await admin.pTTL(leases)).toBeGreaterThan(59_000)
    await expect.poll(keys).toEqual([leases, task])
    expect(await store.tasks.claim(lease)).toBeUndefined()
    expect(await keys()).toEqual([task])
    admin.destroy()
    await store.close()
  })

  it('claims each of many lapsed tasks once, with few commands', async () => {
    const store = redisStore(connected.client)
    const admin = await connectAdmin(server.port)
    const ids = Array.from({ length: 300 }, (_, n) => `task ${String(n).padStart(3, '0')}`)
    await Promise.all(ids.map((id) => store.tasks.create(id, '', 60_000, { owner: 'dead', duration: 1 })))
    await new Promise((resolve) => setTimeout(resolve, 20))
    await admin.configResetStat()
    const claimed: string[] = []
    for (;;) {
      const task = await store.tasks.claim({ owner: 'one', duration: 60_000 })
      if (task === undefined) break
      claimed.push(task.id)
    }
    const [, calls] = /cmdstat_eval:calls=(\d+)/.exec(await admin.info('commandstats')) ?? []
    expect(claimed.sort()).toEqual(ids)
    // Two for each task, and one for each set of leases at each end.
    expect(Number(calls)).toBeLessThanOrEqual(2 * 300 + 2 * 16)
    admin.destroy()
    await store.close()
  })

  it('accepts times that are not whole numbers, or endless', async () => {
    const store = redisStore(connected.client)
    for (const ttl of [59_999.5, Number.POSITIVE_INFINITY]) {
      const id = String(ttl)
      await store.tasks.create(id, '', ttl, { owner: 'one', duration: ttl })
      expect(await store.tasks.renew(id, { owner: 'one', duration: ttl })).toBe(1)
      expect((await store.tasks.get(id))?.ttl).toBeGreaterThan(59_000)
      expect(await store.tasks.claim({ owner: 'two', duration: ttl })).toBeUndefined()
      await store.sessions.create(id, {}, ttl)
      expect(await store.sessions.get(id, ttl)).toEqual({})
      expect(await store.replays.add(id, ttl)).toBe(true)
      for (const count of [1, 2]) {
        const counted = await store.counters.increment(id, ttl)
        expect(counted.count).toBe(count)
        expect(counted.resetsAt).toBeGreaterThan(Date.now())
      }
    }
    const short = 100.5
    while ((await store.counters.increment('k', short)).count < 2);
    await expect.poll(async () => (await store.counters.increment('k', short)).count).toBe(1)
    await store.close()
  })

  it('tells refused commands, which are not repeated, from a Redis that is not ready', async () => {
    const store = redisStore(connected.client)
    const admin = await connectAdmin(server.port)
    const failing = async (call: () => unknown) => {
      try {
        await call()
      } catch (error) {
        return error
      }
      return 'no error'
    }
    await admin.set('mcpx:events:s', 'the string of another program')
    expect(await failing(() => store.events.append('s', 'x'))).toMatchObject({
      name: 'RedisStoreError',
      retryable: false,
      message: expect.stringMatching(/^EVAL: WRONGTYPE .*\. Another program uses this key: choose another `prefix`$/),
    })
    await admin.configSet('maxmemory', '1')
    expect(await failing(() => store.sessions.create('a', {}, 1_000))).toMatchObject({
      retryable: false,
      message: expect.stringMatching(
        /^SET: OOM .*\. Redis is full: raise its `maxmemory`, or shorten the times to live$/,
      ),
    })
    await admin.configSet('maxmemory', '0')
    await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    expect(await failing(() => store.counters.increment('k', 1_000))).toMatchObject({
      retryable: false,
      message: expect.stringMatching(/READONLY .*\. Connect the client to the primary server: this one is a replica$/),
    })
    await admin.configSet('replica-serve-stale-data', 'no')
    expect(await failing(() => store.sessions.get('a'))).toMatchObject({
      retryable: true,
      message: expect.stringMatching(/^GET: MASTERDOWN /),
    })
    await admin.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    await admin.sendCommand(['ACL', 'SETUSER', 'default', '-set'])
    expect(await failing(() => store.replays.add('p', 1_000))).toMatchObject({
      retryable: false,
      message: expect.stringMatching(/^SET: NOPERM .* right to run this command on keys and channels/),
    })
    admin.destroy()
    await store.close()
  })

  it('rejects within the time limit while Redis does not reply, and works when it replies again', async () => {
    const store = redisStore(connected.client, { timeout: 200 })
    server.pause()
    const calls = [
      () => store.sessions.get('a', 1_000),
      () => store.events.append('s', 'x'),
      () => store.bus.publish('t', 'x'),
      () => store.bus.subscribe('t', () => {}),
      () => store.tasks.update('t', 1, 'x'),
      () => store.tasks.claim({ owner: 'one', duration: 1_000 }),
    ]
    for (const call of calls) {
      const error = await Promise.resolve(call()).catch((reason) => reason)
      expect(error).toBeInstanceOf(RedisStoreError)
      expect(error.retryable).toBe(true)
      expect(error.message).toContain('Redis did not reply within 200 ms. Check the connection, or raise `timeout`')
    }
    server.resume()
    await store.sessions.create('b', {}, 60_000)
    expect(await store.sessions.get('b')).toEqual({})
    await store.close()
  })

  it('reports a gap after Redis was restarted, and receives what is published then', async () => {
    const warnings: Error[] = []
    const store = redisStore(connected.client, { onWarning: (warning) => warnings.push(warning) })
    const received: string[] = []
    await store.bus.subscribe(
      't',
      (message) => received.push(message),
      () => received.push('gap'),
    )
    await server.stop()
    server = await startRedis(server.port)
    await expect.poll(() => received, { timeout: 5_000 }).toEqual(['gap'])
    await store.bus.publish('t', 'x')
    await expect.poll(() => received).toEqual(['gap', 'x'])
    expect(warnings.length).toBeGreaterThan(0)
    await store.close()
  })

  it('uses one connection for all subscriptions and followed streams, and closes it with the store', async () => {
    const store = redisStore(connected.client)
    const stop = new AbortController()
    const id = await store.events.append('s', 'x')
    const followed = Promise.all(
      Array.from({ length: 20 }, async () => {
        for await (const { data } of store.events.follow(id, stop.signal)) throw new Error(`unexpected ${data}`)
      }),
    )
    for (let n = 0; n < 20; n++) await store.bus.subscribe(`t${n}`, () => {})
    const admin = await connectAdmin(server.port)
    // This one, the one of the caller, and the one for subscriptions.
    await expect.poll(async () => (await admin.clientList()).length).toBe(3)
    await store.close()
    await followed
    await expect.poll(async () => (await admin.clientList()).length).toBe(2)
    await expect(store.bus.subscribe('t', () => {})).rejects.toThrow('the store was closed')
    await expect(store.sessions.get('a')).rejects.toThrow('the store was closed')
    admin.destroy()
  })

  it('drops the oldest events of a stream beyond `maxEvents`', async () => {
    const store = redisStore(connected.client, { maxEvents: 100 })
    const first = await store.events.append('s', 'first')
    for (let n = 0; n < 500; n++) await store.events.append('s', String(n))
    expect(await store.events.replay(first)).toBeUndefined()
    await expect(async () => {
      for await (const _ of store.events.follow(first, new AbortController().signal)) break
    }).rejects.toThrow('follow: expected a stored event, got an unknown or dropped one')
  })

  it('unsubscribes at Redis after the last subscription of a topic ended', async () => {
    const store = redisStore(connected.client)
    const admin = await connectAdmin(server.port)
    const first = await store.bus.subscribe('t', () => {})
    const second = await store.bus.subscribe('t', () => {})
    await first()
    expect(await admin.pubSubChannels()).toEqual(['mcpx:bus:t'])
    await second()
    await expect.poll(() => admin.pubSubChannels()).toEqual([])
    admin.destroy()
    await store.close()
  })

  it('leaves no listener behind when a stream cannot be followed', async () => {
    const store = redisStore(connected.client, { timeout: 100 })
    const id = await store.events.append('s', 'x')
    const { signal } = new AbortController()
    server.pause()
    await expect(store.events.follow(id, signal)[Symbol.asyncIterator]().next()).rejects.toThrow(RedisStoreError)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    server.resume()
    await store.close()
  })

  it.each([0, 2_000])('lets its process exit after it was closed, when Redis has been away for %i ms', async (time) => {
    const program = fileURLToPath(new URL('process.fixture.ts', import.meta.url))
    const args = ['--conditions=source', '--no-warnings', program, library, String(server.port)]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    if (time > 0) await server.stop()
    await new Promise((resolve) => setTimeout(resolve, time))
    const started = performance.now()
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
    // A pause before the next attempt to connect would last up to 2,000 ms.
    expect(performance.now() - started).toBeLessThan(600)
    if (time > 0) server = await startRedis(server.port)
  })

  it('rejects commands that wait for a reply when it is closed', async () => {
    const store = redisStore(connected.client)
    server.pause()
    const waiting = expect(store.sessions.get('a')).rejects.toThrow('GET: the store was closed')
    await store.close()
    await waiting
    server.resume()
  })

  it('closes while Redis cannot be reached, and leaves no connection behind', async () => {
    const store = redisStore(connected.client, { timeout: 100 })
    await server.stop()
    await expect(store.bus.subscribe('t', () => {})).rejects.toThrow('SUBSCRIBE')
    await store.close()
    server = await startRedis(server.port)
    const admin = await connectAdmin(server.port)
    await new Promise((resolve) => setTimeout(resolve, 500))
    // This one, and the one of the caller.
    expect(await admin.clientList()).toHaveLength(2)
    admin.destroy()
  })
})
