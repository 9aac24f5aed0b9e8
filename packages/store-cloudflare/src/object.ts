/**
 * The Durable Object that stores one record, stream, count, used id or task, the list of leases, or the subscriptions
 * of one topic.
 */

import { LeaseList } from './lease-list.ts'
import type { ObjectState, PlatformSocket } from './platform.ts'

/** A call of an object: the name of an operation with its arguments. */
export interface ObjectCall {
  readonly operation: keyof Operations
  readonly args: readonly (string | number)[]
}

/** The operations of an object. Times are in ms. */
export interface Operations {
  /** Stores a string. Returns false if the object already has one. */
  create(text: string, ttl: number): boolean
  /** Returns the string. Restarts its time to live if `ttl` is given. */
  read(ttl?: number): string | null
  /** Replaces the string if it equals `expected`. Returns true, otherwise the newest string. */
  replace(expected: string, text: string): true | string | null
  /** Deletes everything. Returns whether anything was stored. */
  remove(): boolean
  /** Increments a count in a window. Returns the rest of the window. */
  increment(window: number): { count: number; rest: number }
  /** Adds an event. Returns its id, or null if the stream has ended. */
  append(data: string, ttl: number, maxEvents: number): string | null
  end(ttl: number): void
  /** Returns the events after an event. */
  replay(lastId: string, ttl: number): Replay | null
  refresh(ttl: number): void
  /** Sends a message to all subscriptions of the topic. */
  publish(message: string): void
  /** Stores a task, with a lease if `owner` is given. Returns false if the object already has a task. */
  createTask(data: string, ttl: number, owner?: string, duration?: number): boolean
  readTask(): TaskState | null
  /** Replaces the data of a task if it has this version. Ends its lease if `ends` is 1. Returns whether the data was replaced. */
  updateTask(version: number, data: string, ends: number): boolean
  /** Restarts the lease of its owner. Returns whether it now ends before the time at which the task is listed. */
  renewTask(owner: string, duration: number): { version: number; isSooner: boolean; ttl: number } | null
  claimTask(owner: string, duration: number): TaskClaim
  /** Adds the lease of a task to the list. After `time` ms, the object of the task is asked whether the lease has lapsed. */
  listLease(id: string, time: number, ttl: number): void
  removeLease(id: string): void
  /** Returns a task whose lease may have lapsed, and lists it again after `time` ms. */
  nextLease(time: number): string | null
}

/** The stored state of a task. */
export interface TaskState {
  readonly version: number
  readonly data: string
  readonly owner: string | null
  readonly ttl: number
}

/**
 * The outcome of a claim: the lease was claimed, the lease has not lapsed, the task has no lease, or the task does not
 * exist.
 */
export type TaskClaim =
  | { readonly outcome: 'claimed'; readonly task: TaskState }
  | { readonly outcome: 'leased'; readonly rest: number; readonly ttl: number }
  | { readonly outcome: 'free' | 'unknown' }

/** The events of a stream after a known event. */
export interface Replay {
  readonly events: readonly { readonly id: string; readonly data: string }[]
  readonly ended: boolean
}

/** The value of an object that is not a topic. */
interface Row {
  /**
   * The text of a record, the data of a task, or the random id of a stream, which changes when the stream is created
   * again.
   */
  readonly text: string
  /** The count of a counter; the number of the next event of a stream; the version of a task. */
  readonly count: number
  readonly ended: number
  readonly expires_at: number
}

/** The lease of a task. Times are in ms since 1970. */
interface Lease {
  readonly owner: string
  readonly until: number
  /** The latest time at which the list of leases checks the task. */
  readonly listed_at: number
}

/** Creates both ends of a WebSocket. A global of the platform. */
declare const WebSocketPair: new () => Record<'0' | '1', PlatformSocket>

/** The state of a WebSocket that is not closing. */
const OPEN = 1

/** The state of an object. Export it from the Worker, and list it in `new_sqlite_classes` of the wrangler configuration. */
export class McpxStore {
  readonly #state: ObjectState
  readonly #leases: LeaseList

