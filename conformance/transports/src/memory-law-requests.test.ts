/**
 * A server with default limits and a heap of 256 MB survives every request of a client without credentials, 10,000 times, with
 * the longest values that are allowed, and answers another caller within a second meanwhile. 20 connections send the requests
 * of a kind, with at most 25 unanswered ones each, until all are answered, or for five seconds on a busy machine. Larger values
 * are sent by `memory-law.test.ts`.
 */

import { afterAll, beforeAll, describe, it, vi } from 'vitest'
import { killHosts } from './hosts.fixture.ts'
import { expectAnswersInTime, FloodedServer } from './memory-law.fixture.ts'
import { requests } from './requests.fixture.ts'

vi.setConfig({ testTimeout: 300_000 })

let server: FloodedServer
beforeAll(async () => {
  server = await FloodedServer.start()
})
afterAll(killHosts)

describe('a server with a heap of 256 MB survives 10,000 requests', () => {
  it.each(requests)('$name', (request) => {
    return expectAnswersInTime(() => server.survive({ ...request, sockets: 20, each: 500, window: 25, reads: true }))
  })
})
