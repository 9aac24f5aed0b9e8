/** A server with one tool, one resource and one prompt at most, and the checks of our client with it. */

import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Driver } from '../driver.ts'
import { textOf } from '../feature.ts'
import type { ListeningServer } from './program.ts'
import type { Check } from './third-party.ts'

/** Listens on a free port of 127.0.0.1. */
export async function listen(listener: RequestListener): Promise<ListeningServer> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Checks the tool `add` of a server, alone and in many simultaneous calls. */
export async function checkAdd(check: Check, driver: Driver): Promise<void> {
  await check('lists and calls tools', async () => {
    assert.deepEqual(
      (await driver.listTools()).map(({ name }) => name),
      ['add'],
    )
    assert.equal(textOf(await driver.callTool('add', { a: 2, b: 3 })), '5')
  })
  await check('answers simultaneous calls', async () => {
    const calls = Array.from({ length: 20 }, (_, index) => driver.callTool('add', { a: index, b: 1 }))
    assert.deepEqual(
      (await Promise.all(calls)).map(textOf),
      Array.from({ length: 20 }, (_, index) => String(index + 1)),
    )
  })
}
