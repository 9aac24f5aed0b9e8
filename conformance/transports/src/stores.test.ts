/** Runs the store contracts with the stores of `stores.fixture.ts`. */

import { delay, describeContract, eventBusContract, eventStoreContract, sessionStoreContract } from '@mcpx/testing'
import { afterAll, describe, it } from 'vitest'
import { openStores, type Stores, serveStores } from './stores.fixture.ts'

const closers: (() => void)[] = []
afterAll(() => {
  for (const close of closers) close()
})

const ports = new WeakMap<object, number>()

/** Opens one of the stores over a separate connection. */
async function open<Name extends keyof Stores>(name: Name, at?: number): Promise<Stores[Name]> {
  let port = at
  if (port === undefined) {
    const keeper = await serveStores()
    closers.push(keeper.close)
    port = keeper.port
  }
  const stores = await openStores(port)
  closers.push(stores.close)
  ports.set(stores[name], port)
  return stores[name]
}

const runner = { describe, it }
const sessionStores = sessionStoreContract(() => open('store'), {
  openSecond: (store) => open('store', ports.get(store)),
})
const eventStores = eventStoreContract(() => open('events'), {
  openSecond: (events) => open('events', ports.get(events)),
})
const eventBuses = eventBusContract(() => open('bus'), {
  openSecond: (bus) => open('bus', ports.get(bus)),
  waitForDelivery: () => delay(30),
})
describeContract('a session store over a socket', sessionStores, runner)
describeContract('an event store over a socket', eventStores, runner)
describeContract('an event bus over a socket', eventBuses, runner)
