/** The contract of replay stores, which store the ids of used proofs. */

import type { ReplayStore } from '@mcpx/protocol'
import { checkEqual } from './check.ts'
import { type ContractCase, defineContract } from './contract.ts'
import type { StoreContractOptions } from './session-store-contract.ts'
import { delay, HOUR, withClockShifted } from './timing.ts'

/** Time to live of ids that must not expire during a case, in ms. */
const TTL = 60_000

/**
 * The cases that every replay store must pass.
 *
 * @param create Called for each try of a case; returns an empty store.
 */
export function replayStoreContract(
  create: () => ReplayStore | Promise<ReplayStore>,
  options: StoreContractOptions<ReplayStore> = {},
): readonly ContractCase[] {
  const { openSecond = (store) => store } = options
  return defineContract('A replay store', options, {
    async 'accepts an id once, whichever process stores it'() {
      const store = await create()
      const second = await openSecond(store)
      checkEqual('the first add("a")', await store.add('a', TTL), true)
      checkEqual('add("a") of the second store', await second.add('a', TTL), false)
      checkEqual('the next add("a")', await store.add('a', TTL), false)
    },

    async 'distinguishes ids, also names such as "__proto__"'() {
      const store = await create()
      for (const id of ['a', 'A', 'aa', '__proto__', 'constructor']) {
        checkEqual(`the first add(${JSON.stringify(id)})`, await store.add(id, TTL), true)
      }
    },

    async 'accepts an id in exactly one of 50 concurrent calls of two processes'() {
      const store = await create()
      const second = await openSecond(store)
      const calls = Array.from({ length: 50 }, async (_, n) => (n % 2 ? store : second).add('a', TTL))
      const accepted = (await Promise.all(calls)).filter(Boolean)
      checkEqual('the number of calls that returned true', accepted.length, 1)
    },

    async 'forgets ids while others are stored'() {
      const store = await create()
      const ids = Array.from({ length: 50 }, (_, n) => `a${n}`)
      for (const id of ids) await store.add(id, 300)
      const end = performance.now() + 400
      for (let n = 0; performance.now() < end; n++) {
        checkEqual(`the first add("b${n}")`, await store.add(`b${n}`, TTL), true)
        await delay(10)
      }
      const again = await Promise.all(ids.map((id) => store.add(id, TTL)))
      checkEqual('the ids that were refused after 300 ms', again.filter((isNew) => !isNew).length, 0)
    },

    async 'forgets an id after its time to live, which a refused call does not restart'() {
      const store = await create()
      await store.add('a', 400)
      await delay(250)
      checkEqual('add("a") after 250 ms with a time to live of 400 ms', await store.add('a', 400), false)
      await delay(250)
      checkEqual('add("a") after 500 ms with a time to live of 400 ms', await store.add('a', 400), true)
    },
    ...(options.openSecond && {
      async 'measures times to live by its own clock, not by that of a process'() {
        const store = await create()
        const second = await openSecond(store)
        await withClockShifted(-HOUR, () => store.add('a', TTL))
        const again = await withClockShifted(HOUR, () => second.add('a', TTL))
        checkEqual('add("a") of a process whose clock is two hours ahead', again, false)
      },
    }),
  })
}
