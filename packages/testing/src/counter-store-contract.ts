/** The contract of counter stores, which count requests for rate limits. */

import type { CounterStore } from '@mcpx/protocol'
import { check, checkEqual } from './check.ts'
import { type ContractCase, defineContract } from './contract.ts'
import type { StoreContractOptions } from './session-store-contract.ts'
import { delay, HOUR, withClockShifted } from './timing.ts'

/** The length of a window that does not end during a case, in ms. */
const WINDOW = 60_000

/** How far two reports of the end of one window may differ, in ms. */
const TOLERANCE = 100

/**
 * The cases that every counter store must pass.
 *
 * @param create Called for each try of a case; returns an empty store.
 */
export function counterStoreContract(
  create: () => CounterStore | Promise<CounterStore>,
  options: StoreContractOptions<CounterStore> = {},
): readonly ContractCase[] {
  const { openSecond = (store) => store } = options
  return defineContract('A counter store', options, {
    async 'counts the requests of all processes in one window'() {
      const store = await create()
      const second = await openSecond(store)
      const counts = [await store.increment('a', WINDOW), await second.increment('a', WINDOW)]
      checkEqual(
        'the counts of two processes',
        counts.map(({ count }) => count),
        [1, 2],
      )
    },

    async 'counts each key alone, also names such as "__proto__"'() {
      const store = await create()
      for (const key of ['a', 'b', '__proto__', '', 'a b', 'a:b', 'é\n']) {
        const { count } = await store.increment(key, WINDOW)
        checkEqual(`the first increment(${JSON.stringify(key)})`, count, 1)
      }
    },

    async 'reports the end of the window, which further requests do not move'() {
      const store = await create()
      const before = Date.now()
      const first = await store.increment('a', WINDOW)
      await delay(3 * TOLERANCE)
      const second = await store.increment('a', WINDOW)
      for (const [n, { resetsAt }] of [first, second].entries()) {
        const isClose = Math.abs(resetsAt - before - WINDOW) <= 2 * TOLERANCE
        check(`resetsAt of count ${n + 1}`, isClose, `about ${before + WINDOW}`, resetsAt)
      }
    },

    async 'starts a new window after the end of the last one'() {
      const store = await create()
      await store.increment('a', 200)
      await delay(300)
      const { count } = await store.increment('a', 200)
      checkEqual('the count after the window of 200 ms', count, 1)
    },

    async 'starts new windows while other keys are counted'() {
      const store = await create()
      await store.increment('used', WINDOW)
      const keys = Array.from({ length: 50 }, (_, n) => `a${n}`)
      for (const key of keys) await store.increment(key, 300)
      const end = performance.now() + 400
      let used = 1
      while (performance.now() < end) {
        used += 1
        checkEqual('the count of the used key', (await store.increment('used', WINDOW)).count, used)
        await delay(10)
      }
      const counts = await Promise.all(keys.map(async (key) => (await store.increment(key, WINDOW)).count))
      checkEqual('the different counts after the windows of 300 ms', [...new Set(counts)], [1])
    },

    async 'loses none of 50 concurrent requests of two processes'() {
      const store = await create()
      const second = await openSecond(store)
      const counts = await Promise.all(
        Array.from({ length: 50 }, async (_, n) => (await (n % 2 ? store : second).increment('a', WINDOW)).count),
      )
      const expected = Array.from({ length: 50 }, (_, n) => n + 1)
      checkEqual(
        'the counts',
        counts.sort((left, right) => left - right),
        expected,
      )
    },
    ...(options.openSecond && {
      async 'measures windows by its own clock, and reports their end by that of the process'() {
        const store = await create()
        const second = await openSecond(store)
        await withClockShifted(-HOUR, () => store.increment('a', WINDOW))
        await withClockShifted(HOUR, async () => {
          const { count, resetsAt } = await second.increment('a', WINDOW)
          checkEqual('the count at a process whose clock is two hours ahead', count, 2)
          const rest = resetsAt - Date.now()
          check('the rest of the window', rest > WINDOW - 30_000 && rest <= WINDOW, `up to ${WINDOW}`, rest)
        })
      },
    }),
  })
}
