/** The contract of whole stores: the contracts of all parts, and of `close`. */

import type { EventStore, Store } from '@mcpx/protocol'
import { checkEqual } from './check.ts'
import { type ContractCase, defineContract } from './contract.ts'
import { counterStoreContract } from './counter-store-contract.ts'
import { type EventBusContractOptions, eventBusContract } from './event-bus-contract.ts'
import { eventStoreContract } from './event-store-contract.ts'
import { replayStoreContract } from './replay-store-contract.ts'
import { recordStoreContract, type StoreContractOptions, sessionStoreContract } from './session-store-contract.ts'
import { taskStoreContract } from './task-store-contract.ts'
import { delay } from './timing.ts'

/** Options of `storeContract`. */
export interface WholeStoreContractOptions
  extends StoreContractOptions<Store>,
    Pick<EventBusContractOptions, 'waitForDelivery'> {
  /**
   * Breaks the connections of a store for the bus and for followed streams, and resolves when it has connected again. See
   * `interrupt` of `eventBusContract`. Default: the cases of lost connections are left out.
   */
  readonly interrupt?: ((store: Store) => Promise<void>) | undefined
}

type Part = Exclude<keyof Store, 'close'>

/** The type of a part of a store, without undefined. */
type PartOf<Name extends Part> = Exclude<Store[Name], undefined>

/** Ends a case about tasks if the store has no tasks. */
const NO_TASKS = new Error('The store has no tasks')

/**
 * The cases that every store must pass: the cases of its parts, and cases for `close`. Each case closes the stores that
 * it has used, if they have a `close` method. If a store does not have the optional member `tasks`, the cases for tasks
 * pass.
 *
 * @param create Called for each try of a case; returns an empty store.
 */
export function storeContract(
  create: () => Store | Promise<Store>,
  options: WholeStoreContractOptions = {},
): readonly ContractCase[] {
  const { openSecond = (store) => store, interrupt, waitForDelivery, timeout } = options
  const opened = new Set<Store>()
  /** The store of each part, because the suites of parts only know the part. */
  const owners = new WeakMap<object, Store>()

  function use<Name extends Part>(name: Name, store: Store): PartOf<Name> {
    opened.add(store)
    const part = store[name]
    if (part === undefined) throw NO_TASKS
    owners.set(part, store)
    return part as PartOf<Name>
  }

  function partOptions<Name extends Part>(name: Name) {
    return {
      timeout,
      openSecond:
        options.openSecond && (async (part: PartOf<Name>) => use(name, await openSecond(owners.get(part) as Store))),
    }
  }

  async function open<Name extends Part>(name: Name): Promise<PartOf<Name>> {
    return use(name, await create())
  }

  async function closeAll(): Promise<void> {
    const stores = [...opened]
    opened.clear()
    for (const store of stores) await store.close?.()
  }

  const busOptions: EventBusContractOptions = {
    ...partOptions('bus'),
    waitForDelivery,
    interrupt: interrupt && ((bus) => interrupt(owners.get(bus) as Store)),
  }
  const parts: Record<Part, readonly ContractCase[]> = {
    sessions: sessionStoreContract(() => open('sessions'), partOptions('sessions')),
    records: recordStoreContract(() => open('records'), partOptions('records')),
    events: eventStoreContract(() => open('events'), partOptions('events')),
    bus: eventBusContract(() => open('bus'), busOptions),
    counters: counterStoreContract(() => open('counters'), partOptions('counters')),
    replays: replayStoreContract(() => open('replays'), partOptions('replays')),
    tasks: passWithoutTasks(taskStoreContract(() => open('tasks'), partOptions('tasks'))),
  }
  const whole = defineContract(
    'A store',
    { timeout },
    {
      async 'keeps sessions and other records apart, because clients choose the ids of sessions that they ask for'() {
        const store = await create()
        opened.add(store)
        await store.sessions.create('a', { subject: 'session' }, 60_000)
        checkEqual('records.get("a")', await store.records.get('a'), undefined)
        await store.records.create('a', { subject: 'record' }, 60_000)
        await store.records.delete('a')
        checkEqual('sessions.get("a")', await store.sessions.get('a'), { subject: 'session' })
      },

      async 'ends followed streams when it is closed'(waitFor) {
        const store = await create()
        opened.add(store)
        if (store.close === undefined) return
        // A closed store may fail.
        const followed = follow(store.events, await store.events.append('s', ''), []).catch(() => {})
        await store.close()
        await waitFor('the followed stream to end', followed)
      },

      async 'delivers no messages after it was closed'() {
        const store = await create()
        opened.add(store)
        const second = await openSecond(store)
        if (store.close === undefined || second === store) return
        opened.add(second)
        const received: string[] = []
        await store.bus.subscribe('t', (message) => received.push(message))
        await store.close()
        await second.bus.publish('t', 'x')
        await waitForDelivery?.()
        checkEqual('the messages after close()', received, [])
      },

      async 'can be closed twice'() {
        const store = await create()
        opened.add(store)
        await store.close?.()
        await store.close?.()
      },
    },
  )
  const interrupted = defineContract(
    'A store',
    { timeout },
    {
      async 'loses no event of a followed stream when its connection is lost'(waitFor) {
        const store = await create()
        opened.add(store)
        const second = await openSecond(store)
        opened.add(second)
        const received: string[] = []
        const followed = follow(store.events, await store.events.append('s', ''), received)
        await second.events.append('s', 'before')
        while (received.length === 0) await delay(5)
        const interrupting = interrupt?.(store)
        await second.events.append('s', 'meanwhile')
        await interrupting
        await second.events.append('s', 'after')
        await second.events.end('s')
        await waitFor('the end of the followed stream', followed)
        checkEqual('the followed events', received, ['before', 'meanwhile', 'after'])
      },
    },
  )
  const cases = Object.entries(parts).flatMap(([part, suite]) =>
    suite.map(({ name, run }) => ({ name: `${part}: ${name}`, run })),
  )
  const all = [...cases, ...whole, ...(interrupt ? interrupted : [])]
  return all.map(({ name, run }) => ({ name, run: () => run().finally(closeAll) }))
}

/** Changes cases so that they pass for a store without tasks, because `tasks` is an optional member. */
function passWithoutTasks(cases: readonly ContractCase[]): readonly ContractCase[] {
  return cases.map(({ name, run }) => ({
    name,
    run: () =>
      run().catch((error: Error) => {
        if (error.cause !== NO_TASKS) throw error
      }),
  }))
}

/** Follows a stream, and resolves at its end. */
async function follow(events: EventStore, lastEventId: string, received: string[]): Promise<void> {
  for await (const { data } of events.follow(lastEventId, new AbortController().signal)) received.push(data)
}
