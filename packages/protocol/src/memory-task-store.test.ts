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

it('limits the data of the tasks of one caller, so that others can create tasks', async () => {
  const store = createMemoryTaskStore({ maxTotalCharacters: 400 })
  await store.create('a', 'x'.repeat(60), 60_000, undefined, 'alice')
  const refused = 'maxTotalCharacters: the tasks of one caller would have more than 100 characters'
  expect(() => store.create('b', 'x'.repeat(60), 60_000, undefined, 'alice')).toThrow(refused)
  expect(() => store.update('a', 1, 'x'.repeat(101))).toThrow(refused)
  await store.create('c', 'x'.repeat(100), 1_000, undefined, 'bob')
  await store.create('d', 'x'.repeat(100), 60_000)
  expect(await store.update('a', 1, 'x'.repeat(100))).toBe(true)
  expect(() => store.create('e', 'x'.repeat(101), 60_000)).toThrow('the tasks would have more than 400 characters')
  vi.advanceTimersByTime(1_000)
  await store.create('f', 'x'.repeat(100), 60_000, undefined, 'bob')
})

it('lets a task end with a short state although the store is full', async () => {
  const store = createMemoryTaskStore({ maxTotalCharacters: 100 })
  for (const id of ['a', 'b']) await store.create(id, 'x'.repeat(50), 1_000)
  expect(() => store.update('a', 1, 'x'.repeat(80))).toThrow('maxTotalCharacters')
  expect(() => store.update('a', 1, 'x'.repeat(2_000), true)).toThrow('maxTotalCharacters')
  expect(await store.update('a', 1, 'x'.repeat(80), true)).toBe(true)
  expect(await store.get('a')).toMatchObject({ data: 'x'.repeat(80) })
  expect(() => store.create('c', 'x', 1_000)).toThrow('maxTotalCharacters')
  vi.advanceTimersByTime(1_001)
  await store.create('d', 'x'.repeat(100), 1_000)
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
