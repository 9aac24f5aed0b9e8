import type { EventBus, EventStore, SessionState, SessionStore } from '@mcpx/protocol'
import { createMemoryEventBus, createMemoryEventStore, createMemorySessionStore } from '@mcpx/protocol/memory'
import { expectFailures } from './broken.fixture.ts'
import { delay, eventBusContract, eventStoreContract, sessionStoreContract } from './index.ts'

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

expectFailures<SessionStore>('the contract of session stores', sessionStoreContract, {
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
    /^the subscriptions of get\("a"\): expected \["x:0",.*\], got \["the last"\]$/,
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
  'restarts the time to live when get() is called with one': [
    sessionStore((store) => ({ get: (id) => store.get(id) })),
    /^get\("a", 600\) number [23], each after 250 ms: expected the record, got undefined$/,
  ],
})

const eventStore = (change: (store: EventStore) => Partial<EventStore>) => (): EventStore => {
  const store = createMemoryEventStore()
  return { ...store, ...change(store) }
}

expectFailures<EventStore>('the contract of event stores', eventStoreContract, {
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
})

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
})
