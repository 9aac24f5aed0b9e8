/** What every EventStore must do, whatever it is made of. */

import type { EventStore } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import type { StoreContractOptions } from './session-store-contract.ts'
import { caught } from './timing.ts'

export function eventStoreContract(
  name: string,
  { create, twin = (store) => store }: StoreContractOptions<EventStore>,
): void {
  describe(`${name} as an event store`, () => {
    it('replays what came after an event, in order, to any process', async () => {
      const store = await create()
      const first = await store.append('s', 'one')
      const second = await store.append('s', 'two')
      const third = await store.append('s', 'three')
      const replay = await (await twin(store)).replay(first)
      expect(replay).toEqual({
        streamId: 's',
        events: [
          { id: second, data: 'two' },
          { id: third, data: 'three' },
        ],
        ended: false,
      })
    })

    it('replays only the stream that the event belongs to', async () => {
      const store = await create()
      const mine = await store.append('a', 'mine')
      await store.append('b', 'not mine')
      const next = await store.append('a', 'mine too')
      expect((await store.replay(mine))?.events).toEqual([{ id: next, data: 'mine too' }])
    })

    it('has nothing after the newest event', async () => {
      const store = await create()
      const only = await store.append('s', '')
      expect(await store.replay(only)).toEqual({ streamId: 's', events: [], ended: false })
    })

    it('knows when a stream has ended, keeps its events, and takes no more of them', async () => {
      const store = await create()
      const first = await store.append('s', 'one')
      await store.append('s', 'two')
      await store.end('s')
      expect(await store.replay(first)).toMatchObject({ events: [{ data: 'two' }], ended: true })
      expect(await caught(() => store.append('s', 'three'))).toBeInstanceOf(Error)
    })

    it('gives ids that are unique among all streams and hold no line break', async () => {
      const store = await create()
      const ids = []
      for (let n = 0; n < 20; n++) ids.push(await store.append(`s.${n % 3}`, 'x'))
      expect(new Set(ids).size).toBe(20)
      for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]+$/)
    })

    it('knows nothing of an event that was never stored, of a forged one, and of a stream that was deleted', async () => {
      const store = await create()
      const id = await store.append('s', 'one')
      for (const unknown of ['', 'x', `${id}0`, `t${id}`, '__proto__', 's', '.']) {
        expect(await store.replay(unknown)).toBeUndefined()
      }
      await store.delete('s')
      expect(await store.replay(id)).toBeUndefined()
    })

    it('never gives an id again, also for a stream that was forgotten and begins anew', async () => {
      const store = await create()
      const old = await store.append('s', 'old')
      await store.delete('s')
      const ids = [await store.append('s', 'new'), await store.append('s', 'newer')]
      expect(ids).not.toContain(old)
      expect(await store.replay(old)).toBeUndefined()
    })

    it('keeps texts as they are', async () => {
      const store = await create()
      const first = await store.append('s', '')
      const texts = ['', '{"a":"é\u{1f600}\\n"}', 'x'.repeat(10_000)]
      for (const text of texts) await store.append('s', text)
      expect((await store.replay(first))?.events.map(({ data }) => data)).toEqual(texts)
    })
  })
}
