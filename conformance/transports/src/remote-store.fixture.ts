/** Stores in another process. This process uses them by messages. */

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { EventBus, EventStore, RecordStore, Store, StoredEvent, TaskStore } from '@mcpx/protocol'
import { compileCache, fromSource } from './hosts.fixture.ts'
import type { StoreReply, StoreRequest, StoreSettings } from './store-process.fixture.ts'

export interface StoreProcess {
  readonly child: ChildProcess
  /** Opens a store in the process. */
  open(settings: StoreSettings): Promise<Store>
  /** Serves stores in the memory of the process for `openStores`. Returns the port. */
  serve(): Promise<number>
  stop(): void
}

/** Starts a process with stores. Its clock differs from the clock of the machine by `shift` ms. */
export function startStoreProcess(shift = 0): StoreProcess {
  const child = fork(fileURLToPath(new URL('./store-process.fixture.ts', import.meta.url)), [String(shift)], {
    execArgv: [...fromSource],
    serialization: 'advanced',
    env: { ...process.env, ...compileCache },
  })
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>()
  const listeners = new Map<number, (reply: StoreReply) => void>()
  let count = 0

  child.on('message', (reply: StoreReply) => {
    if ('name' in reply) return listeners.get(reply.name)?.(reply)
    const { id, value, failed } = reply
    if (failed === undefined) waiting.get(id)?.resolve(value as never)
    else waiting.get(id)?.reject(new Error(failed))
    waiting.delete(id)
  })

  function ask<T>(operation: StoreRequest['operation'], ...args: readonly unknown[]): Promise<T> {
    count += 1
    const id = count
    child.send({ id, operation, args } satisfies StoreRequest)
    return new Promise<T>((resolve, reject) => waiting.set(id, { resolve, reject }))
  }

  function storeOf(index: number): Store {
    const call =
      (part: keyof Store, method: string) =>
      <T>(...args: unknown[]) =>
        ask<T>('call', index, part, method, ...args)

    const recordsOf = <T extends object>(part: 'sessions' | 'records'): RecordStore<T> => ({
      create: call(part, 'create'),
      get: call(part, 'get'),
      async update(id, change) {
        for (;;) {
          const state = await call(part, 'get')<T | undefined>(id)
          if (state === undefined) return undefined
          const expected = JSON.stringify(state)
          change(state)
          if (await ask<boolean>('replace', index, part, id, expected, state)) return state
        }
      },
      delete: call(part, 'delete'),
    })

    const events: EventStore = {
      append: call('events', 'append'),
      end: call('events', 'end'),
      replay: call('events', 'replay'),
      refresh: call('events', 'refresh'),
      delete: call('events', 'delete'),
      async *follow(lastEventId, signal) {
        if (signal.aborted) return
        count += 1
        const name = count
        const replies: StoreReply[] = []
        let resume = () => {}
        listeners.set(name, (reply) => {
          replies.push(reply)
          resume()
        })
        const end = () => void ask('end', name)
        signal.addEventListener('abort', end)
        await ask('follow', name, index, lastEventId)
        try {
          for (;;) {
            const reply = replies.shift() as { event?: StoredEvent; failed?: string } | undefined
            if (reply?.failed !== undefined) throw new Error(reply.failed)
            if (reply?.event !== undefined) yield reply.event
            else if (reply !== undefined) return
            else await new Promise<void>((resolve) => (resume = resolve))
          }
        } finally {
          signal.removeEventListener('abort', end)
          listeners.delete(name)
          end()
        }
      },
    }

    const bus: EventBus = {
      publish: call('bus', 'publish'),
      async subscribe(topic, listener, onGap) {
        count += 1
        const name = count
        listeners.set(name, (reply) => {
          try {
            if ('message' in reply && reply.message !== undefined) listener(reply.message)
            else onGap?.()
          } catch {
            // A listener that throws does not disturb the others.
          }
        })
        await ask('subscribe', name, index, topic)
        return async () => {
          if (listeners.delete(name)) await ask('end', name)
        }
      },
    }

    const tasks: TaskStore = {
      create: call('tasks', 'create'),
      get: call('tasks', 'get'),
      update: call('tasks', 'update'),
      renew: call('tasks', 'renew'),
      claim: call('tasks', 'claim'),
    }

    return {
      sessions: recordsOf('sessions'),
      records: recordsOf('records'),
      events,
      bus,
      counters: { increment: call('counters', 'increment') },
      replays: { add: call('replays', 'add') },
      tasks,
      close: () => ask('close', index),
    }
  }

  return {
    child,
    open: async (settings) => storeOf(await ask<number>('open', settings)),
    serve: () => ask<number>('serve'),
    stop: () => void child.kill('SIGKILL'),
  }
}
