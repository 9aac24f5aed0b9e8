/** What every SessionStore must do, whatever it is made of. */

import type { SessionStore } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { caught, delay } from './timing.ts'

export interface StoreContractOptions<S> {
  /** A store of its own for each test. */
  create: () => S | Promise<S>
  /** A second store over the same state, as another process would have it. Default: the same store. */
  twin?: (store: S) => S | Promise<S>
}

const TTL = 60_000

export function sessionStoreContract(
  name: string,
  { create, twin = (store) => store }: StoreContractOptions<SessionStore>,
): void {
  describe(`${name} as a session store`, () => {
    it('gives back what was stored, to any process', async () => {
      const store = await create()
      await store.create('a', { initialized: true, subscriptions: ['x:1'] }, TTL)
      expect(await (await twin(store)).get('a')).toEqual({ initialized: true, subscriptions: ['x:1'] })
    })

    it('has nothing under an id that was never stored, also under names that objects have by birth', async () => {
      const store = await create()
      for (const id of ['none', '__proto__', 'constructor', '']) expect(await store.get(id)).toBeUndefined()
    })

    it('refuses an id that is taken and keeps the record', async () => {
      const store = await create()
      await store.create('a', { subject: 'first' }, TTL)
      expect(await caught(() => store.create('a', { subject: 'second' }, TTL))).toBeInstanceOf(Error)
      expect(await store.get('a')).toEqual({ subject: 'first' })
    })

    it('does not change a stored record when the object it came from is changed', async () => {
      const store = await create()
      const state = { subscriptions: ['x:1'] }
      await store.create('a', state, TTL)
      state.subscriptions.push('x:2')
      expect(await store.get('a')).toEqual({ subscriptions: ['x:1'] })
    })

    it('does not change a record that was handed out when the stored one is updated', async () => {
      const store = await create()
      await store.create('a', { subscriptions: ['x:1'] }, TTL)
      const before = await store.get('a')
      await store.update('a', (state) => void state.subscriptions?.push('x:2'))
      expect(before).toEqual({ subscriptions: ['x:1'] })
    })

    it('updates the newest record and returns it', async () => {
      const store = await create()
      await store.create('a', { subject: 's' }, TTL)
      expect(await store.update('a', (state) => void Object.assign(state, { initialized: true }))).toEqual({
        subject: 's',
        initialized: true,
      })
      expect(await store.get('a')).toEqual({ subject: 's', initialized: true })
    })

    it('loses none of many updates made at once by two processes', async () => {
      const store = await create()
      const other = await twin(store)
      await store.create('a', { subscriptions: [] }, TTL)
      const uris = Array.from({ length: 40 }, (_, n) => `x:${n}`)
      const add = (uri: string, n: number) =>
        (n % 2 ? store : other).update('a', (state) => void state.subscriptions?.push(uri))
      await Promise.all(uris.map(add))
      expect([...((await store.get('a'))?.subscriptions ?? [])].sort()).toEqual([...uris].sort())
    })

    it('keeps the record as it was when the change throws', async () => {
      const store = await create()
      await store.create('a', { subscriptions: ['x:1'] }, TTL)
      const failing = caught(() =>
        store.update('a', (state) => {
          state.subscriptions?.push('x:2')
          throw new Error('no')
        }),
      )
      expect(await failing).toBeInstanceOf(Error)
      expect(await store.get('a')).toEqual({ subscriptions: ['x:1'] })
    })

    it('updates nothing where there is no record', async () => {
      const store = await create()
      expect(await store.update('none', () => {})).toBeUndefined()
      expect(await store.get('none')).toBeUndefined()
    })

    it('deletes once', async () => {
      const store = await create()
      await store.create('a', {}, TTL)
      expect(await store.delete('a')).toBe(true)
      expect(await store.get('a')).toBeUndefined()
      expect(await store.delete('a')).toBe(false)
    })

    it('forgets a record that was not used for its time to live', async () => {
      const store = await create()
      await store.create('a', {}, 40)
      expect(await store.get('a')).toEqual({})
      await delay(70)
      expect(await store.get('a')).toBeUndefined()
      expect(await store.update('a', () => {})).toBeUndefined()
      expect(await store.delete('a')).toBe(false)
    })

    it('keeps a record alive that is used', async () => {
      const store = await create()
      await store.create('a', {}, 80)
      for (let n = 0; n < 4; n++) {
        await delay(40)
        expect(await store.get('a', 80)).toEqual({})
      }
    })
  })
}
