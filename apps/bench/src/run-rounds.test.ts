import { describe, expect, it } from 'vitest'
import type { SpeedCase, Subject } from './case.ts'
import { orderOf, ratiosOf } from './run-rounds.ts'

const subject = (name: string, against?: string): Subject => ({
  name,
  says: name,
  against,
  prepare: () => ({ call: () => 1, isRight: () => true }),
})
const sample = (round: number, cpu: number) => ({ round, cpu, wall: 2 * cpu, calls: 1, foreign: 0 })

describe('rounds', () => {
  const speed: SpeedCase = {
    kind: 'speed',
    name: 'a case',
    says: 'it',
    subjects: [subject('limit'), subject('x', 'limit'), subject('y', 'limit'), subject('other limit')],
  }

  it('measure a limit before and after what is held against it', () => {
    expect(orderOf(speed, 0)).toEqual(['limit', 'x', 'y', 'limit', 'other limit'])
  })

  it('go backwards every other time', () => {
    expect(orderOf(speed, 1)).toEqual(['other limit', 'limit', 'y', 'x', 'limit'])
  })

  it('hold a time against the mean of its limit in the same round', () => {
    const samples = new Map([
      ['limit', [sample(0, 1), sample(0, 3), sample(1, 10), sample(1, 10)]],
      ['x', [sample(0, 4), sample(1, 15)]],
    ])
    expect(ratiosOf('x', 'limit', samples, 'cpu')).toEqual([2, 1.5])
    expect(ratiosOf('x', 'limit', samples, 'wall')).toEqual([2, 1.5])
  })
})
