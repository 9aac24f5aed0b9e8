import { describe, expect, it } from 'vitest'
import type { ServedCase } from './case.ts'
import { findingsOf } from './run-served.ts'

const job = () => ({ kind: 'imports', specifiers: [] }) as const

const served: ServedCase = {
  kind: 'served',
  name: 'http',
  says: 'Calls.',
  columns: [
    { head: 'calls/s', of: 'rate', digits: 0 },
    { head: '×', of: 'rate', as: 'ratio', digits: 2, summary: 'calls, × bare' },
    { head: 'ms above', of: 'ms', as: 'above', digits: 1 },
  ],
  contestants: [
    { name: 'bare', says: 'alone', maker: 'bare', job },
    {
      name: 'a',
      says: 'one way',
      maker: 'ours',
      against: 'bare',
      job,
      targets: { '×': { atLeast: 0.5 }, 'ms above': { atMost: 2 } },
    },
    { name: 'b', says: 'another', maker: 'ours', against: 'bare', job, targets: { '×': { atLeast: 0.9 } } },
    { name: 'c', says: 'theirs', maker: 'tmcp', against: 'bare', job },
  ],
}

const samples = new Map([
  [
    'bare',
    [
      { round: 0, rate: 100, ms: 10 },
      { round: 0, rate: 300, ms: 10 },
      { round: 1, rate: 1_000, ms: 20 },
    ],
  ],
  [
    'a',
    [
      { round: 0, rate: 100, ms: 11, bytes: 7, foreign: 0.25 },
      { round: 1, rate: 600, ms: 22, bytes: 9 },
    ],
  ],
  [
    'b',
    [
      { round: 0, rate: 160, bytes: 5 },
      { round: 1, rate: 800, bytes: 5 },
    ],
  ],
  ['c', []],
])
const failures = new Map([['c', 'HTTP 500']])

describe('the results of drivers', () => {
  const found = findingsOf(served, { samples, failures })

  it('have a row for each contestant, with the median and the range', () => {
    expect(found.rows[0]).toEqual(['bare', 'alone', '300 [100–1,000]', '', '', ''])
    expect(found.rows[1]).toEqual([
      'a',
      'one way',
      '350 [100–600]',
      '0.55 [0.50–0.60]',
      '1.5 [1.0–2.0]',
      '× ≥ 0.5, ms above ≤ 2',
    ])
    expect(found.rows[2]?.slice(2, 5)).toEqual(['480 [160–800]', '0.80', ''])
  })

  it('contain the met targets', () => {
    expect(found.verdicts.map(({ name, met }) => [name, met])).toEqual([
      ['http a', true],
      ['http a', true],
      ['http b', false],
    ])
    expect(found.verdicts[2]?.says).toBe('0.80 ×, target ≥ 0.9')
  })

  it('contain failed contestants, and the disturbance', () => {
    expect(found.rows[3]?.slice(2)).toEqual(['', '', '', ''])
    expect(found.notes).toContain('**c could not be measured**: HTTP 500')
    expect(found.notes.join()).toContain('Other processes used at most 25 % of a core')
  })

  it('count the targets of failed contestants as missed', () => {
    const lost = findingsOf(served, { samples: new Map([...samples, ['b', []]]), failures: new Map() })
    expect(lost.verdicts[2]).toEqual({ name: 'http b', met: false, says: 'could not be measured, target ≥ 0.9' })
  })

  it('have a summary line with the worst and the best of each maker', () => {
    expect(found.summary).toEqual([{ what: 'calls, × bare', cells: { ours: '0.55–0.80' } }])
  })

  it('reject a target for an unknown column', () => {
    const [first] = served.contestants
    const wrong = { ...served, contestants: [{ ...first, targets: { speed: { atLeast: 1 } } }] } as ServedCase
    expect(() => findingsOf(wrong, { samples, failures })).toThrow(
      "http: there is no column 'speed' for the target of bare",
    )
  })
})
