/** Stores the state that the instances of a server share, in Durable Objects of Cloudflare. */

import {
  checkStoreOptions,
  type EventReplay,
  type EventStore,
  followByReplay,
  type RecordStore,
  type Store,
  type StoredEvent,
  type TaskStore,
} from '@mcpx/protocol'
import { CloudflareStoreError, type CloudflareStoreOptions, Objects } from './client.ts'
import type { ObjectNamespace } from './platform.ts'
import { CloudflareTaskStore } from './tasks.ts'

export { CloudflareStoreError, type CloudflareStoreOptions } from './client.ts'
export { McpxStore } from './object.ts'
export type {
  ObjectNamespace,
  ObjectResponse,
  ObjectState,
  ObjectStorage,
  ObjectStub,
  PlatformSocket,
} from './platform.ts'

/** A store in Durable Objects. */
export interface CloudflareStore extends Store {
  /** Tasks. */
  readonly tasks: TaskStore
  /** Ends all subscriptions and followed streams. */
  close(): Promise<void>
}

/**
 * Creates a store in Durable Objects: one object for each session or other record, stream, topic, counted key, used id and task.
 *
 * @param namespace The binding of the class `McpxStore`, for example `env.MCPX_STORE`.
 */
export function durableObjectStore(namespace: ObjectNamespace, options: CloudflareStoreOptions = {}): CloudflareStore {
  checkStoreOptions('durableObjectStore', options, ['eventTtl', 'maxEvents'])
  const objects = new Objects(namespace, options)
  const events = new CloudflareEventStore(objects, options)
  return {
    sessions: recordStore(objects, 'session'),
    records: recordStore(objects, 'record'),
    events,
    bus: {
      publish: async (topic, message) => void (await objects.call(`topic:${topic}`, 'publish', message)),
      subscribe: (topic, listener, onGap = () => {}) => objects.subscribe(`topic:${topic}`, listener, onGap),
    },
    counters: {
      async increment(key, window) {
        const { count, rest } = await objects.call(`counter:${key}`, 'increment', window)
        return { count, resetsAt: Date.now() + rest }
      },
    },
    replays: { add: (id, ttl) => objects.call(`replay:${id}`, 'create', '', ttl) },
    tasks: new CloudflareTaskStore(objects),
    async close() {
      events.close()
      objects.close()
    },
  }
}

/** How often other instances may change a record during one update of it. */
const MAX_CONFLICTS = 1_000

function recordStore<T extends object>(objects: Objects, kind: string): RecordStore<T> {
  const nameOf = (id: string) => `${kind}:${id}`
  return {
    async create(id, state, ttl) {
      const isNew = await objects.call(nameOf(id), 'create', JSON.stringify(state), ttl)
      if (!isNew) throw new Error('A record with this id exists already')
    },
    async get(id, ttl) {
      const args = ttl === undefined ? ([] as const) : ([ttl] as const)
      const text = await objects.call(nameOf(id), 'read', ...args)
      return text === null ? undefined : JSON.parse(text)
    },
    async update(id, change) {
      let text = await objects.call(nameOf(id), 'read')
      for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
        if (text === null) return undefined
        const state: T = JSON.parse(text)
        change(state)
        const replaced = await objects.call(nameOf(id), 'replace', text, JSON.stringify(state))
        if (replaced === true) return state
        text = replaced
      }
      throw new CloudflareStoreError(`A record was changed ${MAX_CONFLICTS} times by others during one update`, {
        retryable: true,
      })
    },
    delete: (id) => objects.call(nameOf(id), 'remove'),
  }
}

const EVENT_ID = /^(.*)\.([\da-f]{32}-(?:0|[1-9]\d{0,14}))$/s

/** Stores the events of SSE streams. Each stream has an object; followers have a WebSocket to this object. */
class CloudflareEventStore implements EventStore {
  readonly #objects: Objects
  readonly #ttl: number
  readonly #maxEvents: number
  /** Aborted when the store is closed. */
  readonly #closing = new AbortController()

  constructor(objects: Objects, { eventTtl = 300_000, maxEvents = 1_000 }: CloudflareStoreOptions) {
    this.#objects = objects
    this.#ttl = eventTtl
    this.#maxEvents = maxEvents
  }

  async append(streamId: string, data: string): Promise<string> {
    const id = await this.#objects.call(nameOf(streamId), 'append', data, this.#ttl, this.#maxEvents)
    if (id === null) throw new Error('The stream has ended and accepts no more events')
    return `${streamId}.${id}`
  }

  async end(streamId: string): Promise<void> {
    await this.#objects.call(nameOf(streamId), 'end', this.#ttl)
  }

  async replay(lastEventId: string): Promise<EventReplay | undefined> {
    const [, streamId, lastId] = EVENT_ID.exec(lastEventId) ?? []
    if (streamId === undefined || lastId === undefined) return undefined
    const replay = await this.#objects.call(nameOf(streamId), 'replay', lastId, this.#ttl)
    if (replay === null) return undefined
    return { streamId, ...replay, events: replay.events.map(({ id, data }) => ({ id: `${streamId}.${id}`, data })) }
  }

  follow(lastEventId: string, signal: AbortSignal): AsyncGenerator<StoredEvent> {
    const name = nameOf(lastEventId.slice(0, lastEventId.lastIndexOf('.')))
    return followByReplay(lastEventId, [signal, this.#closing.signal], {
      replay: (last) => this.replay(last),
      subscribe: (listener) => this.#objects.subscribe(name, listener, listener),
    })
  }

  async refresh(streamId: string): Promise<void> {
    await this.#objects.call(nameOf(streamId), 'refresh', this.#ttl)
  }

  async delete(streamId: string): Promise<void> {
    await this.#objects.call(nameOf(streamId), 'remove')
  }

  /** Ends all followed streams. */
  close(): void {
    this.#closing.abort()
  }
}

const nameOf = (streamId: string) => `events:${streamId}`
