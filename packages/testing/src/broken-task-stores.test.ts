import type { StoredTask, TaskLease, TaskStore } from '@mcpx/protocol'
import { createMemoryTaskStore, memoryStore } from '@mcpx/protocol/memory'
import { describe, expect, it } from 'vitest'
import { expectFailures } from './broken.fixture.ts'
import { delay, storeContract, taskStoreContract } from './index.ts'

const taskStore = (change: (store: TaskStore) => Partial<TaskStore>) => (): TaskStore => {
  const store = createMemoryTaskStore()
  return { ...store, ...change(store) }
}

/** A store over a map, by the clock of its process, as far as two cases use it. */
function createDateStore(): TaskStore {
  const tasks = new Map<string, { data: string; owner: string | undefined; lapses: number; expires: number }>()
  const show = (id: string): StoredTask | undefined => {
    const task = tasks.get(id)
    return task && { id, version: 1, data: task.data, owner: task.owner, ttl: task.expires - Date.now() }
  }
  return {
    create(id, data, ttl, lease) {
      const now = Date.now()
      tasks.set(id, { data, owner: lease?.owner, lapses: now + (lease?.duration ?? 0), expires: now + ttl })
    },
    get: show,
    update: () => true,
    renew: () => 1,
    claim({ owner }) {
      for (const [id, task] of tasks) {
        if (task.lapses > Date.now()) continue
        Object.assign(task, { owner, lapses: Number.POSITIVE_INFINITY })
        return show(id)
      }
      return undefined
    },
  }
}

/** Claims tasks in two steps, so that several processes get one task. */
const claimSlowly = (store: TaskStore) => async (lease: TaskLease) => {
  await delay(1)
  const task = await store.claim({ owner: lease.owner, duration: 0 })
  await delay(1)
  if (task !== undefined) await store.renew(task.id, lease)
  return task
}

