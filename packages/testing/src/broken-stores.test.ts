import type {
  CounterStore,
  EventBus,
  EventStore,
  RecordStore,
  ReplayStore,
  SessionState,
  SessionStore,
  Store,
} from '@mcpx/protocol'
import {
  createMemoryCounterStore,
  createMemoryEventBus,
  createMemoryEventStore,
  createMemoryReplayStore,
  createMemorySessionStore,
  memoryStore,
} from '@mcpx/protocol/memory'
import { describe, expect, it } from 'vitest'
import { expectFailures } from './broken.fixture.ts'
import {
  counterStoreContract,
  delay,
  eventBusContract,
  eventStoreContract,
  replayStoreContract,
  sessionStoreContract,
  storeContract,
} from './index.ts'

/** Lets the suites run the cases of processes whose clocks differ. */
const sameTwice = { openSecond: <Store>(store: Store) => store }

const sessionStore = (change: (store: SessionStore) => Partial<SessionStore>) => (): SessionStore => {
  const store = createMemorySessionStore()
  return { ...store, ...change(store) }
}

/** A session store over a map that shares its objects with callers. */
function createSharingStore(): SessionStore {
  const states = new Map<string, SessionState>()
  return {
    create: (id, state) => void states.set(id, state),
    get: (id) => states.get(id),
    update(id, change) {
      const state = states.get(id)
      if (state !== undefined) change(state)
      return state
    },
    delete: (id) => states.delete(id),
  }
}

