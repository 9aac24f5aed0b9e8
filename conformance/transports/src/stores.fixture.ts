/** Stores that several processes share: one process keeps them in memory, the others use them over a socket. */

import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import { createInterface, type Interface } from 'node:readline'
import type { EventBus, EventStore, RecordStore, Store } from '@mcpx/protocol'
import { memoryStore } from '@mcpx/protocol/memory'

/** A line of the protocol: a call of a store or its outcome. */
interface Line {
  readonly id: number
  readonly call?: string
  readonly args?: unknown[]
  readonly value?: unknown
  readonly failed?: string
}

interface VersionedState {
  readonly version: number
  readonly state: object
}

type Part = 'sessions' | 'records'

/** Creates the stores and the calls that each connection may make. */
function createStoreServer() {
  const { sessions, records, events, bus, counters, replays } = memoryStore()
  const parts = { sessions: sessions as RecordStore<object>, records: records as RecordStore<object> }
  const versions = new Map<string, number>()
  const versionOf = (part: Part, id: string) => versions.get(`${part} ${id}`) ?? 0

  function swap(part: Part, id: string, version: number, state: object): boolean {
    if (versionOf(part, id) !== version) return false
    versions.set(`${part} ${id}`, version + 1)
    void parts[part].update(id, (current) => {
      for (const name of Object.keys(current)) delete (current as Record<string, unknown>)[name]
      Object.assign(current, state)
    })
    return true
  }

  return (send: (line: object) => void) => {
    const unsubscribers = new Map<string, () => unknown>()
    const calls: Record<string, (...args: never[]) => unknown> = {
      create: (part: Part, id: string, state: object, ttl: number) => parts[part].create(id, state, ttl),
      async get(part: Part, id: string, ttl?: number): Promise<VersionedState | undefined> {
        const version = versionOf(part, id)
        const state = await parts[part].get(id, ttl)
        return state && { version, state }
      },
      swap,
      drop: (part: Part, id: string) => parts[part].delete(id),
      append: (stream: string, data: string) => events.append(stream, data),
      end: (stream: string) => events.end(stream),
      replay: (last: string) => events.replay(last),
      forget: (stream: string) => events.delete(stream),
      publish: (topic: string, message: string) => bus.publish(topic, message),
      async subscribe(topic: string, name: string) {
        unsubscribers.set(name, await bus.subscribe(topic, (message) => send({ heard: name, message })))
      },
      stop: (name: string) => unsubscribers.get(name)?.(),
      async increment(key: string, window: number) {
        const { count, resetsAt } = await counters.increment(key, window)
        return { count, rest: resetsAt - Date.now() }
      },
      add: (id: string, ttl: number) => replays.add(id, ttl),
    }
    return { calls, end: () => unsubscribers.forEach((stop) => void stop()) }
  }
}

/** Reads lines from a socket. Errors of killed processes are ignored on the socket and on the reader. */
function linesOf(socket: Socket): Interface {
  socket.on('error', () => {})
  return createInterface(socket).on('error', () => {})
}

/** Serves stores on a port. */
export async function serveStores(): Promise<{ port: number; close: () => void }> {
  const storeServer = createStoreServer()
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    const send = (line: object) => void socket.write(`${JSON.stringify(line)}\n`)
    const { calls, end } = storeServer(send)
    sockets.add(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      end()
    })
    linesOf(socket).on('line', async (text) => {
      const { id, call = '', args = [] } = JSON.parse(text) as Line
      try {
        send({ id, value: await calls[call]?.(...(args as never[])) })
      } catch (error) {
        send({ id, failed: (error as Error).message })
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Connects to the stores of another process. */
export async function openStores(port: number): Promise<Store & { close: () => void }> {
  const socket = dial({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  const listeners = new Map<string, (message: string) => void>()
  let count = 0
  linesOf(socket).on('line', (text) => {
    const line = JSON.parse(text) as Line & { heard?: string; message: string }
    if (line.heard !== undefined) listeners.get(line.heard)?.(line.message)
    else if (line.failed === undefined) waiting.get(line.id)?.resolve(line.value as never)
    else waiting.get(line.id)?.reject(new Error(line.failed))
    waiting.delete(line.id)
  })

  socket.on('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('The connection to the stores was closed'))
    waiting.clear()
    listeners.clear()
  })

  function ask<T>(call: string, ...args: unknown[]): Promise<T> {
    if (socket.destroyed) return Promise.reject(new Error('The connection to the stores was closed'))
    const id = ++count
    socket.write(`${JSON.stringify({ id, call, args })}\n`)
    return new Promise<T>((resolve, reject) => waiting.set(id, { resolve, reject }))
  }

  const recordStore = <T extends object>(part: Part): RecordStore<T> => ({
    create: (id, state, ttl) => ask('create', part, id, state, ttl),
    get: async (id, ttl) => (await ask<VersionedState | undefined>('get', part, id, ttl))?.state as T | undefined,
    async update(id, change) {
      for (;;) {
        const current = await ask<VersionedState | undefined>('get', part, id)
        if (current === undefined) return undefined
        change(current.state as T)
        if (await ask<boolean>('swap', part, id, current.version, current.state)) return current.state as T
      }
    },
    delete: (id) => ask('drop', part, id),
  })
  const events: EventStore = {
    append: (stream, data) => ask('append', stream, data),
    end: (stream) => ask('end', stream),
    replay: (last) => ask('replay', last),
    async *follow(last, signal) {
      let after = last
      while (!signal.aborted) {
        const missed = await events.replay(after)
        if (missed === undefined) throw new Error('follow: the event is unknown')
        for (const event of missed.events) {
          yield event
          after = event.id
        }
        if (missed.events.length > 0) continue
        if (missed.ended) return
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    delete: (stream) => ask('forget', stream),
  }
  const bus: EventBus = {
    publish: (topic, message) => ask('publish', topic, message),
    async subscribe(topic, listener) {
      const name = String(++count)
      listeners.set(name, (message) => {
        try {
          listener(message)
        } catch {
          // A listener that throws does not disturb the others.
        }
      })
      await ask('subscribe', topic, name)
      return async () => {
        if (listeners.delete(name)) await ask('stop', name)
      }
    },
  }
  return {
    sessions: recordStore('sessions'),
    records: recordStore('records'),
    events,
    bus,
    counters: {
      async increment(key, window) {
        const { count, rest } = await ask<{ count: number; rest: number }>('increment', key, window)
        return { count, resetsAt: Date.now() + rest }
      },
    },
    replays: { add: (id, ttl) => ask('add', id, ttl) },
    close: () => void socket.destroy(),
  }
}
