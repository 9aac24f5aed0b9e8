import { describe, expect, it } from 'vitest'
import { growthFactor } from './growth-factor.ts'

describe('growth', () => {
  it('is 1 for the expected growth', () => {
    expect(
      growthFactor(
        [
          [1, 5],
          [10, 50],
          [100, 500],
        ],
        true,
      ),
    ).toBe(1)
    expect(
      growthFactor(
        [
          [1, 5],
          [10, 5],
          [100, 5],
        ],
        false,
      ),
    ).toBe(1)
  })

  it('is that of the steepest step', () => {
    expect(
      growthFactor(
        [
          [1, 5],
          [10, 150],
          [100, 500],
        ],
        true,
      ),
    ).toBe(3)
    expect(
      growthFactor(
        [
          [1, 5],
          [10, 10],
          [100, 5],
        ],
        false,
      ),
    ).toBe(2)
  })

  it('is that of all steps together if that is larger', () => {
    expect(
      growthFactor(
        [
          [1, 10],
          [10, 13],
          [100, 17],
        ],
        false,
      ),
    ).toBe(1.7)
  })

  it('may be as large as that of the baseline', () => {
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
    expect(growthFactor(steep, true)).toBe(2)
    expect(growthFactor(steep, true, least)).toBe(1)
    expect(growthFactor(steep, true, least.slice(1))).toBe(2)
  })

  it('is not reduced if the baseline grows less than expected', () => {
    const points = [
      [1, 5],
      [10, 50],
    ] as const
    const least = [
      [1, 5],
      [10, 6],
    ] as const
    expect(growthFactor(points, true, least)).toBe(1)
  })

  it('needs two points', () => {
    expect(growthFactor([], true)).toBeNaN()
  })
})
