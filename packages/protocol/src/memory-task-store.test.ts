import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createMemoryTaskStore } from './memory.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('refuses tasks above its limits by name, and keeps the others', async () => {
  const store = createMemoryTaskStore({ maxTasks: 2, maxTotalCharacters: 10 })
  await store.create('a', '12345', 60_000)
  expect(() => store.create('b', '123456', 60_000)).toThrow('maxTotalCharacters: ')
  expect(() => store.update('a', 1, '12345678901')).toThrow('maxTotalCharacters: ')
  expect(await store.get('a')).toMatchObject({ version: 1, data: '12345' })
  expect(await store.update('a', 1, '1')).toBe(true)
  await store.create('b', '123456789', 60_000)
  expect(() => store.create('c', '', 60_000)).toThrow('maxTasks: there are 2 tasks already')
})

it('accepts more tasks when others have expired', async () => {
  const store = createMemoryTaskStore({ maxTasks: 100, maxTotalCharacters: 1_000 })
  for (let n = 0; n < 10_000; n++) {
    await store.create(`task ${n}`, '1234567890', 10_000)
    vi.advanceTimersByTime(101)
  }
  expect(await store.get('task 0')).toBeUndefined()
  expect(await store.get('task 9999')).toMatchObject({ data: '1234567890' })
})

it('refuses invalid options by name', () => {
  expect(() => createMemoryTaskStore({ maxTask: 1 } as never)).toThrow('did you mean "maxTasks"?')
  expect(() => createMemoryTaskStore({ maxTasks: Number.NaN })).toThrow('createMemoryTaskStore: maxTasks')
})
