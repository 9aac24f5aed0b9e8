/** Tasks in the memory of one process. */

import { ConnectionError } from './errors.ts'
import { checkNumbers, refuseUnknownOption } from './options.ts'
import { SharedLimit } from './shared-limit.ts'
import type { StoredTask, TaskLease, TaskStore } from './stores.ts'

/** Options of `createMemoryTaskStore`. */
export interface MemoryTaskStoreOptions {
  /** The largest number of tasks that are kept. Above this number, `create` throws. Default: 10,000. */
  readonly maxTasks?: number | undefined
  /**
   * The largest number of characters of data that all tasks have together. Above this number, `create` and `update`
   * throw. Default: 64 Mi, which is 64 MB for ASCII and 128 MB for other text.
   */
  readonly maxTotalCharacters?: number | undefined
  /**
   * The share of `maxTotalCharacters` that the tasks of one caller may have, from 0 to 1. Above it, `create` and `update`
   * throw for the tasks of this caller. Default: 0.25.
   */
  readonly perCaller?: number | undefined
}

interface TaskEntry {
  /** The caller that the data counts for. */
  readonly caller: string | undefined
  version: number
  data: string
  /** The characters of the data that count in the limit. */
  counted: number
  owner: string | undefined
  /** The end of the lease, in ms of the clock of the store. */
  leasedUntil: number
  /** When the task expires, in ms of the clock of the store. */
  readonly expiresAt: number
}

/** A task can end with this many characters although the store is full, so that clients do not wait for it in vain. */
const SHORT_END = 1_000

/** The shortest time between two searches through all tasks, in ms. */
const SWEEP_INTERVAL = 1_000

/** The clock of the store. It is monotonic, so that a change of the system time ends no lease. */
const now = () => performance.now()

/** Creates a task store in the memory of this process. Its tasks end with the process. */
export function createMemoryTaskStore(options: MemoryTaskStoreOptions = {}): TaskStore {
  refuseUnknownOption('createMemoryTaskStore', options, ['maxTasks', 'maxTotalCharacters', 'perCaller'])
  const { maxTasks = 10_000, maxTotalCharacters = 67_108_864, perCaller } = options
  checkNumbers('createMemoryTaskStore: ', { maxTasks, maxTotalCharacters, perCaller })
  const tasks = new Map<string, TaskEntry>()
  const characters = new SharedLimit(maxTotalCharacters, perCaller)
  let nextSweep = 0

  function drop(id: string, { caller, counted }: TaskEntry): void {
    tasks.delete(id)
    characters.release(caller, counted)
  }

  function find(id: string): TaskEntry | undefined {
    const task = tasks.get(id)
    if (task === undefined || task.expiresAt > now()) return task
    drop(id, task)
    return undefined
  }

  function dropExpired(): void {
    const time = now()
    const searchesAll = time >= nextSweep
    if (searchesAll) nextSweep = time + SWEEP_INTERVAL
    for (const [id, task] of tasks) {
      if (task.expiresAt <= time) drop(id, task)
      // Usually the oldest tasks expire first, so the search ends at the first task that has not expired.
      else if (!searchesAll) return
    }
  }

  /** Reserves space for data that replaces other data. Throws if the store is full, or the share of the caller. */
  function reserve(caller: string | undefined, added: number): void {
    let exceeded = characters.acquire(caller, added)
    if (exceeded !== undefined) {
      dropExpired()
      exceeded = characters.acquire(caller, added)
    }
    if (exceeded === undefined) return
    const [whose, most] =
      exceeded === 'total' ? ['the tasks', characters.total] : ['the tasks of one caller', characters.perCaller]
    throw new ConnectionError('limit', `maxTotalCharacters: ${whose} would have more than ${most} characters`)
  }

  function hold(task: TaskEntry, { owner, duration }: TaskLease): void {
    task.owner = owner
    task.leasedUntil = now() + duration
  }

  const show = (id: string, { version, data, owner, expiresAt }: TaskEntry): StoredTask => ({
    id,
    version,
    data,
    owner,
    ttl: expiresAt - now(),
  })

  return {
    create(id, data, ttl, lease, caller) {
      dropExpired()
      if (find(id) !== undefined) throw new Error('A task with this id exists already')
      if (tasks.size >= maxTasks) throw new Error(`maxTasks: there are ${maxTasks} tasks already`)
      reserve(caller, data.length)
      const task: TaskEntry = {
        caller,
        version: 1,
        data,
        counted: data.length,
        owner: undefined,
        leasedUntil: 0,
        expiresAt: now() + ttl,
      }
      if (lease !== undefined) hold(task, lease)
      tasks.set(id, task)
    },
    get(id) {
      const task = find(id)
      return task && show(id, task)
    },
    update(id, version, data, ends = false) {
      const task = find(id)
      if (task === undefined || task.version !== version) return false
      const isShort = ends && data.length <= SHORT_END
      const counted = isShort ? Math.min(task.counted, data.length) : data.length
      reserve(task.caller, counted - task.counted)
      task.counted = counted
      task.data = data
      task.version += 1
      if (ends) task.owner = undefined
      return true
    },
    renew(id, lease) {
      const task = find(id)
      if (task === undefined || task.owner !== lease.owner) return undefined
      hold(task, lease)
      return task.version
    },
    claim(lease) {
      dropExpired()
      const time = now()
      for (const [id, task] of tasks) {
        if (task.owner === undefined || task.leasedUntil > time || task.expiresAt <= time) continue
        hold(task, lease)
        task.version += 1
        return show(id, task)
      }
      return undefined
    },
  }
}
