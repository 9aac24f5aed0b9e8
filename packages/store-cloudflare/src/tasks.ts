/** The task store: one object for each task, and one object that lists their leases. */

import type { StoredTask, TaskLease, TaskStore } from '@mcpx/protocol'
import type { Objects } from './client.ts'
import type { TaskState } from './object.ts'

/** The name of the object that lists the leases of all tasks. */
const LEASES = 'leases'

const nameOf = (id: string) => `task:${id}`

/**
 * Stores tasks. The object of a task decides which process holds its lease. The list is read only to find tasks whose
 * leases may have lapsed. Renewals do not change the list: if the lease of a listed task has not lapsed, the task is
 * moved to the end of its lease.
 */
export class CloudflareTaskStore implements TaskStore {
  readonly #objects: Objects

  constructor(objects: Objects) {
    this.#objects = objects
  }

  async create(id: string, data: string, ttl: number, lease?: TaskLease): Promise<void> {
    // List the lease first, so that a created task is always listed.
    if (lease !== undefined) await this.#objects.call(LEASES, 'listLease', id, lease.duration, ttl)
    const held = lease === undefined ? ([] as const) : ([lease.owner, lease.duration] as const)
    const isNew = await this.#objects.call(nameOf(id), 'createTask', data, ttl, ...held)
    if (!isNew) throw new Error('A task with this id exists already')
  }

  async get(id: string): Promise<StoredTask | undefined> {
    const state = await this.#objects.call(nameOf(id), 'readTask')
    return state === null ? undefined : toTask(id, state)
  }

  async update(id: string, version: number, data: string, ends = false): Promise<boolean> {
    const isUpdated = await this.#objects.call(nameOf(id), 'updateTask', version, data, ends ? 1 : 0)
    // If this fails, the next process that reads the lease removes it.
    if (isUpdated && ends) await this.#objects.call(LEASES, 'removeLease', id).catch(() => {})
    return isUpdated
  }

  async renew(id: string, { owner, duration }: TaskLease): Promise<number | undefined> {
    const renewed = await this.#objects.call(nameOf(id), 'renewTask', owner, duration)
    if (renewed === null) return undefined
    if (renewed.isSooner) await this.#objects.call(LEASES, 'listLease', id, duration, renewed.ttl)
    return renewed.version
  }

  async claim({ owner, duration }: TaskLease): Promise<StoredTask | undefined> {
    for (;;) {
      const id = await this.#objects.call(LEASES, 'nextLease', duration)
      if (id === null) return undefined
      const claim = await this.#objects.call(nameOf(id), 'claimTask', owner, duration)
      if (claim.outcome === 'claimed') return toTask(id, claim.task)
      if (claim.outcome === 'leased') await this.#objects.call(LEASES, 'listLease', id, claim.rest, claim.ttl)
      if (claim.outcome === 'free') await this.#objects.call(LEASES, 'removeLease', id)
    }
  }
}

function toTask(id: string, { owner, ...state }: TaskState): StoredTask {
  return { id, ...state, owner: owner ?? undefined }
}
