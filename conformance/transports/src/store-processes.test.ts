/** The contract of stores with two processes. The clock of the second process is an hour ahead. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@mcpx/protocol'
import { delay, describeContract, storeContract } from '@mcpx/testing'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type RunningWorker, startWorker } from '../../../packages/store-cloudflare/src/workerd.fixture.ts'
import {
  connectAdmin,
  hasRedis,
  type RedisServer,
  startRedis,
} from '../../../packages/store-redis/src/redis.fixture.ts'
import { type StoreProcess, startStoreProcess } from './remote-store.fixture.ts'
import type { StoreSettings } from './store-process.fixture.ts'

const HOUR = 3_600_000
/** The machine may be busy. */
const TIMEOUT = 10_000

let first: StoreProcess
let second: StoreProcess
let count = 0
beforeAll(() => {
  first = startStoreProcess()
  second = startStoreProcess(HOUR)
})
afterAll(() => {
  first.stop()
  second.stop()
})

/**
 * Runs the cases for stores with these settings in two processes. `settings` returns the settings of an empty store.
 */
function casesOf(settings: () => readonly [StoreSettings, StoreSettings], interrupt?: () => Promise<void>) {
  const opened = new Map<Store, StoreSettings>()
  async function create(): Promise<Store> {
    const [own, other] = settings()
    const store = await first.open(own)
    opened.set(store, other)
    return store
  }
  return storeContract(create, {
    openSecond: (store) => second.open(opened.get(store) as StoreSettings),
    interrupt,
    waitForDelivery: () => delay(300),
    timeout: TIMEOUT,
  })
}

describe.skipIf(!hasRedis)('two processes with Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.stop())

  function settings(): readonly [StoreSettings, StoreSettings] {
    count += 1
    const shared = { kind: 'redis', port: redis.port, prefix: `${count}:` } as const
    return [
      { ...shared, library: '@redis/client' },
      { ...shared, library: 'ioredis' },
    ]
  }

  async function interrupt(): Promise<void> {
    const admin = await connectAdmin(redis.port)
    await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub'])
    admin.destroy()
  }
  describeContract('the store', casesOf(settings, interrupt), { describe, it })
})

describe('two processes with a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'store-processes-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function settings(): readonly [StoreSettings, StoreSettings] {
    count += 1
    const shared = { kind: 'sqlite', file: join(folder, `${count}.db`) } as const
    return [shared, shared]
  }
  describeContract('the store', casesOf(settings), { describe, it })
})

describe('two processes with Durable Objects', () => {
  let worker: RunningWorker
  beforeAll(async () => {
    const entry = new URL('../../../packages/store-cloudflare/src/worker.fixture.ts', import.meta.url)
    worker = await startWorker(entry, { STORE: 'TestStore' })
  }, TIMEOUT)
  afterAll(() => worker?.stop())

  function settings(): readonly [StoreSettings, StoreSettings] {
    count += 1
    const shared = { kind: 'objects', port: worker.port, prefix: `${count}:` } as const
    return [shared, shared]
  }
  describeContract('the store', casesOf(settings), { describe, it })
})
