/** The member `taskIds` of `subscriptions/listen`: notifies a client of the state of its tasks whenever it changes. */

import { invalidParams, type JsonObject, pause, TaskSubscription } from '@mcpx/protocol'
import { defineSubscription, type ExtensionHost, type ExtensionSubscription, type Subscriber } from '@mcpx/server'
import { hasEnded, isOf, toDetailedTask } from './record.ts'
import type { TaskRecords } from './records.ts'

/** How many tasks are read at the same time when a stream is opened. */
const READ_AT_ONCE = 50

/** How long to wait after a failure before states are read again, in ms. */
const RETRY_INTERVAL = 1_000

/**
 * Creates the member `taskIds` of the filter. Unknown ids are left out and not refused, because an error would reveal which ids
 * exist.
 *
 * @param limit the largest number of tasks of one stream
 */
export function createTaskSubscription(
  host: ExtensionHost,
  records: TaskRecords,
  limit: number,
): ExtensionSubscription {
  return defineSubscription({ value: TaskSubscription, requiresDeclaration: true }, async (wanted, subscriber) => {
    const ids = [...new Set(wanted)]
    if (ids.length > limit) {
      throw invalidParams(`params.notifications.taskIds: expected at most ${limit}, got ${ids.length}`)
    }
    const feed = new TaskFeed(host, records, subscriber)
    try {
      for (let first = 0; first < ids.length; first += READ_AT_ONCE) {
        await Promise.all(ids.slice(first, first + READ_AT_ONCE).map((id) => feed.add(id)))
      }
    } catch (error) {
      feed.close()
      throw error
    }
    return { acknowledged: ids.filter((id) => feed.has(id)), close: () => feed.close() }
  })
}

/**
 * The tasks of one stream. A notification contains the newest state of a task, so a slow client receives fewer
 * notifications.
 */
class TaskFeed {
  readonly #host: ExtensionHost
  readonly #records: TaskRecords
  readonly #subscriber: Subscriber
  /** The functions that unsubscribe, by task. */
  readonly #watched = new Map<string, () => void>()
  /** The tasks that may have changed since their state was sent. */
  readonly #changed = new Set<string>()
  /** The last version that was sent, by task. */
  readonly #sent = new Map<string, number>()
  #isSending = false
  #isClosed = false

  constructor(host: ExtensionHost, records: TaskRecords, subscriber: Subscriber) {
    this.#host = host
    this.#records = records
    this.#subscriber = subscriber
  }

  has(id: string): boolean {
    return this.#watched.has(id)
  }

  /**
   * Adds a task if it belongs to the caller. Sends its state at once, because the task may have changed since the
   * client polled it.
   */
  async add(id: string): Promise<void> {
    const task = await this.#records.get(id)
    if (task === undefined || !isOf(task, this.#subscriber.ctx.auth)) return
    const unwatch = await this.#records.watch(id, () => this.#note(id))
    if (this.#isClosed) return unwatch()
    this.#watched.set(id, unwatch)
    this.#note(id)
  }

  close(): void {
    this.#isClosed = true
    for (const unwatch of this.#watched.values()) unwatch()
    this.#watched.clear()
    this.#changed.clear()
  }

  #note(id: string): void {
    this.#changed.add(id)
    if (!this.#isSending) void this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    for (const id of this.#changed) {
      this.#changed.delete(id)
      try {
        await this.#send(id)
      } catch (error) {
        this.#host.report(error, this.#subscriber.ctx)
        this.#changed.add(id)
        await pause(RETRY_INTERVAL, this.#host.closing).catch(() => {})
      }
    }
    this.#isSending = false
  }

  async #send(id: string): Promise<void> {
    const task = this.#watched.has(id) ? await this.#records.get(id) : undefined
    // The stream may have ended meanwhile.
    if (task === undefined || !this.#watched.has(id) || task.version <= (this.#sent.get(id) ?? 0)) return
    this.#sent.set(id, task.version)
    const { ctx, notify } = this.#subscriber
    const state = toDetailedTask(task, (request) => this.#host.canAnswer(request, ctx.client))
    await notify('notifications/tasks', { ...state } satisfies JsonObject)
    if (!hasEnded(task.data)) return
    this.#watched.get(id)?.()
    this.#watched.delete(id)
    this.#sent.delete(id)
  }
}
