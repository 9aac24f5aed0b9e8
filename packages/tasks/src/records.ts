/** Reads and changes tasks in the store, and notifies the other processes of each change. */

import { type EventBus, quoted, type StoredTask, type TaskLease, type TaskStore } from '@mcpx/protocol'
import { hasEnded, type LoadedTask, type TaskData } from './record.ts'

/** How often a change is tried again because another writer has changed the task. */
const MAX_CONFLICTS = 1_000

/** After this number of conflicts, a writer waits for a random time before it tries again. */
const FEW_CONFLICTS = 3

/** The error of a task with more data than `limits.data`. */
export class TaskTooLarge extends Error {
  override readonly name = 'TaskTooLarge'
}

/** The parts of a store that tasks use. */
export interface TaskStores {
  readonly tasks: TaskStore
  readonly bus: EventBus
}

export class TaskRecords {
  readonly #store: TaskStore
  readonly #bus: EventBus
  readonly #maxData: number
  readonly #onWarning: (warning: unknown) => void

  constructor({ tasks, bus }: TaskStores, maxData: number, onWarning: (warning: unknown) => void) {
    this.#store = tasks
    this.#bus = bus
    this.#maxData = maxData
    this.#onWarning = onWarning
  }

  async create(id: string, data: TaskData, ttl: number, lease: TaskLease, caller: string | undefined): Promise<void> {
    await this.#store.create(id, this.#write(data), ttl, lease, caller)
  }

  async get(id: string): Promise<LoadedTask | undefined> {
    return load(await this.#store.get(id))
  }

  async renew(id: string, lease: TaskLease): Promise<number | undefined> {
    return this.#store.renew(id, lease)
  }

  async claim(lease: TaskLease): Promise<LoadedTask | undefined> {
    return load(await this.#store.claim(lease))
  }

  /**
   * Changes the newest state of a task. `change` may be called more than once; if it returns undefined, nothing is changed.
   * Returns the newest state, or undefined if the task does not exist.
   *
   * @param known the state that was last read. Default: the state is read from the store
   */
  async change(
    id: string,
    change: (task: LoadedTask) => TaskData | undefined,
    known?: LoadedTask,
  ): Promise<LoadedTask | undefined> {
    let task = known ?? (await this.get(id))
    for (let conflicts = 0; task !== undefined; conflicts++) {
      const data = change(task)
      if (data === undefined) return task
      const ends = hasEnded(data) || data.isHandedOff === true
      if (await this.#store.update(id, task.version, this.#write(data), ends)) {
        const version = task.version + 1
        this.#publish(id, version)
        return { ...task, version, data, owner: ends ? undefined : task.owner }
      }
      if (conflicts === MAX_CONFLICTS) throw new Error(`The task was changed ${conflicts} times during one change`)
      if (conflicts >= FEW_CONFLICTS) await new Promise((resolve) => setTimeout(resolve, Math.random() * conflicts))
      task = await this.get(id)
    }
    return undefined
  }

  /**
   * Calls the listener with the version of a task after each change of any process, and with undefined if messages may have
   * been lost.
   */
  async watch(id: string, listener: (version: number | undefined) => void): Promise<() => void> {
    const onMessage = (message: string) => listener(Number(message))
    const unsubscribe = await this.#bus.subscribe(topicOf(id), onMessage, () => listener(undefined))
    return () => void this.#attempt(unsubscribe)
  }

  #publish(id: string, version: number): void {
    // Clients poll, and the owner of a task sees the version when it renews its lease.
    void this.#attempt(() => this.#bus.publish(topicOf(id), String(version)))
  }

  async #attempt(step: () => unknown): Promise<void> {
    try {
      await step()
    } catch (error) {
      this.#onWarning(error)
    }
  }

  #write(data: TaskData): string {
    const text = JSON.stringify(data)
    if (text.length <= this.#maxData) return text
    const problem = `the task of ${quoted(data.tool)} has ${text.length} characters of JSON`
    throw new TaskTooLarge(
      `limits.data: expected at most ${this.#maxData}, but ${problem}; return less, or a link to it`,
    )
  }
}

function load(stored: StoredTask | undefined): LoadedTask | undefined {
  return stored && { ...stored, data: JSON.parse(stored.data) as TaskData }
}

function topicOf(id: string): string {
  return `mcpx/task/${id}`
}
