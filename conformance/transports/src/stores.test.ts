/** The stores that the tests of several processes share are stores as any other. */

import { delay, describeContract, eventBusContract, eventStoreContract, sessionStoreContract } from '@mcpx/testing'
import { afterAll, describe, it } from 'vitest'
import { keepStores, openStores, type Stores } from './stores.fixture.ts'

const closers: (() => void)[] = []
afterAll(() => {
  for (const close of closers) close()
})

const ports = new WeakMap<object, number>()

/** One of the stores, over a connection of its own. */
async function open<Name extends keyof Stores>(name: Name, at?: number): Promise<Stores[Name]> {
  let port = at
  if (port === undefined) {
    const keeper = await keepStores()
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
