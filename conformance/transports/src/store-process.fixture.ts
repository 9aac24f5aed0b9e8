/**
 * A process with stores. Another process uses them by messages: `fork('store-process.fixture.ts', [shift])`. The clock
 * of the process differs from the clock of the machine by `shift` ms.
 */

import { DatabaseSync } from 'node:sqlite'
import type { RecordStore, Store } from '@mcpx/protocol'
import { durableObjectStore } from '@mcpx/store-cloudflare'
import { redisStore } from '@mcpx/store-redis'
import { sqliteStore } from '@mcpx/store-sqlite'
import { objectsAt } from '../../../packages/store-cloudflare/src/workerd.fixture.ts'
import { type Connected, connectBy } from '../../../packages/store-redis/src/redis.fixture.ts'
import { serveStores } from './stores.fixture.ts'

/** A store that a process opens. */
export type StoreSettings =
  | { readonly kind: 'redis'; readonly library: keyof typeof connectBy; readonly port: number; readonly prefix: string }
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'objects'; readonly port: number; readonly prefix: string }

/**
 * A message to this process. `store` is the number that `open` has returned. `name` is the number of a subscription.
 */
export interface StoreRequest {
  readonly id: number
  readonly operation: keyof typeof operations
  readonly args: readonly unknown[]
}

/** A message from this process: the result of a request, or an event of a subscription. */
export type StoreReply =
  | { readonly id: number; readonly value?: unknown; readonly failed?: string }
  | { readonly name: number; readonly message?: string; readonly event?: object; readonly failed?: string }

const clients = new Map<string, Promise<Connected>>()
const databases: DatabaseSync[] = []
const stores: Store[] = []
const ends = new Map<number, () => unknown>()
const send = (reply: StoreReply) => void process.send?.(reply)

export async function openStore(settings: StoreSettings): Promise<Store> {
  if (settings.kind === 'sqlite') {
    const database = new DatabaseSync(settings.file)
    databases.push(database)
    return sqliteStore(database)
  }
  const { port, prefix } = settings
  if (settings.kind === 'objects') return durableObjectStore(objectsAt(port), { prefix })
  const { library } = settings
  const connecting = clients.get(`${library} ${port}`) ?? connectBy[library](port)
  clients.set(`${library} ${port}`, connecting)
  return redisStore((await connecting).client, { prefix })
}

/** Closes what stores do not close: the clients and databases that they were created with. */
export async function closeClients(): Promise<void> {
  for (const client of clients.values()) (await client).close()
  for (const database of databases) database.close()
}

const storeOf = (index: number) => stores[index] as Store

const operations = {
  open: async (settings: StoreSettings) => stores.push(await openStore(settings)) - 1,
  serve: async () => (await serveStores()).port,
  call(store: number, part: Exclude<keyof Store, 'close'>, method: string, ...args: unknown[]) {
    const owner = storeOf(store)[part] as unknown as Record<string, (...args: unknown[]) => unknown>
    return owner[method]?.(...args)
  },
  /** Replaces a record if it still has the expected value. Returns whether it was replaced. */
  async replace(store: number, part: 'sessions' | 'records', id: string, expected: string, next: object) {
    let isExpected = false
    await (storeOf(store)[part] as RecordStore<Record<string, unknown>>).update(id, (state) => {
      isExpected = JSON.stringify(state) === expected
      if (!isExpected) return
      for (const name of Object.keys(state)) delete state[name]
      Object.assign(state, next)
    })
    return isExpected
  },
  async subscribe(name: number, store: number, topic: string) {
    const { bus } = storeOf(store)
    const onMessage = (message: string) => send({ name, message })
    ends.set(name, await bus.subscribe(topic, onMessage, () => send({ name })))
  },
  follow(name: number, store: number, lastEventId: string) {
    const controller = new AbortController()
    ends.set(name, () => controller.abort())
    const read = async () => {
      for await (const event of storeOf(store).events.follow(lastEventId, controller.signal)) send({ name, event })
    }
    void read().then(
      () => send({ name }),
      (error: Error) => send({ name, failed: error.message }),
    )
  },
  async end(name: number) {
    await ends.get(name)?.()
    ends.delete(name)
  },
  close: (store: number) => storeOf(store).close?.(),
}

if (process.argv[1] === import.meta.filename) {
  const shift = Number(process.argv[2] ?? 0)
  const { now } = Date
  Date.now = () => now() + shift
  process.on('message', async ({ id, operation, args }: StoreRequest) => {
    try {
      const run = operations[operation] as (...args: unknown[]) => unknown
      send({ id, value: await run(...args) })
    } catch (error) {
      send({ id, failed: (error as Error).message })
    }
  })
  process.on('disconnect', () => process.exit())
}
