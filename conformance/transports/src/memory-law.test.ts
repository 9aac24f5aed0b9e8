/**
 * A server with default limits and a heap of 256 MB survives every flood of requests by a client without credentials, and
 * answers another caller within a second meanwhile. These floods send as much as the server reads in five seconds, and at most
 * the number of requests in `strangers.fixture.ts`: 10,000 requests of 4 MB are 40 GB. Bodies of 4 MB are sent until the limits
 * of one caller are reached, and further on, by all methods. `memory-law-requests.test.ts` sends each small request 10,000 times.
 */

import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { delay } from '@mcpx/testing'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { killHosts, startHost } from './hosts.fixture.ts'
import { expectAnswersInTime, FloodedServer } from './memory-law.fixture.ts'
import { dial, raw, rawModern } from './sockets.fixture.ts'
import { floods } from './strangers.fixture.ts'

vi.setConfig({ testTimeout: 300_000 })

afterAll(killHosts)

describe('a server with a heap of 256 MB survives', () => {
  it.each(floods)('$name', async (flood) => {
    await expectAnswersInTime(async () => {
      // Calls of one flood may wait for clients that are gone, and use the share of the next one.
      const server = await FloodedServer.start()
      try {
        return await server.survive(flood)
      } finally {
        await server.close()
      }
    })
  })
})

it('a busy server loses no connections that the system can hold', async () => {
  const held = Number(await readFile('/proc/sys/net/core/somaxconn', 'utf8').catch(() => '0'))
  const count = Math.min(1_500, held)
  const busy = await startHost()
  busy.child.kill('SIGSTOP')
  const sockets = Array.from({ length: count }, () => connect(busy.port, '127.0.0.1'))
  const connected = Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const isInTime = await Promise.race([connected.then(() => true), delay(30_000).then(() => false)])
  busy.child.kill('SIGCONT')
  for (const socket of sockets) socket.destroy()
  expect(isInTime).toBe(true)
})

it('a server responds to requests that arrive together, although their results do not fit into its heap together', async () => {
  const limits = { unreadBytes: 1024 * 1024 * 1024, perCaller: 1 }
  const small = await startHost({ heap: 128, serve: { limits } })
  const [count, size] = [60, 2_500_000]
  const sockets = await Promise.all(Array.from({ length: count }, () => dial(small.port)))
  // The process reads all requests at once when it continues, as on a busy machine.
  small.child.kill('SIGSTOP')
  for (const [id, { socket }] of sockets.entries()) {
    socket.write(raw(rawModern.body(id, 'big', { size }), { ...rawModern.headers('big'), connection: 'close' }))
  }
  small.child.kill('SIGCONT')
  const texts = await Promise.all(sockets.map(({ closed }) => closed))
  expect(small.stderr).not.toContain('heap')
  expect(texts.filter((text) => text.startsWith('HTTP/1.1 200') && text.length > size)).toHaveLength(count)
})
