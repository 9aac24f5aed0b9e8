/** The contract of stores with two clients of one library, as two processes have. */

import { describeContract, storeContract } from '@mcpx/testing'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type RedisStore, redisStore } from './index.ts'
import type { Connected } from './redis.fixture.ts'

/**
 * Runs the contract. Returns a function that opens a store of the first client.
 *
 * @param interrupt closes the connections for subscriptions
 */
export function describeStore(
  library: string,
  connect: () => Promise<Connected>,
  interrupt: () => Promise<void>,
): (prefix: string) => RedisStore {
  const clients: Connected[] = []
  const prefixes = new Map<RedisStore, string>()
  let count = 0
  beforeAll(async () => void clients.push(await connect(), await connect()))
  afterAll(() => {
    for (const { close } of clients) close()
  })

  function open(prefix: string, client = 0): RedisStore {
    const store = redisStore((clients[client] as Connected).client, { prefix })
    prefixes.set(store, prefix)
    return store
  }

  describeContract(
    `the store over ${library}`,
    storeContract(() => open(`${library}:${count++}:`), {
      openSecond: (store) => open(prefixes.get(store as RedisStore) ?? '', 1),
      interrupt,
      waitForDelivery: () => new Promise((resolve) => setTimeout(resolve, 300)),
    }),
    { describe, it },
  )
  return open
}
