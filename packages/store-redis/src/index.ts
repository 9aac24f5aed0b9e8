/** Stores the state that the processes of a server share, in Redis or Valkey. */

import {
  type CounterStore,
  checkStoreOptions,
  type RecordStore,
  type ReplayStore,
  type Store,
  type TaskStore,
} from '@mcpx/protocol'
import { RedisEventBus } from './bus.ts'
import type { RedisClient } from './clients.ts'
import { RedisEventStore } from './events.ts'
import { Redis, RedisStoreError, type RedisStoreOptions, wholeMs } from './redis.ts'
import { RedisTaskStore } from './tasks.ts'

export type { IoRedisClient, IoRedisCluster, NodeRedisClient, NodeRedisCluster, RedisClient } from './clients.ts'
export { RedisStoreError, type RedisStoreOptions } from './redis.ts'

/** A store in Redis. */
export interface RedisStore extends Store {
  /** Tasks. */
  readonly tasks: TaskStore
  /** Ends all subscriptions and followed streams, and closes their connection. The client stays connected. */
  close(): Promise<void>
}

/**
 * Creates a store in Redis 6.2 or newer, or in Valkey, for one server or a cluster.
 *
 * @param client A connected client of `@redis/client` (or `redis`) or `ioredis`. The store opens a second connection with
 * the same settings for its subscriptions, when it is first needed.
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): RedisStore {
  checkStoreOptions('redisStore', options, ['timeout', 'eventTtl', 'maxEvents'])
  const redis = new Redis(client, options)
  const bus = new RedisEventBus(redis)
  const events = new RedisEventStore(redis, bus, options.eventTtl ?? 300_000, options.maxEvents ?? 1_000)
  return {
    sessions: recordStore(redis, 'session'),
    records: recordStore(redis, 'record'),
    events,
    bus,
    counters: counterStore(redis),
    replays: replayStore(redis),
    tasks: new RedisTaskStore(redis),
    async close() {
      events.close()
      redis.close()
      await bus.close()
    },
  }
}

/** Replaces a record if it has the expected content. If another process has changed it, returns the newest record. */
const REPLACE = `
local newest = redis.call('GET', KEYS[1])
if newest ~= ARGV[1] then return newest end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1`

/** How often other processes may change a record during one update of it. */
const MAX_CONFLICTS = 1_000

function recordStore<T extends object>(redis: Redis, kind: string): RecordStore<T> {
  const keyOf = (id: string) => `${redis.prefix}${kind}:${id}`
  return {
    async create(id, state, ttl) {
      const stored = await redis.send('SET', keyOf(id), JSON.stringify(state), 'PX', wholeMs(ttl), 'NX')
      if (stored === null) throw new Error('A record with this id exists already')
    },
    async get(id, ttl) {
      const key = keyOf(id)
      const text = ttl === undefined ? await redis.send('GET', key) : await redis.send('GETEX', key, 'PX', wholeMs(ttl))
      return typeof text === 'string' ? JSON.parse(text) : undefined
    },
    async update(id, change) {
      let text = await redis.send('GET', keyOf(id))
      for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
        if (typeof text !== 'string') return undefined
        const state: T = JSON.parse(text)
        change(state)
        const replaced = await redis.run(REPLACE, keyOf(id), text, JSON.stringify(state))
        if (replaced === 1) return state
        text = replaced
      }
      throw new RedisStoreError(`A record was changed ${MAX_CONFLICTS} times by others during one update`)
    },
    async delete(id) {
      return (await redis.send('UNLINK', keyOf(id))) === 1
    },
  }
}

/** Returns the count, and the rest of the window in ms by the clock of Redis. */
const INCREMENT = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}`

function counterStore(redis: Redis): CounterStore {
  return {
    async increment(key, window) {
      const reply = await redis.run(INCREMENT, `${redis.prefix}count:${key}`, wholeMs(window))
      const [count, rest] = reply as [number, number]
      return { count, resetsAt: Date.now() + rest }
    },
  }
}

function replayStore(redis: Redis): ReplayStore {
  return {
    async add(id, ttl) {
      return (await redis.send('SET', `${redis.prefix}replay:${id}`, '', 'PX', wholeMs(ttl), 'NX')) !== null
    },
  }
}
