import { describe, expect, it } from 'vitest'
import { compared, orderOf, takeTurns } from './rounds.ts'

const turns = [
  { name: 'limit' },
  { name: 'x', against: 'limit' },
  { name: 'y', against: 'limit' },
  { name: 'other limit' },
]
const sample = (round: number, cpu: number) => ({ round, cpu })
const cpuOf = ({ cpu }: { cpu: number }) => cpu

describe('rounds', () => {
  it('measure a baseline before and after its subjects', () => {
    expect(orderOf(turns, 0)).toEqual(['limit', 'x', 'y', 'limit', 'other limit'])
  })

  it('also measure it in between if there are many subjects', () => {
    const many = Array.from({ length: 8 }, (_, index) => ({ name: String(index), against: 'limit' }))
    const order = orderOf([{ name: 'limit' }, ...many], 0)
    expect(order.join(' ')).toBe('limit 0 1 2 3 limit 4 5 6 7 limit')
  })

  it('alternate their direction', () => {
    expect(orderOf(turns, 1)).toEqual(['other limit', 'limit', 'y', 'x', 'limit'])
  })

  it('compare a value with the mean of its baseline in the same round', () => {
    const samples = new Map([
      ['limit', [sample(0, 1), sample(0, 3), sample(1, 10), sample(1, 10)]],
      ['x', [sample(0, 4), sample(1, 15)]],
    ])
    expect(compared('x', 'limit', samples, cpuOf)).toEqual([2, 1.5])
    expect(compared('x', 'limit', samples, cpuOf, (value, base) => value - base)).toEqual([2, 5])
  })

  it('continue without failed subjects, and report the error', async () => {
    const measure = async (name: string) => {
      if (name === 'x') throw Object.assign(new Error('Command failed'), { stderr: 'HTTP 500\nmore\n' })
      return { cpu: 1 }
    }
    const { samples, failures } = await takeTurns(turns, 2, measure, () => {})
    expect([...failures]).toEqual([['x', 'HTTP 500']])
    expect(samples.get('y')).toHaveLength(2)
    expect(samples.get('limit')).toHaveLength(4)
    expect(samples.get('x')).toEqual([])
  })
})
