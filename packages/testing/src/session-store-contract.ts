/** The contract of stores for sessions and other records. */

import type { RecordStore, SessionStore } from '@mcpx/protocol'
import { check, checkEqual, checkError } from './check.ts'
import { type ContractCase, type ContractOptions, defineContract } from './contract.ts'
import { delay, HOUR, withClockShifted } from './timing.ts'

/** Options of the suites for stores and event buses. */
export interface StoreContractOptions<Store> extends ContractOptions {
  /**
   * Opens a second store over the same state, as another process would. Default: the same store is used twice, and the
   * cases of processes whose clocks differ are left out.
   */
  readonly openSecond?: ((store: Store) => Store | Promise<Store>) | undefined
}

/** Time to live of records that must not expire during a case, in ms. */
const TTL = 60_000

/**
 * The cases that every session store must pass. Records expire after 200 to 600 ms in some of them.
 *
 * @param create Called for each try of a case; returns an empty store.
 */
export function sessionStoreContract(
  create: () => SessionStore | Promise<SessionStore>,
  options: StoreContractOptions<SessionStore> = {},
): readonly ContractCase[] {
  return casesOf('A session store', create, options)
}

/**
 * The cases that every record store must pass. They are the same as for session stores. Records expire after 200 to 600
 * ms in some of them.
 *
 * @param create Called for each try of a case; returns an empty store.
 */
export function recordStoreContract(
  create: () => RecordStore | Promise<RecordStore>,
  options: StoreContractOptions<RecordStore> = {},
): readonly ContractCase[] {
  // The records of sessions are JSON objects like any other.
  const sessionOptions = options as unknown as StoreContractOptions<SessionStore>
  return casesOf('A record store', create as unknown as () => SessionStore, sessionOptions)
}

