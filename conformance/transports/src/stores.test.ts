/** The stores that the tests of several processes share are stores as any other. */

import { delay, eventBusContract, eventStoreContract, sessionStoreContract } from '@mcpx/testing'
import { afterAll } from 'vitest'
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

sessionStoreContract('a socket', { create: () => open('store'), twin: (store) => open('store', ports.get(store)) })
eventStoreContract('a socket', { create: () => open('events'), twin: (events) => open('events', ports.get(events)) })
eventBusContract('a socket', {
  create: () => open('bus'),
  twin: (bus) => open('bus', ports.get(bus)),
  settle: () => delay(30),
})
