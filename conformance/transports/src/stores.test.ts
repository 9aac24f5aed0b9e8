/** Runs the store contract with the stores of `stores.fixture.ts`. */

import type { Store } from '@mcpx/protocol'
import { delay, describeContract, storeContract } from '@mcpx/testing'
import { afterAll, describe, it } from 'vitest'
import { startStoreProcess } from './remote-store.fixture.ts'
import { openStores } from './stores.fixture.ts'

const owner = startStoreProcess()
afterAll(() => owner.stop())

const ports = new WeakMap<Store, number>()

/** Opens the stores of a port over a separate connection. */
async function open(port: number): Promise<Store> {
  const store = await openStores(port)
  ports.set(store, port)
  return store
}

async function create(): Promise<Store> {
  return open(await owner.serve())
}

const cases = storeContract(create, {
  openSecond: (store) => open(ports.get(store) as number),
  waitForDelivery: () => delay(30),
})
describeContract('a store over a socket', cases, { describe, it })
