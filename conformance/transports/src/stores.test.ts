/** Runs the store contract with the stores of `stores.fixture.ts`. */

import type { Store } from '@mcpx/protocol'
import { delay, describeContract, storeContract } from '@mcpx/testing'
import { afterAll, describe, it } from 'vitest'
import { openStores, serveStores } from './stores.fixture.ts'

const closers: (() => void)[] = []
afterAll(() => {
  for (const close of closers) close()
})

const ports = new WeakMap<Store, number>()

/** Opens the stores of a port over a separate connection. */
async function open(port: number): Promise<Store> {
  const store = await openStores(port)
  ports.set(store, port)
  return store
}

async function create(): Promise<Store> {
  const stores = await serveStores()
  closers.push(stores.close)
  return open(stores.port)
}

const cases = storeContract(create, {
  openSecond: (store) => open(ports.get(store) as number),
  waitForDelivery: () => delay(30),
})
describeContract('a store over a socket', cases, { describe, it })
