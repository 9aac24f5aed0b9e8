/** The contract of event stores, which make SSE streams resumable. */

import type { EventStore } from '@mcpx/protocol'
import { check, checkEqual, checkError } from './check.ts'
import { type ContractCase, defineContract } from './contract.ts'
import type { StoreContractOptions } from './session-store-contract.ts'

/**
 * The cases that every event store must pass.
 *
 * @param create Called once per case; returns an empty store.
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
  })
}
