/** The Durable Object that keeps one record, stream, count or used id, or the subscriptions of one topic. */

import type { ObjectState, PlatformSocket } from './platform.ts'

/** A call of an object: the name of an operation with its arguments. */
export interface ObjectCall {
  readonly operation: keyof Operations
  readonly args: readonly (string | number)[]
}

/** The operations of an object. Times are in ms. */
export interface Operations {
  /** Stores a text. Returns whether there was none. */
  create(text: string, ttl: number): boolean
  /** Returns the text, and restarts its time to live if one is given. */
  read(ttl?: number): string | null
  /** Replaces the text if it is the expected one. Returns true, or the newest text. */
  replace(expected: string, text: string): true | string | null
  /** Deletes everything. Returns whether there was something. */
  remove(): boolean
  /** Increments a count in a window. */
  increment(window: number): { count: number; resetsAt: number }
  /** Adds an event. Returns its id, or null if the stream has ended. */
  append(data: string, ttl: number, maxEvents: number): string | null
  end(ttl: number): void
  /** Returns the events after an event. */
  replay(lastId: string, ttl: number): Replay | null
  refresh(ttl: number): void
  /** Sends a message to all subscriptions of the topic. */
  publish(message: string): void
}

/** The events of a stream after a known one. */
export interface Replay {
  readonly events: readonly { readonly id: string; readonly data: string }[]
  readonly ended: boolean
}

/** The value of an object that is not a topic. */
interface Row {
  /** The text of a record; the id of this incarnation of a stream. */
  readonly text: string
  /** The count of a counter; the number of the next event of a stream. */
  readonly count: number
  readonly ended: number
  readonly expires_at: number
}

/** Creates both ends of a WebSocket. A global of the platform. */
declare const WebSocketPair: new () => Record<'0' | '1', PlatformSocket>

/** The state of a WebSocket that is not closing. */
const OPEN = 1

/** The state of an object. Export it from the Worker, and list it in `new_sqlite_classes` of the wrangler configuration. */
export class McpxStore {
  readonly #state: ObjectState

  constructor(state: ObjectState) {
    this.#state = state
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
    const row = this.#row()
    if (row === undefined) await this.#state.storage.deleteAll()
    else await this.#state.storage.setAlarm(row.expires_at)
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

  /** Objects that were never written have no tables, so that reading leaves nothing behind. */
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
      return { count: row?.count ?? 1, resetsAt: row?.expires_at ?? Date.now() + window }
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
  }
}