  constructor(state: ObjectState) {
    this.#state = state
    this.#leases = new LeaseList(state.storage)
  }

  /** Performs a call of the store, or accepts a WebSocket that receives the messages of a topic. */
  async fetch(request: Request): Promise<Response> {
    if (request.headers.get('upgrade') === 'websocket') return this.#subscribe()
    const { operation, args } = (await request.json()) as ObjectCall
    const operate = this.#operations[operation] as (...args: readonly (string | number)[]) => unknown
    const result = this.#state.storage.transactionSync(() => operate(...args))
    return Response.json({ result: result ?? null })
  }

  /** Called by the platform when the time to live may have expired. */
  async alarm(): Promise<void> {
    const expiresAt = this.#row()?.expires_at ?? this.#leases.expire()
    if (expiresAt === null) await this.#state.storage.deleteAll()
    else await this.#state.storage.setAlarm(expiresAt)
  }

  /** Called by the platform when a subscription ends. */
  webSocketClose(socket: PlatformSocket): void {
    socket.close()
  }

  #subscribe(): Response {
    const [client, server] = Object.values(new WebSocketPair())
    if (server !== undefined) this.#state.acceptWebSocket(server)
    return new Response(null, { status: 101, webSocket: client } as ResponseInit)
  }

  #publish(message: string): void {
    for (const socket of this.#state.getWebSockets()) {
      if (socket.readyState === OPEN) socket.send(message)
    }
  }

  #sql<T>(query: string, ...values: (string | number)[]): T[] {
    return this.#state.storage.sql.exec(query, ...values).toArray() as T[]
  }

  /** Returns the value if it has not expired. */
  #row(): Row | undefined {
    if (!this.#hasTables()) return undefined
    return this.#sql<Row>('SELECT text, count, ended, expires_at FROM value WHERE expires_at > ?', Date.now())[0]
  }

  /**
   * Returns whether the object has tables. Reading does not create tables, so an object that was never written stores
   * nothing.
   */
  #hasTables(): boolean {
    return this.#sql("SELECT 1 FROM sqlite_master WHERE name = 'value'").length > 0
  }

  #insert(text: string, ttl: number): void {
    this.#sql(
      `CREATE TABLE IF NOT EXISTS value (
        text TEXT NOT NULL, count INTEGER NOT NULL, ended INTEGER NOT NULL, expires_at INTEGER NOT NULL
      )`,
    )
    this.#sql('CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, data TEXT NOT NULL)')
    this.#clear()
    const expiresAt = Date.now() + ttl
    this.#sql('INSERT INTO value (text, count, ended, expires_at) VALUES (?, 0, 0, ?)', text, expiresAt)
    void this.#state.storage.setAlarm(expiresAt)
  }

  #touch(ttl: number): void {
    if (this.#row() !== undefined) this.#sql('UPDATE value SET expires_at = ?', Date.now() + ttl)
  }

  #clear(): void {
    this.#sql('DELETE FROM value')
    this.#sql('DELETE FROM events')
  }

  #lease(): Lease | undefined {
    return this.#sql<Lease>('SELECT owner, until, listed_at FROM lease')[0]
  }

  #setLease({ owner, until, listed_at }: Lease): void {
    this.#sql('DELETE FROM lease')
    this.#sql('INSERT INTO lease (owner, until, listed_at) VALUES (?, ?, ?)', owner, until, listed_at)
  }

  #task(): TaskState | undefined {
    const row = this.#row()
    if (row === undefined) return undefined
    const { count: version, text: data, expires_at } = row
    return { version, data, owner: this.#lease()?.owner ?? null, ttl: expires_at - Date.now() }
  }

  readonly #operations: Operations = {
    create: (text, ttl) => {
      if (this.#row() !== undefined) return false
      this.#insert(text, ttl)
      return true
    },
    read: (ttl) => {
      const row = this.#row()
      if (row !== undefined && ttl !== undefined) this.#touch(ttl)
      return row?.text ?? null
    },
    replace: (expected, text) => {
      const row = this.#row()
      if (row?.text !== expected) return row?.text ?? null
      this.#sql('UPDATE value SET text = ?', text)
      return true
    },
    remove: () => {
      const existed = this.#row() !== undefined
      if (existed) this.#clear()
      this.#publish('')
      return existed
    },
    increment: (window) => {
      if (this.#row() === undefined) this.#insert('', window)
      this.#sql('UPDATE value SET count = count + 1')
      const row = this.#row()
      return { count: row?.count ?? 1, rest: row === undefined ? window : row.expires_at - Date.now() }
    },
    append: (data, ttl, maxEvents) => {
      if (this.#row() === undefined) this.#insert(crypto.randomUUID().replaceAll('-', ''), ttl)
      const stream = this.#row()
      if (stream === undefined || stream.ended === 1) return null
      this.#sql('INSERT INTO events (id, data) VALUES (?, ?)', stream.count, data)
      this.#sql('DELETE FROM events WHERE id <= ?', stream.count - maxEvents)
      this.#sql('UPDATE value SET count = count + 1')
      this.#touch(ttl)
      this.#publish('')
      return `${stream.text}-${stream.count}`
    },
    end: (ttl) => {
      if (this.#row() === undefined) return
      this.#sql('UPDATE value SET ended = 1')
      this.#touch(ttl)
      this.#publish('')
    },
    replay: (lastId, ttl) => {
      const stream = this.#row()
      const [incarnation, number = ''] = lastId.split('-')
      if (stream === undefined || stream.text !== incarnation) return null
      const rows = this.#sql<{ id: number; data: string }>(
        'SELECT id, data FROM events WHERE id >= ? ORDER BY id',
        Number(number),
      )
      if (rows[0]?.id !== Number(number)) return null
      this.#touch(ttl)
      const events = rows.slice(1).map(({ id, data }) => ({ id: `${stream.text}-${id}`, data }))
      return { events, ended: stream.ended === 1 }
    },
    refresh: (ttl) => this.#touch(ttl),
    publish: (message) => this.#publish(message),

    createTask: (data, ttl, owner, duration = 0) => {
      if (this.#row() !== undefined) return false
      this.#insert(data, ttl)
      this.#sql('UPDATE value SET count = 1')
      this.#sql(
        'CREATE TABLE IF NOT EXISTS lease (owner TEXT NOT NULL, until INTEGER NOT NULL, listed_at INTEGER NOT NULL)',
      )
      this.#sql('DELETE FROM lease')
      const until = Date.now() + duration
      if (owner !== undefined) this.#setLease({ owner, until, listed_at: until })
      return true
    },
    readTask: () => this.#task() ?? null,
    updateTask: (version, data, ends) => {
      if (this.#row()?.count !== version) return false
      this.#sql('UPDATE value SET text = ?, count = count + 1', data)
      if (ends === 1) this.#sql('DELETE FROM lease')
      return true
    },
    renewTask: (owner, duration) => {
      const row = this.#row()
      const lease = row && this.#lease()
      if (row === undefined || lease?.owner !== owner) return null
      const until = Date.now() + duration
      const isSooner = until < lease.listed_at
      this.#setLease({ owner, until, listed_at: Math.min(until, lease.listed_at) })
      return { version: row.count, isSooner, ttl: row.expires_at - Date.now() }
    },
    claimTask: (owner, duration) => {
      const row = this.#row()
      if (row === undefined) return { outcome: 'unknown' }
      const lease = this.#lease()
      if (lease === undefined) return { outcome: 'free' }
      const now = Date.now()
      if (lease.until > now) {
        this.#setLease({ ...lease, listed_at: lease.until })
        return { outcome: 'leased', rest: lease.until - now, ttl: row.expires_at - now }
      }
      this.#sql('UPDATE value SET count = count + 1')
      this.#setLease({ owner, until: now + duration, listed_at: now + duration })
      const task = { version: row.count + 1, data: row.text, owner, ttl: row.expires_at - now }
      return { outcome: 'claimed', task }
    },
    listLease: (id, time, ttl) => this.#leases.add(id, time, ttl),
    removeLease: (id) => this.#leases.remove(id),
    nextLease: (time) => this.#leases.next(time),
  }
}
