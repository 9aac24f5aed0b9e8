import { expect, it } from 'vitest'
import { localStorageStore, memoryStore } from './store.ts'
import { storeContract } from './store-contract.fixture.ts'
import { caught } from './world.fixture.ts'

/** A `localStorage` without a browser. */
function webStorage() {
  const items = new Map<string, string>()
  return {
    items,
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  }
}

storeContract('memory', async () => {
  const store = memoryStore()
  return [store, store]
})

storeContract('localStorage', async () => {
  const store = localStorageStore({ storage: webStorage() })
  return [store, store]
})

it('adds a prefix to the keys of localStorage', () => {
  const storage = webStorage()
  void localStorageStore({ storage, prefix: 'mine:' }).set('a', {})
  expect([...storage.items.keys()]).toEqual(['mine:a'])
})

it('reports a missing or full localStorage and a damaged record', async () => {
  expect(() => localStorageStore({ storage: undefined })).toThrow(/there is no localStorage here/)
  const storage = webStorage()
  const full = {
    ...storage,
    setItem: () => {
      throw new Error('QuotaExceededError')
    },
  }
  expect(await caught(async () => localStorageStore({ storage: full }).set('a', {}))).toMatchObject({ step: 'storage' })
  storage.items.set('mcpx-auth:a', '{secret')
  const error = await caught(async () => localStorageStore({ storage }).get('a'))
  expect(error).toMatchObject({ step: 'storage', message: expect.stringMatching(/The record a is not JSON/) })
  expect(String(error)).not.toMatch(/secret/)
})