expectFailures<SessionStore>('the contract of session stores', (create) => sessionStoreContract(create, sameTwice), {
  'returns a stored record to every process': [
    sessionStore((store) => ({
      create: (id, { initialized }, ttl) => store.create(id, { initialized: initialized ?? false }, ttl),
    })),
    'get("a") of the second store: expected {"initialized":true,"subscriptions":["x:1"]}, got {"initialized":true}',
  ],
  'returns undefined for an unknown id, also for names such as "__proto__"': [
    sessionStore(() => {
      const states: Record<string, SessionState> = {}
      return { get: (id) => states[id] }
    }),
    'get("__proto__"): expected undefined, got {}',
  ],
  'refuses to create a record whose id is taken, and keeps the old one': [
    createSharingStore,
    'the second create("a"): expected an Error, got no error',
  ],
  'stores a copy, so that later changes of the object do not change the record': [
    createSharingStore,
    'get("a") after the object that was passed to create() changed: expected {"subscriptions":["x:1"]}, got {"subscriptions":["x:1","x:2"]}',
  ],
  'returns a copy, which an update does not change': [
    createSharingStore,
    'the record that get("a") returned before the update: expected {"subscriptions":["x:1"]}, got {"subscriptions":["x:1","x:2"]}',
  ],
  'updates the newest record and returns the result': [
    sessionStore((store) => ({
      async update(id, change) {
        await store.update(id, change)
        return {}
      },
    })),
    'update("a"): expected {"subject":"s","initialized":true}, got {}',
  ],
  'loses none of 50 concurrent updates by two processes': [
    sessionStore((store) => ({
      async update(id, change) {
        const state = structuredClone(await store.get(id)) ?? {}
        change(state)
        await delay(1)
        return store.update(id, (stored) => void Object.assign(stored, { subscriptions: ['the last'] }))
      },
    })),
    /^the subscriptions of get\("a"\): expected \["x:0",.*, got \["the last"\]$/,
  ],
  'rejects an update whose callback throws, and keeps the record as it was': [
    sessionStore((store) => ({
      update(id, change) {
        return store.update(id, (state) => {
          try {
            change(state)
          } catch {}
        })
      },
    })),
    'update("a") with a callback that throws: expected an Error, got {"subscriptions":["x:1","x:2"]}',
  ],
  'returns undefined when it updates an unknown id, and creates no record': [
    sessionStore((store) => ({
      async update(id, change) {
        if ((await store.get(id)) === undefined) await store.create(id, {}, 1_000)
        return store.update(id, change)
      },
    })),
    'update("none"): expected undefined, got {}',
  ],
  'deletes a record and says whether it existed': [
    sessionStore((store) => ({
      async delete(id) {
        await store.delete(id)
        return true
      },
    })),
    'the second delete("a"): expected false, got true',
  ],
  'drops a record that was not used for its time to live': [
    sessionStore((store) => ({ create: (id, state) => store.create(id, state, 60_000) })),
    'get("a") after 300 ms with a time to live of 200 ms: expected undefined, got {}',
  ],
  'expires records while other records are used': [
    sessionStore((store) => ({ create: (id, state) => store.create(id, state, 60_000) })),
    /^the records that are left after 400 ms with a time to live of 300 ms: expected \[\], got \[\{"subject":"0"\}/,
  ],
  'does not restart the time to live with update(), or get() without one': [
    sessionStore((store) => ({
      async update(id, change) {
        await store.get(id, 60_000)
        return store.update(id, change)
      },
    })),
    'get("a") after 500 ms with a time to live of 400 ms: expected undefined, got {"initialized":true}',
  ],
  'restarts the time to live when get() is called with one': [
    sessionStore((store) => ({ get: (id) => store.get(id) })),
    /^get\("a", 600\) number [23], each after 250 ms: expected the record, got undefined$/,
  ],
  'measures times to live by its own clock, not by that of a process': [
    sessionStore((store) => {
      const expiry = new Map<string, number>()
      return {
        create(id, state, ttl) {
          expiry.set(id, Date.now() + ttl)
          return store.create(id, state, ttl)
        },
        get: (id) => ((expiry.get(id) ?? 0) > Date.now() ? store.get(id) : undefined),
      }
    }),
    'get("a") of a process whose clock is two hours ahead: expected {}, got undefined',
  ],
})

const eventStore = (change: (store: EventStore) => Partial<EventStore>) => (): EventStore => {
  const store = createMemoryEventStore()
  return { ...store, ...change(store) }
}

/** The clock of this process, by which a store that others share must not measure. */
const wallClock = () => Date.now()

expectFailures<EventStore>('the contract of event stores', (create) => eventStoreContract(create, sameTwice), {
  'replays the events after a given one, in order, to every process': [
    eventStore(() => {
      const events: { id: string; data: string }[] = []
      return {
        append: (_, data) => `${events.push({ id: `${events.length + 1}`, data })}`,
        replay: (id) => ({ streamId: 's', events: events.slice(Number(id)).reverse(), ended: false }),
      }
    }),
    'replay() of the second store: expected {"streamId":"s","events":[{"id":"2","data":"two"},{"id":"3","data":"three"}],"ended":false}, got {"streamId":"s","events":[{"id":"3","data":"three"},{"id":"2","data":"two"}],"ended":false}',
  ],
  'replays only the stream of the given event': [
    eventStore(() => {
      const events: { id: string; data: string }[] = []
      return {
        append: (_, data) => `${events.push({ id: `${events.length + 1}`, data })}`,
        replay: (id) => ({ streamId: 'a', events: events.slice(Number(id)), ended: false }),
      }
    }),
    'the events of replay(): expected [{"id":"3","data":"of a too"}], got [{"id":"2","data":"of b"},{"id":"3","data":"of a too"}]',
  ],
  'replays no events after the newest one': [
    eventStore(() => ({ replay: () => undefined })),
    'replay(): expected {"streamId":"s","events":[],"ended":false}, got undefined',
  ],
  'keeps the events of an ended stream, reports its end and refuses more events': [
    eventStore(() => ({ end: () => {} })),
    'replay() after end(): expected {"data":["two"],"ended":true}, got {"data":["two"],"ended":false}',
  ],
  'returns ids that are unique among all streams and consist of visible ASCII characters': [
    eventStore(() => {
      const sizes = new Map<string, number>()
      return {
        append(streamId) {
          sizes.set(streamId, (sizes.get(streamId) ?? 0) + 1)
          return `${sizes.get(streamId)}`
        },
      }
    }),
    'the number of different ids of 20 events in 3 streams: expected 20, got 7',
  ],
  'returns undefined for the events of unknown ids and of deleted streams': [
    eventStore(() => ({ replay: () => ({ streamId: 's', events: [], ended: false }) })),
    'replay(""): expected undefined, got {"streamId":"s","events":[],"ended":false}',
  ],
  'never uses an id twice, also when a deleted stream starts again': [
    eventStore(() => {
      let count = 0
      return {
        append: () => `${++count}`,
        delete() {
          count = 0
        },
      }
    }),
    'the ids after delete(): expected ids other than "1", got ["1","2"]',
  ],
  'keeps strings unchanged': [
    eventStore((store) => ({ append: (streamId, data) => store.append(streamId, data.trim().slice(0, 3)) })),
    'the data of event 2: expected "{\\"a\\":\\"é\u{1f600}\\\\n\\"}", got "{\\"a"',
  ],
  'gives events of concurrent writers different ids, and replays them in the same order to all processes': [
    createCountingStore,
    'the number of different ids: expected 50, got 1',
  ],
  'follows a stream from a stored event to its end, at every process': [
    eventStore((store) => ({
      async *follow(lastEventId) {
        yield* (await store.replay(lastEventId))?.events ?? []
      },
    })),
    'expected a new event at a follower within 4000 ms, got nothing',
  ],
  'sends the events of concurrent writers to every follower, each once and in the order of replay()': [
    eventStore((store) => ({
      async *follow(lastEventId, signal) {
        for await (const event of store.follow(lastEventId, signal)) yield* [event, event]
      },
    })),
    /^the events at the first follower: expected \["0","1",.*\], got \["0","0",/,
  ],
  'stops a follower when its signal is aborted, and continues to send events to the others': [
    eventStore((store) => ({
      follow: (lastEventId) => store.follow(lastEventId, new AbortController().signal),
    })),
    'expected the end of following, after the signal was aborted within 4000 ms, got nothing',
  ],
  'sends every event to a follower while 50 others begin and end': [
    eventStore((store) => {
      let ended = 0
      return {
        async *follow(lastEventId, signal) {
          const before = ended
          for await (const event of store.follow(lastEventId, signal)) {
            if (event.data !== 'last' || ended - before < 50) yield event
          }
          ended += 1
        },
      }
    }),
    /^the followed events: expected \["0",.*,"last"\], got \["0",.*,"19"\]$/,
  ],
  'throws when it follows an unknown event': [
    eventStore((store) => ({
      async *follow(lastEventId, signal) {
        if ((await store.replay(lastEventId)) !== undefined) yield* store.follow(lastEventId, signal)
      },
    })),
    'follow(""): expected an Error, got no error',
  ],
  'ends following when the stream is deleted': [
    eventStore(() => ({ delete: () => {} })),
    'expected the end of following, after delete() within 4000 ms, got nothing',
  ],
  'keeps and orders events whatever the clocks of its processes are': [
    eventStore(() => {
      const events: { id: string; data: string }[] = []
      return {
        append(_, data) {
          const id = String(wallClock())
          events.push({ id, data })
          events.sort((some, other) => Number(some.id) - Number(other.id))
          return id
        },
        replay: (last) => ({ streamId: 's', events: events.filter(({ id }) => id > last), ended: false }),
      }
    }),
    'the events that processes with different clocks have stored: expected ["0","1","2"], got ["2","0"]',
  ],
})

/** An event store whose writers read the number of events and add one later. */
function createCountingStore(): EventStore {
  const store = createMemoryEventStore()
  let count = 0
  return {
    ...store,
    async append(streamId, data) {
      const next = count + 1
      await delay(1)
      count = next
      await store.append(streamId, data)
      return String(next)
    },
  }
}

const eventBus = (change: (bus: EventBus) => Partial<EventBus>) => (): EventBus => {
  const bus = createMemoryEventBus()
  return { ...bus, ...change(bus) }
}

/** A bus that calls its listeners within `publish`. */
function createSimpleBus({ isolated = false } = {}): EventBus {
  const listeners: { topic: string; listener: (message: string) => void }[] = []
  return {
    publish(topic, message) {
      for (const each of [...listeners]) {
        if (each.topic !== topic) continue
        try {
          each.listener(message)
        } catch (error) {
          if (!isolated) throw error
        }
      }
    },
    subscribe(topic, listener) {
      const entry = { topic, listener }
      listeners.push(entry)
      return () => void listeners.splice(listeners.indexOf(entry), 1)
    },
  }
}

expectFailures<EventBus>('the contract of event buses', eventBusContract, {
  'delivers the messages of a topic in order, to every process': [
    eventBus((bus) => {
      const kept: string[] = []
      return {
        publish: (topic, message) =>
          (kept.unshift(message) === 3 ? kept : []).forEach((each) => void bus.publish(topic, each)),
      }
    }),
    'the messages at the second bus: expected ["1","2","3"], got ["3","2","1"]',
  ],
  'delivers a message to its own topic only': [
    eventBus((bus) => ({ publish: (topic, message) => bus.publish(topic || 't', message) })),
    'the messages of topic "t" after publishing to other topics: expected [], got ["of "]',
  ],
  'ends one subscription when its function is called, however often': [
    createSimpleBus,
    'the messages after one of two subscriptions of the same listener ended: expected ["x"], got []',
  ],
  'delivers to the other listeners when one throws': [createSimpleBus, 'thrown by a listener'],
  'keeps the order for every listener when one of them publishes': [
    createSimpleBus,
    'the messages at the second listener: expected ["1","2"], got ["2","1"]',
  ],
  'lets a listener end its own and other subscriptions while it is called': [
    eventBus((bus) => ({
      async subscribe(topic, listener) {
        await bus.subscribe(topic, listener)
        return () => {}
      },
    })),
    'the messages after all subscriptions ended: expected no "b", got ["a","b"]',
  ],
  'delivers the messages of 50 concurrent publishers, each once and in the order of its publisher': [
    eventBus((bus) => ({
      async publish(topic, message) {
        await bus.publish(topic, message)
        if (message === '0 1') await bus.publish(topic, message)
      },
    })),
    /^the messages at bus 1, by their publisher: expected \["0 0","0 1","0 2",.*…, got \["0 0","0 1","0 1","0 2",/,
  ],
  'delivers every message while other subscriptions begin and end': [
    eventBus((bus) => {
      let ended = 0
      return {
        publish: (topic, message) => (ended > 10 ? undefined : bus.publish(topic, message)),
        async subscribe(topic, listener) {
          const unsubscribe = await bus.subscribe(topic, listener)
          return () => {
            ended += 1
            return unsubscribe()
          }
        },
      }
    }),
    /^the messages at the lasting subscription: expected \["0",.*, got \["0"/,
  ],
  'delivers to the right subscriptions while 200 others begin at once, end at once and begin again': [
    eventBus((bus) => {
      const ended = new Set<string>()
      return {
        publish: (topic, message) => (ended.has(topic) ? undefined : bus.publish(topic, message)),
        async subscribe(topic, listener) {
          const unsubscribe = await bus.subscribe(topic, listener)
          return async () => {
            await unsubscribe()
            // Also if the topic has a subscription again.
            ended.add(topic)
          }
        },
      }
    }),
    'the messages: expected ["lasting x","t0 y","t199 y"], got ["lasting x"]',
  ],
})

describe('the contract of event buses with lost connections', () => {
  it('fails for a bus that reports no gap', async () => {
    const cases = eventBusContract(() => createMemoryEventBus(), { interrupt: async () => {} })
    await expect(cases.at(-1)?.run()).rejects.toThrow('the gaps: expected ["first: gap","second: gap"], got []')
  })

  it('passes for a bus that reports gaps', async () => {
    const gaps: (() => void)[] = []
    const bus = createMemoryEventBus()
    const reporting: EventBus = {
      ...bus,
      subscribe(topic, listener, onGap) {
        if (onGap !== undefined) gaps.push(onGap)
        return bus.subscribe(topic, listener)
      },
    }
    const cases = eventBusContract(() => reporting, { interrupt: async () => gaps.forEach((each) => void each()) })
    await cases.at(-1)?.run()
  })
})

const counterStore = (change: (store: CounterStore) => Partial<CounterStore>) => (): CounterStore => {
  const store = createMemoryCounterStore()
  return { ...store, ...change(store) }
}

expectFailures<CounterStore>('the contract of counter stores', (create) => counterStoreContract(create, sameTwice), {
  'counts the requests of all processes in one window': [
    counterStore(() => ({ increment: (_, window) => ({ count: 1, resetsAt: Date.now() + window }) })),
    'the counts of two processes: expected [1,2], got [1,1]',
  ],
  'counts each key alone, also names such as "__proto__"': [
    counterStore((store) => ({ increment: (key, window) => store.increment(key.slice(0, 1), window) })),
    'the first increment("a b"): expected 1, got 2',
  ],
  'reports the end of the window, which further requests do not move': [
    counterStore((store) => ({
      increment: async (key, window) => ({ ...(await store.increment(key, window)), resetsAt: Date.now() + window }),
    })),
    /^resetsAt of count 2: expected about \d+, got \d+$/,
  ],
  'starts a new window after the end of the last one': [
    counterStore((store) => ({ increment: (key) => store.increment(key, 60_000) })),
    'the count after the window of 200 ms: expected 1, got 2',
  ],
  'starts new windows while other keys are counted': [
    counterStore((store) => ({ increment: (key) => store.increment(key, 60_000) })),
    'the different counts after the windows of 300 ms: expected [1], got [2]',
  ],
  'loses none of 50 concurrent requests of two processes': [
    counterStore(() => {
      let stored = 0
      return {
        async increment(_, window) {
          const count = stored + 1
          await delay(1)
          stored = count
          return { count, resetsAt: Date.now() + window }
        },
      }
    }),
    /^the counts: expected \[1,2,3,.*\], got \[1,1,1,/,
  ],
  'measures windows by its own clock, and reports their end by that of the process': [
    createWallClockCounterStore,
    'the count at a process whose clock is two hours ahead: expected 2, got 1',
  ],
})

/** A counter store that measures windows by the clock of the process that calls it. */
function createWallClockCounterStore(): CounterStore {
  const windows = new Map<string, { count: number; resetsAt: number }>()
  return {
    increment(key, window) {
      const known = windows.get(key)
      const isOpen = known !== undefined && known.resetsAt > wallClock()
      const next = isOpen ? { ...known, count: known.count + 1 } : { count: 1, resetsAt: wallClock() + window }
      windows.set(key, next)
      return next
    },
  }
}

const replayStore = (change: (store: ReplayStore) => Partial<ReplayStore>) => (): ReplayStore => {
  const store = createMemoryReplayStore()
  return { ...store, ...change(store) }
}

expectFailures<ReplayStore>('the contract of replay stores', (create) => replayStoreContract(create, sameTwice), {
  'accepts an id once, whichever process stores it': [
    replayStore(() => ({ add: () => true })),
    'add("a") of the second store: expected false, got true',
  ],
  'distinguishes ids, also names such as "__proto__"': [
    replayStore((store) => ({ add: (id, ttl) => store.add(id.toLowerCase(), ttl) })),
    'the first add("A"): expected true, got false',
  ],
  'accepts an id in exactly one of 50 concurrent calls of two processes': [
    replayStore(() => {
      const ids = new Set<string>()
      return {
        async add(id) {
          const isNew = !ids.has(id)
          await delay(1)
          ids.add(id)
          return isNew
        },
      }
    }),
    'the number of calls that returned true: expected 1, got 50',
  ],
  'forgets ids while others are stored': [
    replayStore((store) => ({ add: (id) => store.add(id, 60_000) })),
    'the ids that were refused after 300 ms: expected 0, got 50',
  ],
  'forgets an id after its time to live, which a refused call does not restart': [
    replayStore(() => {
      const ids = new Map<string, number>()
      return {
        add(id, ttl) {
          const isNew = (ids.get(id) ?? 0) <= Date.now()
          ids.set(id, Date.now() + ttl)
          return isNew
        },
      }
    }),
    'add("a") after 500 ms with a time to live of 400 ms: expected true, got false',
  ],
  'measures times to live by its own clock, not by that of a process': [
    replayStore(() => {
      const ids = new Map<string, number>()
      return {
        add(id, ttl) {
          const isNew = (ids.get(id) ?? 0) <= wallClock()
          if (isNew) ids.set(id, wallClock() + ttl)
          return isNew
        },
      }
    }),
    'add("a") of a process whose clock is two hours ahead: expected false, got true',
  ],
})

describe('the contract of whole stores', () => {
  it('contains the cases of every part', async () => {
    const cases = storeContract(() => ({ ...memoryStore(), replays: { add: () => true } }))
    const failing = cases.find(({ name }) => name === 'replays: accepts an id once, whichever process stores it')
    await expect(failing?.run()).rejects.toThrow('add("a") of the second store: expected false, got true')
  })

  it('fails for a store whose sessions and records are one', async () => {
    const cases = storeContract(() => {
      const { sessions, ...others } = memoryStore()
      return { ...others, sessions, records: sessions as unknown as RecordStore }
    })
    const failing = cases.find(({ name }) => name.startsWith('keeps sessions and other records apart'))
    await expect(failing?.run()).rejects.toThrow('records.get("a"): expected undefined, got {"subject":"session"}')
  })

  it('fails for a store that loses events of followed streams with its connection', async () => {
    let isLost = false
    function createLosingStore(): Store {
      const store = memoryStore()
      const events: EventStore = {
        ...store.events,
        async *follow(lastEventId, signal) {
          for await (const event of store.events.follow(lastEventId, signal)) if (!isLost) yield event
        },
      }
      return { ...store, events }
    }
    const cases = storeContract(createLosingStore, {
      async interrupt() {
        isLost = true
        await delay(50)
        isLost = false
      },
    })
    const failing = cases.find(({ name }) => name.startsWith('loses no event of a followed stream'))
    const problem = 'the followed events: expected ["before","meanwhile","after"], got ["before","after"]'
    await expect(failing?.run()).rejects.toThrow(problem)
  })

  it.each([
    ['ends followed streams when it is closed', 'expected the followed stream to end within 50 ms, got nothing'],
    ['delivers no messages after it was closed', 'the messages after close(): expected [], got ["x"]'],
  ])('fails for a store without a working close(): %s', async (rule, problem) => {
    const cases = storeContract(() => ({ ...memoryStore(), close() {} }), {
      openSecond: (store) => ({ ...store }),
      timeout: 50,
    })
    const failing = cases.find(({ name }) => name === rule)
    await expect(failing?.run()).rejects.toThrow(problem)
  })

  it('fails for a store that cannot be closed twice', async () => {
    let isClosed = false
    const close = () => {
      if (isClosed) throw new Error('closed before')
      isClosed = true
    }
    const cases = storeContract(() => ({ ...memoryStore(), close }))
    await expect(cases.find(({ name }) => name === 'can be closed twice')?.run()).rejects.toThrow('closed before')
  })
})
