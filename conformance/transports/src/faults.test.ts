/** Each fault of the test kit, in both eras, over memory, HTTP and stdio. */

import { type Client, ConnectionError } from '@mcpx/client'
import type { Server } from '@mcpx/server'
import { createTest, type FaultOptions, faults } from '@mcpx/testing/server'
import { expect, it } from 'vitest'
import { createHost } from './host.fixture.ts'
import { connectors } from './kit.fixture.ts'

/** The transports with faults. */
const withFaults = (options: FaultOptions) =>
  Object.fromEntries(
    Object.entries(connectors).map(([name, open]) => [
      name,
      async (server: Server) => faults(await open(server), options),
    ]),
  )

const test = createTest(it, () => createHost().server)

/** Calls a tool several times. Returns `.` for each result and `x` for each call whose connection was cut. */
async function callOften(client: Client, times: number): Promise<string> {
  let outcome = ''
  for (let n = 0; n < times; n++) {
    try {
      expect((await client.callTool('echo', { text: `${n}` })).content).toMatchObject([{ text: `${n}` }])
      outcome += '.'
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      expect(error).toMatchObject({ reason: 'closed', retryable: true })
      expect(error.message).toContain('(seed 5)')
      outcome += 'x'
    }
  }
  return outcome
}

const outcomes = new Map<string, string>()
for (const run of ['once', 'again']) {
  test(`cuts connections, after which the client connects again: ${run}`, {
    transports: withFaults({ cut: 0.4, seed: 5 }),
  }, async ({ client, era, transport }) => {
    const outcome = await callOften(client, 6)
    expect(outcome).toMatch(/x.*\.|\..*x/)
    // The same seed cuts the same calls.
    const place = `${era} ${transport}`
    expect(outcome).toBe(outcomes.get(place) ?? outcome)
    outcomes.set(place, outcome)
  })
}

test('delays requests', { transports: withFaults({ delay: [40, 60] }) }, async ({ client }) => {
  const start = performance.now()
  await client.callTool('echo', { text: 'late' })
  expect(performance.now() - start).toBeGreaterThan(38)
})

test('repeats notifications', { transports: withFaults({ duplicate: 1 }) }, async ({ client }) => {
  const progress: number[] = []
  await client.callTool('count', { times: 3 }, { onProgress: (each) => void progress.push(each.progress) })
  expect(progress).toEqual([1, 1, 2, 2, 3, 3])
})

test('lets responses overtake each other', { transports: withFaults({ reorder: 0.5, seed: 3 }) }, async ({
  client,
}) => {
  const order: number[] = []
  const call = async (n: number) => {
    const { content } = await client.callTool('echo', { text: `${n}` })
    expect(content).toMatchObject([{ text: `${n}` }])
    order.push(n)
  }
  const all = [1, 2, 3, 4, 5, 6, 7, 8]
  await Promise.all(all.map(call))
  expect(order).not.toEqual(all)
  expect(order.toSorted()).toEqual(all)
})
