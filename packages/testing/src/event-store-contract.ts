/** The contract of event stores, which make SSE streams resumable. */

import type { EventStore, StoredEvent } from '@mcpx/protocol'
import { check, checkEqual, checkError } from './check.ts'
import { type ContractCase, defineContract } from './contract.ts'
import type { StoreContractOptions } from './session-store-contract.ts'
import { delay, HOUR, withClockShifted } from './timing.ts'

/**
 * The cases that every event store must pass.
 *
 * @param create Called for each try of a case; returns an empty store.
 */
export function eventStoreContract(
  create: () => EventStore | Promise<EventStore>,
  options: StoreContractOptions<EventStore> = {},
): readonly ContractCase[] {
  const { openSecond = (store) => store } = options
  return defineContract('An event store', options, {
    async 'replays the events after a given one, in order, to every process'() {
      const store = await create()
      const first = await store.append('s', 'one')
      const second = await store.append('s', 'two')
      const third = await store.append('s', 'three')
      const other = await openSecond(store)
      checkEqual('replay() of the second store', await other.replay(first), {
        streamId: 's',
        events: [
          { id: second, data: 'two' },
          { id: third, data: 'three' },
        ],
        ended: false,
      })
    },

    async 'replays only the stream of the given event'() {
      const store = await create()
      const first = await store.append('a', 'of a')
      await store.append('b', 'of b')
      const next = await store.append('a', 'of a too')
      const replay = await store.replay(first)
      checkEqual('the events of replay()', replay?.events, [{ id: next, data: 'of a too' }])
    },

    async 'replays no events after the newest one'() {
      const store = await create()
      const only = await store.append('s', '')
      checkEqual('replay()', await store.replay(only), { streamId: 's', events: [], ended: false })
    },

    async 'keeps the events of an ended stream, reports its end and refuses more events'() {
      const store = await create()
      const first = await store.append('s', 'one')
      await store.append('s', 'two')
      await store.end('s')
      const replay = await store.replay(first)
      const received = { data: replay?.events.map(({ data }) => data), ended: replay?.ended }
      checkEqual('replay() after end()', received, { data: ['two'], ended: true })
      await checkError('append() after end()', () => store.append('s', 'three'))
    },

    async 'returns ids that are unique among all streams and consist of visible ASCII characters'() {
      const store = await create()
      const ids: string[] = []
      for (let n = 0; n < 20; n++) ids.push(await store.append(`s.${n % 3}`, 'x'))
      checkEqual('the number of different ids of 20 events in 3 streams', new Set(ids).size, 20)
      for (const id of ids) check('an id', /^[\x21-\x7e]+$/.test(id), 'visible ASCII characters', id)
    },

    async 'returns undefined for the events of unknown ids and of deleted streams'() {
      const store = await create()
      const id = await store.append('s', 'one')
      for (const unknown of ['', 'x', `${id}0`, `t${id}`, '__proto__', 's', '.']) {
        checkEqual(`replay(${JSON.stringify(unknown)})`, await store.replay(unknown), undefined)
      }
      await store.delete('s')
      checkEqual('replay() of a deleted stream', await store.replay(id), undefined)
    },

    async 'never uses an id twice, also when a deleted stream starts again'() {
      const store = await create()
      const old = await store.append('s', 'old')
      await store.delete('s')
      const ids = [await store.append('s', 'new'), await store.append('s', 'newer')]
      check('the ids after delete()', !ids.includes(old), `ids other than ${JSON.stringify(old)}`, ids)
      checkEqual('replay() of the deleted event', await store.replay(old), undefined)
    },

    async 'keeps strings unchanged'() {
      const store = await create()
      const first = await store.append('s', '')
      const strings = ['', '{"a":"é\u{1f600}\\n"}', 'x'.repeat(10_000)]
      for (const each of strings) await store.append('s', each)
      const replay = await store.replay(first)
      for (const [n, data] of strings.entries()) {
        checkEqual(`the data of event ${n + 1}`, replay?.events[n]?.data, data)
      }
    },

    async 'gives events of concurrent writers different ids, and replays them in the same order to all processes'() {
      const store = await create()
      const second = await openSecond(store)
      const start = await store.append('s', '')
      const written = await Promise.all(
        Array.from({ length: 50 }, async (_, n) => ({
          id: await (n % 2 ? store : second).append('s', String(n)),
          data: String(n),
        })),
      )
      const replay = await store.replay(start)
      const byId = (events: readonly StoredEvent[] = []) => events.map(({ id, data }) => `${id} ${data}`).sort()
      checkEqual('the number of different ids', new Set(written.map(({ id }) => id)).size, 50)
      checkEqual('the events of replay(), sorted', byId(replay?.events), byId(written))
      checkEqual('replay() of the second store', await second.replay(start), replay)
      const middle = replay?.events[24]?.id ?? ''
      checkEqual('replay() after the 25th event', (await store.replay(middle))?.events, replay?.events.slice(25))
    },

    async 'follows a stream from a stored event to its end, at every process'(waitFor) {
      const store = await create()
      const second = await openSecond(store)
      const start = await store.append('s', 'start')
      await store.append('s', 'one')
      const received: string[] = []
      const followed = collect(second, start, received)
      await waitFor(
        'the stored event at a follower',
        until(() => received.length >= 1),
      )
      await store.append('other', 'of another stream')
      await store.append('s', 'two')
      await waitFor(
        'a new event at a follower',
        until(() => received.length >= 2),
      )
      await second.append('s', 'three')
      await store.end('s')
      await waitFor('the end of following, after the end of the stream', followed)
      checkEqual('the followed events', received, ['one', 'two', 'three'])
    },

    async 'sends the events of concurrent writers to every follower, each once and in the order of replay()'(waitFor) {
      const store = await create()
      const second = await openSecond(store)
      const start = await store.append('s', '')
      const received: [string[], string[]] = [[], []]
      const followed = [collect(store, start, received[0]), collect(second, start, received[1])]
      await Promise.all(Array.from({ length: 50 }, async (_, n) => (n % 2 ? store : second).append('s', String(n))))
      await store.end('s')
      await waitFor('the end of both followers', Promise.all(followed))
      const replayed = (await store.replay(start))?.events.map(({ data }) => data)
      checkEqual('the events at the first follower', received[0], replayed)
      checkEqual('the events at the second follower', received[1], replayed)
    },

    async 'stops a follower when its signal is aborted, and continues to send events to the others'(waitFor) {
      const store = await create()
      const start = await store.append('s', '')
      const received: [string[], string[]] = [[], []]
      const controller = new AbortController()
      const aborted = collect(store, start, received[0], controller.signal)
      const other = collect(store, start, received[1])
      await delay(20)
      controller.abort()
      await waitFor('the end of following, after the signal was aborted', aborted)
      await store.append('s', 'one')
      await store.end('s')
      await waitFor('the end of the other follower', other)
      checkEqual('the events at the aborted and the other follower', received, [[], ['one']])
      await waitFor('following with an aborted signal', collect(store, start, received[0], AbortSignal.abort()))
      checkEqual('the events with an aborted signal', received[0], [])
    },

    async 'sends every event to a follower while 50 others begin and end'(waitFor) {
      const store = await create()
      const second = await openSecond(store)
      const start = await store.append('s', '')
      const received: string[] = []
      const followed = collect(second, start, received)
      const churn = Array.from({ length: 50 }, async (_, n) => {
        const controller = new AbortController()
        const other = collect(n % 2 ? store : second, start, [], controller.signal)
        await delay(n % 10)
        controller.abort()
        await other
      })
      const sent = Array.from({ length: 20 }, (_, n) => String(n))
      for (const data of sent) await store.append('s', data)
      await waitFor('the end of the other followers', Promise.all(churn))
      await store.append('s', 'last')
      await store.end('s')
      await waitFor('the end of the follower', followed)
      checkEqual('the followed events', received, [...sent, 'last'])
    },

    async 'throws when it follows an unknown event'() {
      const store = await create()
      const id = await store.append('s', '')
      for (const unknown of ['', `${id}0`, 't', '__proto__']) {
        await checkError(`follow(${JSON.stringify(unknown)})`, () => collect(store, unknown, []))
      }
    },

    async 'ends following when the stream is deleted'(waitFor) {
      const store = await create()
      const followed = collect(store, await store.append('s', ''), []).catch(() => {})
      await delay(20)
      await store.delete('s')
      await waitFor('the end of following, after delete()', followed)
    },
    ...(options.openSecond && {
      async 'keeps and orders events whatever the clocks of its processes are'() {
        const store = await create()
        const second = await openSecond(store)
        const start = await withClockShifted(-HOUR, () => store.append('s', ''))
        for (const [n, hours] of [1, -1, 0].entries()) {
          await withClockShifted(hours * HOUR, () => (n % 2 ? store : second).append('s', String(n)))
        }
        const replay = await withClockShifted(HOUR, () => second.replay(start))
        const data = replay?.events.map((event) => event.data)
        checkEqual('the events that processes with different clocks have stored', data, ['0', '1', '2'])
      },
    }),
  })
}

/** Follows a stream, and resolves at its end. */
async function collect(
  store: EventStore,
  lastEventId: string,
  received: string[],
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  for await (const { data } of store.follow(lastEventId, signal)) received.push(data)
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5)
}
