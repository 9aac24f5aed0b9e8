/** The behaviour of every `AuthStore`. */
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { AuthStore } from './store.ts'
import { caught } from './world.fixture.ts'

/** @param open returns two objects for one empty store, as two processes or two tabs would have */
export function storeContract(name: string, open: () => Promise<readonly [AuthStore, AuthStore]>): void {
  describe(`a store in ${name}`, () => {
    it('returns stored records to every user of the store', async () => {
      const [one, two] = await open()
      expect(await one.get('a')).toBeUndefined()
      await one.set('a', { text: 'x\u2028é', list: [1, null], nested: { yes: true } })
      expect(await two.get('a')).toEqual({ text: 'x\u2028é', list: [1, null], nested: { yes: true } })
      await two.set('a', { b: 2 })
      expect(await one.get('a')).toEqual({ b: 2 })
      await two.delete('a')
      await two.delete('a')
      expect(await one.get('a')).toBeUndefined()
    })

    it('distinguishes all keys', async () => {
      const [one] = await open()
      const keys = ['constructor', 'toString', 'a/../b', 'a|b', 'ключ', ' ']
      for (const key of keys) expect(await one.get(key)).toBeUndefined()
      for (const [at, key] of keys.entries()) await one.set(key, { at })
      for (const [at, key] of keys.entries()) expect(await one.get(key)).toEqual({ at })
    })

    it('returns copies', async () => {
      const [one] = await open()
      const value = { list: [1] }
      await one.set('a', value)
      value.list.push(2)
      const got = (await one.get('a')) as typeof value
      got.list.push(3)
      expect(await one.get('a')).toEqual({ list: [1] })
    })

    it('keeps all of many concurrent writes', async () => {
      const [one, two] = await open()
      const keys = Array.from({ length: 10 }, (_, at) => `k${at}`)
      await Promise.all(keys.map((key, at) => (at % 2 === 0 ? one : two).set(key, { at })))
      expect(await Promise.all(keys.map((key) => one.get(key)))).toEqual(keys.map((_, at) => ({ at })))
    })

    it('runs one function at a time per locked key, also after a failure', async () => {
      const [one, two] = await open()
      let inside = 0
      const work = async () => {
        inside += 1
        expect(inside).toBe(1)
        await wait(5)
        inside -= 1
        return inside
      }
      const failing = caught(() => one.lock?.('a', () => Promise.reject(new Error('broken'))) ?? work())
      const results = await Promise.all([one, two, one, two].map((store) => store.lock?.('a', work)))
      expect(results).toEqual([0, 0, 0, 0])
      expect(await failing).toMatchObject({ message: 'broken' })
      const nested = await one.lock?.('a', async () => {
        await one.set('x', { y: 1 })
        return two.lock?.('b', async () => two.get('x'))
      })
      expect(nested).toEqual({ y: 1 })
    })
  })
}