function casesOf(
  kind: string,
  create: () => SessionStore | Promise<SessionStore>,
  options: StoreContractOptions<SessionStore>,
): readonly ContractCase[] {
  const { openSecond = (store) => store } = options
  return defineContract(kind, options, {
    async 'returns a stored record to every process'() {
      const store = await create()
      await store.create('a', { initialized: true, subscriptions: ['x:1'] }, TTL)
      const second = await openSecond(store)
      const expected = { initialized: true, subscriptions: ['x:1'] }
      checkEqual('get("a") of the second store', await second.get('a'), expected)
    },

    async 'returns undefined for an unknown id, also for names such as "__proto__"'() {
      const store = await create()
      for (const id of ['none', '__proto__', 'constructor', '']) {
        checkEqual(`get(${JSON.stringify(id)})`, await store.get(id), undefined)
      }
    },

    async 'refuses to create a record whose id is taken, and keeps the old one'() {
      const store = await create()
      await store.create('a', { subject: 'first' }, TTL)
      await checkError('the second create("a")', () => store.create('a', { subject: 'second' }, TTL))
      checkEqual('get("a")', await store.get('a'), { subject: 'first' })
    },

    async 'stores a copy, so that later changes of the object do not change the record'() {
      const store = await create()
      const state = { subscriptions: ['x:1'] }
      await store.create('a', state, TTL)
      state.subscriptions.push('x:2')
      const place = 'get("a") after the object that was passed to create() changed'
      checkEqual(place, await store.get('a'), { subscriptions: ['x:1'] })
    },

    async 'returns a copy, which an update does not change'() {
      const store = await create()
      await store.create('a', { subscriptions: ['x:1'] }, TTL)
      const before = await store.get('a')
      await store.update('a', (state) => void state.subscriptions?.push('x:2'))
      checkEqual('the record that get("a") returned before the update', before, { subscriptions: ['x:1'] })
    },

    async 'updates the newest record and returns the result'() {
      const store = await create()
      await store.create('a', { subject: 's' }, TTL)
      const updated = await store.update('a', (state) => void Object.assign(state, { initialized: true }))
      checkEqual('update("a")', updated, { subject: 's', initialized: true })
      checkEqual('get("a")', await store.get('a'), { subject: 's', initialized: true })
    },

    async 'loses none of 50 concurrent updates by two processes'() {
      const store = await create()
      const second = await openSecond(store)
      await store.create('a', { subscriptions: [] }, TTL)
      const uris = Array.from({ length: 50 }, (_, n) => `x:${n}`)
      const add = (uri: string, n: number) =>
        (n % 2 ? store : second).update('a', (state) => void state.subscriptions?.push(uri))
      await Promise.all(uris.map(add))
      const stored = await store.get('a')
      checkEqual('the subscriptions of get("a")', [...(stored?.subscriptions ?? [])].sort(), [...uris].sort())
    },

    async 'rejects an update whose callback throws, and keeps the record as it was'() {
      const store = await create()
      await store.create('a', { subscriptions: ['x:1'] }, TTL)
      await checkError('update("a") with a callback that throws', () =>
        store.update('a', (state) => {
          state.subscriptions?.push('x:2')
          throw new Error('thrown by the callback')
        }),
      )
      checkEqual('get("a")', await store.get('a'), { subscriptions: ['x:1'] })
    },

    async 'returns undefined when it updates an unknown id, and creates no record'() {
      const store = await create()
      checkEqual('update("none")', await store.update('none', () => {}), undefined)
      checkEqual('get("none")', await store.get('none'), undefined)
    },

    async 'deletes a record and says whether it existed'() {
      const store = await create()
      await store.create('a', {}, TTL)
      checkEqual('the first delete("a")', await store.delete('a'), true)
      checkEqual('get("a")', await store.get('a'), undefined)
      checkEqual('the second delete("a")', await store.delete('a'), false)
    },

    async 'drops a record that was not used for its time to live'() {
      const store = await create()
      await store.create('a', {}, 200)
      checkEqual('get("a") at once', await store.get('a'), {})
      await delay(300)
      checkEqual('get("a") after 300 ms with a time to live of 200 ms', await store.get('a'), undefined)
      checkEqual('update("a") of the expired record', await store.update('a', () => {}), undefined)
      checkEqual('delete("a") of the expired record', await store.delete('a'), false)
    },

    async 'expires records while other records are used'() {
      const store = await create()
      await store.create('used', { subscriptions: [] }, TTL)
      for (let n = 0; n < 50; n++) await store.create(`a${n}`, { subject: String(n) }, 300)
      const end = Date.now() + 400
      while (Date.now() < end) {
        await store.update('used', (state) => void Object.assign(state, { subscriptions: ['x:1'] }))
        await delay(10)
      }
      const left = await Promise.all(Array.from({ length: 50 }, async (_, n) => store.get(`a${n}`)))
      checkEqual('the records that are left after 400 ms with a time to live of 300 ms', left.filter(Boolean), [])
      checkEqual('get("used")', await store.get('used'), { subscriptions: ['x:1'] })
    },

    async 'does not restart the time to live with update(), or get() without one'() {
      const store = await create()
      await store.create('a', {}, 400)
      await delay(250)
      await store.update('a', (state) => void Object.assign(state, { initialized: true }))
      await store.get('a')
      await delay(250)
      checkEqual('get("a") after 500 ms with a time to live of 400 ms', await store.get('a'), undefined)
    },

    async 'restarts the time to live when get() is called with one'() {
      const store = await create()
      await store.create('a', {}, 600)
      for (let n = 1; n <= 3; n++) {
        await delay(250)
        const record = await store.get('a', 600)
        check(`get("a", 600) number ${n}, each after 250 ms`, record !== undefined, 'the record', record)
      }
    },
    ...(options.openSecond && {
      async 'measures times to live by its own clock, not by that of a process'() {
        const store = await create()
        const second = await openSecond(store)
        await withClockShifted(-HOUR, () => store.create('a', {}, TTL))
        await withClockShifted(HOUR, async () => {
          checkEqual('get("a") of a process whose clock is two hours ahead', await second.get('a'), {})
          await second.create('b', {}, 200)
        })
        await delay(300)
        const expired = await withClockShifted(-HOUR, () => store.get('b'))
        checkEqual('get("b") after 300 ms with a time to live of 200 ms, by clocks that differ', expired, undefined)
      },
    }),
  })
}
