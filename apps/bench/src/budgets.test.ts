import { describe, expect, it } from 'vitest'
import { judge, lowered } from './budgets.ts'
import type { Findings } from './case.ts'

const found = (figures: Record<string, number>): Findings[] => [
  { name: 'bundle', says: '', header: [], rows: [], notes: [], verdicts: [], data: {}, figures },
  { name: 'http', says: '', header: [], rows: [], notes: [], verdicts: [], data: {} },
]

describe('a budget', () => {
  it('is kept by what is not above it', () => {
    expect(judge(found({ a: 100 }), { bundle: { a: 100 } })).toEqual({ broken: [], loose: [], kept: 1 })
  })

  it('is broken by what is above it, and by what cannot be told', () => {
    expect(judge(found({ a: 101 }), { bundle: { a: 100 } }).broken).toEqual([
      'bundle a: 101 is above its budget of 100',
    ])
    expect(judge(found({ a: Number.NaN }), { bundle: { a: 100 } }).broken).toHaveLength(1)
  })

  it('is named when it can be lowered', () => {
    const { loose, broken, kept } = judge(found({ a: 900 }), { bundle: { a: 1_000 } })
    expect(loose).toEqual(['bundle a: 900 is far below its budget of 1,000: lower it to 927 by --lower'])
    expect([broken, kept]).toEqual([[], 1])
  })

  it('is wanted for every figure, and a figure for every budget', () => {
    const { broken } = judge(found({ a: 1 }), { bundle: { b: 2 } })
    expect(broken[0]).toContain('bundle a: 1 has no budget')
    expect(broken[1]).toContain('bundle b: has a budget, but was not measured')
  })

  it('is of no concern to a run without its case', () => {
    expect(judge(found({}).slice(1), { bundle: { a: 1 } })).toEqual({ broken: [], loose: [], kept: 0 })
  })

  it('goes down to what was found and a little room, and never up', () => {
    const budgets = { bundle: { up: 100, down: 1_000, gone: 5 }, modules: { kept: 7 } }
    expect(lowered(found({ up: 200, down: 500, fresh: 10 }), budgets)).toEqual({
      bundle: { up: 100, down: 515, fresh: 11 },
      modules: { kept: 7 },
    })
  })
})
