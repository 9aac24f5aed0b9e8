/** The contract of task stores. */

import type { StoredTask, TaskStore } from '@mcpx/protocol'
import { check, checkEqual, checkError } from './check.ts'
import { type ContractCase, defineContract } from './contract.ts'
import type { StoreContractOptions } from './session-store-contract.ts'
import { delay, HOUR, withClockShifted } from './timing.ts'

/** Time to live of tasks that must not expire during a case, in ms. */
const TTL = 60_000

/** Leases that do not lapse during a case, for two processes. */
const LONG = { owner: 'one', duration: 60_000 } as const
const OTHER = { owner: 'two', duration: 60_000 } as const

/**
 * The cases that every task store must pass. Tasks expire, and leases lapse, after 200 to 600 ms in some of them.
 *
 * @param create Called for each try of a case; returns an empty store.
 */
export function taskStoreContract(
  create: () => TaskStore | Promise<TaskStore>,
  options: StoreContractOptions<TaskStore> = {},
): readonly ContractCase[] {
  const { openSecond = (store) => store } = options
  return defineContract('A task store', options, {
    async 'returns a created task to every process at once'() {
      const store = await create()
      const second = await openSecond(store)
      await store.create('a', '{"x":"ü\\u0000\\n"}', TTL)
      await store.create('b', '', TTL, LONG)
      const first = { id: 'a', version: 1, data: '{"x":"ü\\u0000\\n"}', owner: undefined }
      checkEqual('get("a") of the second store', withoutTtl(await second.get('a')), first)
      const leased = { id: 'b', version: 1, data: '', owner: 'one' }
      checkEqual('get("b") of the second store', withoutTtl(await second.get('b')), leased)
    },

    async 'returns undefined for an unknown id, also for names such as "__proto__"'() {
      const store = await create()
      for (const id of ['none', '__proto__', 'constructor', '']) {
        checkEqual(`get(${JSON.stringify(id)})`, await store.get(id), undefined)
      }
      checkEqual('update("none", 1)', await store.update('none', 1, 'x'), false)
      checkEqual('renew("none")', await store.renew('none', LONG), undefined)
    },

    async 'refuses to create a task whose id is taken, and keeps the old one'() {
      const store = await create()
      await store.create('a', 'first', TTL)
      await checkError('the second create("a")', () => store.create('a', 'second', TTL))
      checkEqual('the data of get("a")', (await store.get('a'))?.data, 'first')
    },

    async 'updates a task that still has the version, and no other'() {
      const store = await create()
      const second = await openSecond(store)
      await store.create('a', 'first', TTL)
      checkEqual('update("a", 1)', await second.update('a', 1, 'second'), true)
      const updated = { id: 'a', version: 2, data: 'second', owner: undefined }
      checkEqual('get("a")', withoutTtl(await store.get('a')), updated)
      checkEqual('the second update("a", 1)', await store.update('a', 1, 'third'), false)
      checkEqual('update("a", 3)', await store.update('a', 3, 'third'), false)
      checkEqual('get("a") after two refused updates', withoutTtl(await store.get('a')), updated)
    },

    async 'lets one of 50 concurrent updates with one version win'() {
      const store = await create()
      const second = await openSecond(store)
      await store.create('a', '', TTL)
      const numbers = Array.from({ length: 50 }, (_, n) => n)
      const won = await Promise.all(numbers.map((n) => (n % 2 ? store : second).update('a', 1, String(n))))
      checkEqual('the number of updates that returned true', won.filter(Boolean).length, 1)
      checkEqual('the data of get("a")', (await store.get('a'))?.data, String(won.indexOf(true)))
    },

    async 'loses no change of 50 writers that repeat refused updates'(waitFor) {
      const store = await create()
      const second = await openSecond(store)
      await store.create('a', '[]', TTL)
      async function add(to: TaskStore, n: number): Promise<void> {
        for (;;) {
          const { version, data } = (await to.get('a')) as StoredTask
          if (await to.update('a', version, JSON.stringify([...JSON.parse(data), n]))) return
        }
      }
      const numbers = Array.from({ length: 50 }, (_, n) => n)
      await waitFor('50 updates', Promise.all(numbers.map((n) => add(n % 2 ? store : second, n))))
      const stored = (await store.get('a')) as StoredTask
      const sorted = (JSON.parse(stored.data) as number[]).sort((some, other) => some - other)
      checkEqual('the data of get("a"), sorted', sorted, numbers)
      checkEqual('the version after 50 updates', stored.version, 51)
    },

    async 'keeps the lease when a task is updated, and ends it on request'() {
      const store = await create()
      await store.create('a', '', TTL, { owner: 'one', duration: 1 })
      await store.update('a', 1, 'x')
      checkEqual('the owner after update("a", 1)', (await store.get('a'))?.owner, 'one')
      await store.update('a', 2, 'y', true)
      checkEqual('the owner after update("a", 2, …, true)', (await store.get('a'))?.owner, undefined)
      await delay(20)
      checkEqual('claim() of a task without a lease', await store.claim(OTHER), undefined)
      checkEqual('renew("a") of a task without a lease', await store.renew('a', LONG), undefined)
    },

    async 'renews the lease of its owner only, and returns the version'() {
      const store = await create()
      const second = await openSecond(store)
      await store.create('a', '', TTL, LONG)
      checkEqual('renew("a") by its owner', await second.renew('a', LONG), 1)
      await second.update('a', 1, 'x')
      checkEqual('renew("a") by its owner after an update', await store.renew('a', LONG), 2)
      checkEqual('renew("a") by another process', await store.renew('a', OTHER), undefined)
      checkEqual('the owner', (await store.get('a'))?.owner, 'one')
    },

    async 'gives no task whose lease lasts, or was renewed, to another process'() {
      const store = await create()
      const second = await openSecond(store)
      const short = { owner: 'one', duration: 1_000 }
      await store.create('long', '', TTL, LONG)
      await store.create('renewed', '', TTL, short)
      for (let n = 0; n < 3; n++) {
        await delay(400)
        checkEqual(`renew("renewed") number ${n + 1}, each after 400 ms`, await store.renew('renewed', short), 1)
        checkEqual('claim()', await second.claim(OTHER), undefined)
      }
    },

    async 'gives a task whose lease has lapsed to one of 20 processes'() {
      const store = await create()
      const second = await openSecond(store)
      await store.create('a', 'x', TTL, { owner: 'one', duration: 1_000 })
      checkEqual('claim() at once', await second.claim(OTHER), undefined)
      await delay(1_100)
      const claims = Array.from({ length: 20 }, (_, n) => {
        return (n % 2 ? store : second).claim({ owner: `worker ${n}`, duration: 60_000 })
      })
      const claimed = await Promise.all(claims)
      const owners = claimed.flatMap((task, n) => (task === undefined ? [] : [`worker ${n}`]))
      checkEqual('the number of processes that got the task', owners.length, 1)
      const task = { id: 'a', version: 2, data: 'x', owner: owners[0] }
      checkEqual('the task that claim() returned', withoutTtl(claimed.find(Boolean)), task)
      checkEqual('get("a")', withoutTtl(await store.get('a')), task)
    },

    async 'gives each of several lapsed tasks to one process'() {
      const store = await create()
      const second = await openSecond(store)
      const ids = Array.from({ length: 10 }, (_, n) => `task ${n}`)
      for (const id of ids) await store.create(id, '', TTL, { owner: 'one', duration: 1 })
      await delay(50)
      const claimed = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? store : second).claim(OTHER)))
      const got = claimed.flatMap((task) => (task === undefined ? [] : [task.id])).sort()
      checkEqual('the ids of the tasks that 20 calls of claim() returned', got, ids)
    },

    async 'refuses updates and renewals of a process that has lost its lease'() {
      const store = await create()
      const second = await openSecond(store)
      await store.create('a', 'x', TTL, { owner: 'one', duration: 1 })
      await delay(50)
      await second.claim(OTHER)
      checkEqual('update("a", 1) after the claim', await store.update('a', 1, 'y'), false)
      checkEqual('renew("a") by the old owner', await store.renew('a', LONG), undefined)
      checkEqual('update("a", 2)', await second.update('a', 2, 'z'), true)
    },

    async 'renews a lease that has lapsed and was not claimed'() {
      const store = await create()
      await store.create('a', '', TTL, { owner: 'one', duration: 1 })
      await delay(50)
      checkEqual('renew("a")', await store.renew('a', LONG), 1)
      checkEqual('claim()', await store.claim(OTHER), undefined)
    },

    async 'gives a task away at once when its lease is renewed for 0 ms'() {
      const store = await create()
      const second = await openSecond(store)
      await store.create('a', '', TTL, LONG)
      checkEqual('renew("a") for 0 ms', await store.renew('a', { owner: 'one', duration: 0 }), 1)
      await delay(20)
      checkEqual('the id that claim() returns', (await second.claim(OTHER))?.id, 'a')
    },

    async 'measures leases and times to live by its own clock, not by that of a process'() {
      const store = await create()
      const second = await openSecond(store)
      await withClockShifted(-HOUR, async () => {
        await store.create('a', '', TTL, LONG)
        await store.create('lapsed', '', TTL, { owner: 'one', duration: 1 })
        await delay(50)
      })
      await withClockShifted(HOUR, async () => {
        const { ttl = 0 } = (await second.get('a')) ?? {}
        check('the ttl of get("a")', ttl > TTL - 30_000 && ttl <= TTL, `up to ${TTL}`, ttl)
        checkEqual('the id that claim() returns', (await second.claim(OTHER))?.id, 'lapsed')
        checkEqual('the second claim()', await second.claim(OTHER), undefined)
      })
      const { owner } = (await withClockShifted(-HOUR, () => store.get('lapsed'))) ?? {}
      checkEqual('the owner of get("lapsed")', owner, 'two')
    },

    async 'drops a task after its time to live, which nothing restarts'() {
      const store = await create()
      await store.create('a', '', 500, { owner: 'one', duration: 1 })
      const { ttl = 0 } = (await store.get('a')) ?? {}
      check('the ttl of get("a")', ttl > 0 && ttl <= 500, 'from 1 to 500', ttl)
      await store.update('a', 1, 'x')
      await store.renew('a', { owner: 'one', duration: 1 })
      await delay(600)
      checkEqual('get("a") after 600 ms with a time to live of 500 ms', await store.get('a'), undefined)
      checkEqual('update("a", 2) of the expired task', await store.update('a', 2, 'y'), false)
      checkEqual('renew("a") of the expired task', await store.renew('a', LONG), undefined)
      checkEqual('claim() with the expired task', await store.claim(OTHER), undefined)
      await store.create('a', 'new', TTL)
      checkEqual('the version of a new task with the same id', (await store.get('a'))?.version, 1)
    },

    async 'expires tasks while other tasks are used'() {
      const store = await create()
      await store.create('used', '0', TTL, LONG)
      for (let n = 0; n < 50; n++) await store.create(`a${n}`, '', 400, { owner: 'one', duration: 1 })
      const end = performance.now() + 600
      for (let version = 1; performance.now() < end; version++) {
        checkEqual(`update("used", ${version})`, await store.update('used', version, String(version)), true)
        await delay(10)
      }
      const left = await Promise.all(Array.from({ length: 50 }, async (_, n) => store.get(`a${n}`)))
      checkEqual('the tasks that are left after 600 ms with a time to live of 400 ms', left.filter(Boolean), [])
      checkEqual('claim()', await store.claim(OTHER), undefined)
      checkEqual('the owner of get("used")', (await store.get('used'))?.owner, 'one')
    },

    async 'keeps 1 Mi characters of data'() {
      const store = await create()
      const data = 'a'.repeat(1_048_576)
      await store.create('a', data, TTL)
      checkEqual('the length of the data of get("a")', (await store.get('a'))?.data.length, data.length)
      checkEqual('update("a", 1)', await store.update('a', 1, `${data}b`.slice(1)), true)
      checkEqual('the end of the data of get("a")', (await store.get('a'))?.data.slice(-2), 'ab')
    },
  })
}

/** Removes the time to live, which differs from call to call. */
function withoutTtl(task: StoredTask | undefined): object | undefined {
  if (task === undefined) return undefined
  const { ttl, ...others } = task
  return others
}
