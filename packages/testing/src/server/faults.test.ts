import { connect } from '@mcpx/client'
import type { Connector } from '@mcpx/protocol'
import { memoryConnector } from '@mcpx/protocol/memory'
import { expect, it } from 'vitest'
import { catchError, delay } from '../timing.ts'
import { type FaultOptions, faults } from './faults.ts'
import { createTravelServer } from './travel.fixture.ts'

const connector = () => memoryConnector(createTravelServer())

/** Calls a tool 40 times. Returns `.` for each result and `x` for each lost connection. */
async function callOften(options: FaultOptions): Promise<string> {
  await using client = await connect(faults(connector(), options), { era: 'modern' })
  let outcome = ''
  for (let n = 0; n < 40; n++) {
    const error = await catchError(() => client.callTool('add', { a: n, b: n }))
    if (error !== undefined) expect(error).toMatchObject({ name: 'ConnectionError', reason: 'closed' })
    outcome += error === undefined ? '.' : 'x'
  }
  return outcome
}

it('cuts connections, and the same seed causes the same cuts', async () => {
  const first = await callOften({ cut: 0.2, seed: 3 })
  expect(first).toMatch(/x/)
  expect(first).toMatch(/\./)
  expect(await callOften({ cut: 0.2, seed: 3 })).toBe(first)
  expect(await callOften({ cut: 0.2, seed: 4 })).not.toBe(first)
})

it('causes the same faults for requests that run at once, however long their responses take', async () => {
  /** Sends 40 requests at once to a connection that responds and notifies after the given times. */
  async function outcomesWith(timeOf: (n: number) => number): Promise<string[]> {
    const slow: Connector = {
      connect: () => ({
        closed: new Promise(() => {}),
        close: async () => {},
        notify() {},
        async request(_, params, options) {
          const { n } = params as { n: number }
          await delay(timeOf(n))
          options?.onNotification?.({ jsonrpc: '2.0', method: 'notifications/progress', params: { n } })
          return n
        },
      }),
    }
    const connection = await faults(slow, { cut: 0.4, duplicate: 0.5, seed: 9 }).connect({} as never)
    const requests = Array.from({ length: 40 }, async (_, n) => {
      let notifications = 0
      const onNotification = () => {
        notifications += 1
      }
      const error = await catchError(() => connection.request('tools/call', { n }, { onNotification }))
      return `${n}: ${notifications} ${error ?? ''}`
    })
    return Promise.all(requests)
  }
  const outcomes = await outcomesWith(() => 0)
  expect(new Set(outcomes.map((each) => each.replace(/^\d+/, ''))).size).toBeGreaterThan(3)
  expect(await outcomesWith((n) => (n * 7) % 20)).toEqual(outcomes)
})

it('changes nothing without options', async () => {
  expect(await callOften({})).toBe('.'.repeat(40))
})

it('delays requests', async () => {
  await using client = await connect(faults(connector(), { delay: 30 }))
  const start = performance.now()
  await client.callTool('add', { a: 1, b: 1 })
  expect(performance.now() - start).toBeGreaterThan(25)
})

it('delays requests no longer than their timeouts, their signals and their connection last', async () => {
  const sent: string[] = []
  const counting: Connector = {
    async connect(options) {
      const connection = await connector().connect(options)
      return {
        closed: connection.closed,
        close: (reason) => connection.close(reason),
        notify: (...rest) => connection.notify(...rest),
        request: (method, ...rest) => {
          sent.push(method)
          return connection.request(method, ...rest)
        },
      }
    },
  }
  const connection = await faults(counting, { delay: 60_000 }).connect({} as never)
  const timedOut = catchError(() => connection.request('ping', {}, { timeout: 30, label: 'the ping' }))
  expect(await timedOut).toMatchObject({ reason: 'timeout', message: 'No response to the ping within 30 ms' })
  const stop = new AbortController()
  const cancelled = catchError(() => connection.request('ping', {}, { signal: stop.signal }))
  stop.abort()
  expect(await cancelled).toMatchObject({ reason: 'cancelled' })
  const closed = catchError(() => connection.request('ping', {}))
  await connection.close()
  expect(await closed).toMatchObject({ reason: 'closed' })
  expect(sent).toEqual([])
})

it('lists the faults, also those that retries hide', async () => {
  const cut = faults(connector(), { cut: 0.2, seed: 3 })
  await using client = await connect(cut, { era: 'modern' })
  const add = () => client.callTool('add', { a: 1, b: 1 })
  for (let n = 0; n < 10; n++) await add().catch(add).catch(add).catch(add)
  expect(cut.caused).toContainEqual({ kind: 'cut', method: 'tools/call' })

  const others = faults(connector(), { duplicate: 1, reorder: 1 })
  await using other = await connect(others, { onElicit: () => ({ action: 'decline' }) })
  await other.callTool('book', { to: 'Oslo' }, { onProgress: () => {} })
  expect(others.caused).toContainEqual({ kind: 'duplicate', method: 'notifications/progress' })
  expect(others.caused).toContainEqual({ kind: 'reorder', method: 'tools/call' })
  expect(faults(connector(), {}).caused).toEqual([])
})

it('repeats notifications', async () => {
  const progress: unknown[] = []
  await using client = await connect(faults(connector(), { duplicate: 1 }), { onElicit: () => ({ action: 'decline' }) })
  await client.callTool('book', { to: 'Oslo' }, { onProgress: (each) => progress.push(each) })
  expect(progress.length).toBeGreaterThan(1)
  expect(new Set(progress.map((each) => JSON.stringify(each))).size).toBe(1)
})

it('lets a response overtake another', async () => {
  const orders = new Set<string>()
  for (let seed = 1; seed <= 10; seed++) {
    await using client = await connect(faults(connector(), { reorder: 0.5, seed }))
    const order: number[] = []
    const call = async (n: number) => {
      await client.callTool('add', { a: n, b: 0 })
      order.push(n)
    }
    await Promise.all([1, 2, 3, 4].map(call))
    orders.add(order.join())
    expect(order.toSorted()).toEqual([1, 2, 3, 4])
  }
  expect(orders.size).toBeGreaterThan(1)
})

it.each([
  [{ cuts: 1 }, 'faults: there is no option "cuts"; did you mean "cut"?'],
  [{ cut: 2 }, 'faults, cut: expected a number from 0 to 1, got 2'],
  [{ seed: 1.5 }, 'faults, seed: expected an integer, got 1.5'],
  [{ cut: '0.5' }, 'faults, cut: expected a number from 0 to 1, got "0.5"'],
  [{ delay: [5, 1] }, 'faults, delay: expected ms from 0, or [from, to], got 5, 1'],
  [{ delay: [5] }, 'faults, delay: expected ms from 0, or [from, to], got 5'],
  [{ delay: Number.POSITIVE_INFINITY }, 'faults, delay: expected ms from 0, or [from, to], got Infinity'],
])('refuses %j', (options, problem) => {
  expect(() => faults(connector(), options as never)).toThrow(problem)
})
