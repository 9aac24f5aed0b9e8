import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NewestMap } from './newest-map.ts'

type Step = readonly ['add' | 'delete', number]

describe('a map with its newest entry beside it', () => {
  it('holds what any map would', () => {
    const step = fc.tuple(fc.constantFrom('add' as const, 'delete' as const), fc.nat(5))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps: readonly Step[]) => {
        const map = new NewestMap<number, { n: number }>()
        const plain = new Map<number, { n: number }>()
        for (const [what, key] of steps) {
          if (what === 'delete') {
            map.delete(key)
            plain.delete(key)
          } else if (!plain.has(key)) {
            const value = { n: key }
            map.add(key, value)
            plain.set(key, value)
          }
          expect([map.size, map.entries()]).toEqual([plain.size, [...plain]])
          for (let each = 0; each <= 5; each++) expect(map.get(each)).toBe(plain.get(each))
        }
      }),
    )
  })

  it('knows no key that is undefined, with and without entries', () => {
    const map = new NewestMap<number | undefined, object>()
    expect(map.get(undefined)).toBeUndefined()
    map.delete(undefined)
    map.add(1, {})
    map.add(2, {})
    expect([map.get(undefined), map.size]).toEqual([undefined, 2])
  })

  it('may lose entries while they are gone through', () => {
    const map = new NewestMap<string, object>()
    for (const key of ['a', 'b', 'c']) map.add(key, {})
    for (const [key] of map.entries()) map.delete(key)
    expect(map.size).toBe(0)
  })
})