expectFailures<TaskStore>('the contract of task stores', taskStoreContract, {
  'returns a created task to every process at once': [
    taskStore((store) => ({ create: (id, data, ttl) => store.create(id, data.replaceAll('\n', ''), ttl) })),
    'get("b") of the second store: expected {"id":"b","version":1,"data":"","owner":"one"}, got {"id":"b","version":1,"data":""}',
  ],
  'returns undefined for an unknown id, also for names such as "__proto__"': [
    taskStore(() => ({ get: (id) => ({})[id as never] })),
    'get("__proto__"): expected undefined, got {}',
  ],
  'refuses to create a task whose id is taken, and keeps the old one': [
    taskStore((store) => ({
      async create(...task) {
        if ((await store.get(task[0])) === undefined) await store.create(...task)
      },
    })),
    'the second create("a"): expected an Error, got no error',
  ],
  'updates a task that still has the version, and no other': [
    taskStore((store) => ({
      async update(id, version, data) {
        const current = (await store.get(id))?.version ?? 0
        return version <= current && store.update(id, current, data)
      },
    })),
    'the second update("a", 1): expected false, got true',
  ],
  'lets one of 50 concurrent updates with one version win': [
    taskStore((store) => ({
      async update(id, version, data) {
        const task = await store.get(id)
        await delay(1)
        if (task?.version !== version) return false
        await store.update(id, version, data)
        return true
      },
    })),
    'the number of updates that returned true: expected 1, got 50',
  ],
  'loses no change of 50 writers that repeat refused updates': [
    taskStore((store) => ({
      async update(id, version, data) {
        const task = await store.get(id)
        await delay(1)
        if (task?.version !== version) return false
        const { version: current } = (await store.get(id)) as StoredTask
        return store.update(id, current, data)
      },
    })),
    /^the data of get\("a"\), sorted: expected \[0,1,2/,
  ],
  'keeps the lease when a task is updated, and ends it on request': [
    taskStore((store) => ({ update: (id, version, data) => store.update(id, version, data) })),
    'the owner after update("a", 2, …, true): expected undefined, got "one"',
  ],
  'renews the lease of its owner only, and returns the version': [
    taskStore((store) => ({ renew: async (id, lease) => (await store.renew(id, lease)) && 1 })),
    'renew("a") by its owner after an update: expected 2, got 1',
  ],
  'gives no task whose lease lasts, or was renewed, to another process': [
    taskStore((store) => ({ renew: async (id) => (await store.get(id))?.version })),
    /^claim\(\): expected undefined, got \{"id":"renewed"/,
  ],
  'gives a task whose lease has lapsed to one of 20 processes': [
    taskStore((store) => ({ claim: claimSlowly(store) })),
    /^the number of processes that got the task: expected 1, got \d+$/,
  ],
  'gives each of several lapsed tasks to one process': [
    taskStore((store) => ({ claim: claimSlowly(store) })),
    /^the ids of the tasks that 20 calls of claim\(\) returned: expected \["task 0","task 1"/,
  ],
  'refuses updates and renewals of a process that has lost its lease': [
    taskStore((store) => ({
      async update(id, version, data) {
        const current = (await store.get(id))?.version ?? 0
        return current - version <= 1 && store.update(id, current, data)
      },
    })),
    'update("a", 1) after the claim: expected false, got true',
  ],
  'renews a lease that has lapsed and was not claimed': [
    taskStore((store) => {
      const ends = new Map<string, number>()
      return {
        create(id, data, ttl, lease) {
          ends.set(id, performance.now() + (lease?.duration ?? 0))
          return store.create(id, data, ttl, lease)
        },
        renew: (id, lease) => ((ends.get(id) ?? 0) > performance.now() ? store.renew(id, lease) : undefined),
      }
    }),
    'renew("a"): expected 1, got undefined',
  ],
  'gives a task away at once when its lease is renewed for 0 ms': [
    taskStore((store) => ({
      renew: (id, { owner, duration }) => store.renew(id, { owner, duration: duration || 60_000 }),
    })),
    'the id that claim() returns: expected "a", got undefined',
  ],
  'measures leases and times to live by its own clock, not by that of a process': [
    createDateStore,
    /^the ttl of get\("a"\): expected up to 60000, got -71400\d\d$/,
  ],
  'drops a task after its time to live, which nothing restarts': [
    taskStore((store) => {
      const created = new Map<string, string>()
      return {
        async update(id, version, data) {
          const isDone = await store.update(id, version, data)
          created.set(id, data)
          return isDone
        },
        async get(id) {
          const task = await store.get(id)
          if (task !== undefined || !created.has(id)) return task
          return { id, version: 2, data: '', owner: undefined, ttl: 1 }
        },
      }
    }),
    /^get\("a"\) after 600 ms with a time to live of 500 ms: expected undefined, got \{/,
  ],
  'expires tasks while other tasks are used': [
    taskStore((store) => ({ create: (id, data, _, lease) => store.create(id, data, 60_000, lease) })),
    /^the tasks that are left after 600 ms with a time to live of 400 ms: expected \[\], got \[/,
  ],
  'keeps 1 Mi characters of data': [
    taskStore((store) => ({ create: (id, data, ttl) => store.create(id, data.slice(0, 65_536), ttl) })),
    'the length of the data of get("a"): expected 1048576, got 65536',
  ],
})

describe('the contract of whole stores', () => {
  const find = (store: () => ReturnType<typeof memoryStore>) =>
    storeContract(store).find(({ name }) => name === 'tasks: updates a task that still has the version, and no other')

  it('contains the cases of tasks', async () => {
    const broken = () => ({ ...memoryStore(), tasks: { ...createMemoryTaskStore(), update: () => false } })
    await expect(find(broken)?.run()).rejects.toThrow('update("a", 1): expected true, got false')
  })

  it('passes for a store without tasks', async () => {
    const without = () => ({ ...memoryStore(), tasks: undefined })
    await expect(find(without)?.run()).resolves.toBeUndefined()
  })
})
