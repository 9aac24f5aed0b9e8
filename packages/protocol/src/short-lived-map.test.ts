import { expect, it } from 'vitest'
import { ShortLivedMap } from './short-lived-map.ts'

it('has the entries of a Map after any number of changes', () => {
  const map = new ShortLivedMap<number | string, number>()
  const expected = new Map<number | string, number>()
  for (let n = 0; n < 2_000; n++) {
    const key = n % 3 === 0 ? n : `${n}`
    map.set(key, n)
    expected.set(key, n)
    if (n < 300) continue
    const oldest = expected.keys().next().value as number | string
    expect(map.delete(oldest)).toBe(expected.delete(oldest))
    expect(map.delete(oldest)).toBe(false)
    expect(map.size).toBe(expected.size)
  }
  expect([...map]).toEqual([...expected])
  expect([...map.keys()]).toEqual([...expected.keys()])
  expect([...map.values()]).toEqual([...expected.values()])
  expect([map.get(1_999), map.has('1999'), map.has(1_700)]).toEqual([undefined, true, false])
})

it('can be changed while it is iterated', () => {
  const map = new ShortLivedMap(Array.from({ length: 1_000 }, (_, key) => [key, key]))
  const found: number[] = []
  for (const [key] of map) {
    found.push(key)
    map.delete(key)
  }
  expect(found).toHaveLength(1_000)
  expect(map.size).toBe(0)
})
