import { describe, expect, it } from 'vitest'
import { steepest } from './steepest.ts'

describe('growth', () => {
  it('is 1 when it is what was expected', () => {
    expect(
      steepest(
        [
          [1, 5],
          [10, 50],
          [100, 500],
        ],
        true,
      ),
    ).toBe(1)
    expect(
      steepest(
        [
          [1, 5],
          [10, 5],
          [100, 5],
        ],
        false,
      ),
    ).toBe(1)
  })

  it('is as steep as its steepest step: a cliff is not made good by what comes after', () => {
    expect(
      steepest(
        [
          [1, 5],
          [10, 150],
          [100, 500],
        ],
        true,
      ),
    ).toBe(3)
    expect(
      steepest(
        [
          [1, 5],
          [10, 10],
          [100, 5],
        ],
        false,
      ),
    ).toBe(2)
  })

  it('is that of all steps together when many small ones add up', () => {
    expect(
      steepest(
        [
          [1, 10],
          [10, 13],
          [100, 17],
        ],
        false,
      ),
    ).toBe(1.7)
  })

  it('may be as steep as that of the least that can be done', () => {
    const least = [
      [1, 2],
      [10, 20],
      [100, 400],
    ] as const
    const steep = [
      [1, 5],
      [10, 50],
      [100, 1000],
    ] as const
    expect(steepest(steep, true)).toBe(2)
    expect(steepest(steep, true, least)).toBe(1)
    expect(steepest(steep, true, least.slice(1))).toBe(2)
  })

  it('is not to be less where the least that can be done grows by less than expected', () => {
    const points = [
      [1, 5],
      [10, 50],
    ] as const
    const least = [
      [1, 5],
      [10, 6],
    ] as const
    expect(steepest(points, true, least)).toBe(1)
  })

  it('cannot be told without two points', () => {
    expect(steepest([], true)).toBeNaN()
  })
})
