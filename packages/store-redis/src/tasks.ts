/** The task store: one hash for each task, and sorted sets of the leases. */

import type { StoredTask, TaskLease, TaskStore } from '@mcpx/protocol'
import { type Redis, wholeMs } from './redis.ts'

/**
 * The number of sorted sets. Hash tags keep a task and its lease on the same server of a cluster. More sets distribute
 * tasks better, but each set costs one command when a process looks for lapsed leases.
 */
const SHARDS = 16

/** How many lapsed leases of one set a process tries to claim before it reads the set again. */
const BATCH = 20

/** The time by the clock of Redis, in ms. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`

/** Begins a lease. The set of leases expires after its last task. */
const HOLD = `${NOW}
local function hold(id, duration)
  redis.call('ZADD', KEYS[2], now + duration, id)
  local ttl = redis.call('PTTL', KEYS[1])
  if redis.call('PTTL', KEYS[2]) < ttl then redis.call('PEXPIRE', KEYS[2], ttl) end
end`

/** Arguments: id, data, ttl, then owner and duration of the lease if there is one. */
const CREATE = `${HOLD}
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'version', 1, 'data', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if ARGV[4] then
  redis.call('HSET', KEYS[1], 'owner', ARGV[4])
  hold(ARGV[1], ARGV[5])
end
return 1`

const GET = `
local task = redis.call('HMGET', KEYS[1], 'version', 'data', 'owner')
if not task[1] then return false end
return {task[1], task[2], task[3], redis.call('PTTL', KEYS[1])}`

/** Arguments: id, version, data, and 1 if the lease ends. */
const UPDATE = `
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[2] then return 0 end
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HSET', KEYS[1], 'data', ARGV[3])
if ARGV[4] == '1' then
  redis.call('HDEL', KEYS[1], 'owner')
  redis.call('ZREM', KEYS[2], ARGV[1])
end
return 1`

/** Arguments: id, owner, duration. Returns the version. */
const RENEW = `${HOLD}
local task = redis.call('HMGET', KEYS[1], 'version', 'owner')
if task[2] ~= ARGV[2] then return false end
hold(ARGV[1], ARGV[3])
return tonumber(task[1])`

/** Returns the ids of tasks whose leases have lapsed. */
const LAPSED = `${NOW}
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])`

/** Arguments: id, owner, duration. Returns false if another process was faster, or the task has expired. */
const CLAIM = `${HOLD}
local lapsed = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not lapsed or tonumber(lapsed) > now then return false end
local data = redis.call('HGET', KEYS[1], 'data')
if not data then
  redis.call('ZREM', KEYS[2], ARGV[1])
  return false
end
local version = redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HSET', KEYS[1], 'owner', ARGV[2])
hold(ARGV[1], ARGV[3])
return {version, data, ARGV[2], redis.call('PTTL', KEYS[1])}`

/** Stores tasks. Each method is one script, except `claim`. */
export class RedisTaskStore implements TaskStore {
  readonly #redis: Redis
  /** The set of leases that is searched first. */
  #next = Math.floor(Math.random() * SHARDS)

  constructor(redis: Redis) {
    this.#redis = redis
  }

  async create(id: string, data: string, ttl: number, lease?: TaskLease): Promise<void> {
    const held = lease === undefined ? [] : [lease.owner, wholeMs(lease.duration)]
    const created = await this.#redis.run(CREATE, this.#keysOf(id), id, data, wholeMs(ttl), ...held)
    if (created === 0) throw new Error('A task with this id exists already')
  }

  async get(id: string): Promise<StoredTask | undefined> {
    return toTask(id, await this.#redis.run(GET, this.#keysOf(id)[0]))
  }

  async update(id: string, version: number, data: string, ends = false): Promise<boolean> {
    return (await this.#redis.run(UPDATE, this.#keysOf(id), id, version, data, ends ? 1 : 0)) === 1
  }

  async renew(id: string, { owner, duration }: TaskLease): Promise<number | undefined> {
    const version = await this.#redis.run(RENEW, this.#keysOf(id), id, owner, wholeMs(duration))
    return (version as number | null) ?? undefined
  }

  async claim(lease: TaskLease): Promise<StoredTask | undefined> {
    const first = this.#next
    for (let searched = 0; searched < SHARDS; searched++) {
      // After a failure the next call begins with the next set, which may be on another server.
      this.#next = (first + searched + 1) % SHARDS
      const shard = (first + searched) % SHARDS
      const task = await this.#claimOf(shard, lease)
      if (task === undefined) continue
      this.#next = shard
      return task
    }
    return undefined
  }

  /** Claims a task of one set. */
  async #claimOf(shard: number, { owner, duration }: TaskLease): Promise<StoredTask | undefined> {
    for (;;) {
      const ids = (await this.#redis.run(LAPSED, this.#leasesOf(shard), BATCH)) as string[]
      for (const id of ids) {
        const task = toTask(id, await this.#redis.run(CLAIM, this.#keysOf(id), id, owner, wholeMs(duration)))
        if (task !== undefined) return task
      }
      if (ids.length < BATCH) return undefined
    }
  }

  #leasesOf(shard: number): string {
    return `${this.#redis.prefix}tasks:{${shard}}:leases`
  }

  /** Returns the keys of a task and of the set of its lease. */
  #keysOf(id: string): readonly [task: string, leases: string] {
    const shard = shardOf(id)
    return [`${this.#redis.prefix}tasks:{${shard}}:task:${id}`, this.#leasesOf(shard)]
  }
}

/** Returns the number of the set that has the lease of a task. */
function shardOf(id: string): number {
  let hash = 0
  for (let index = 0; index < id.length; index++) hash = (hash * 31 + id.charCodeAt(index)) % 65_536
  return hash % SHARDS
}

function toTask(id: string, reply: unknown): StoredTask | undefined {
  if (reply === null) return undefined
  const [version, data, owner, ttl] = reply as [string | number, string, string | null, number]
  return { id, version: Number(version), data, owner: owner ?? undefined, ttl }
}
