import { describe, expect, it } from 'vitest'
import { summarySection, withSummary } from './speed-section.ts'

const recorded = (date: string, what: string) => ({
  machine: 'a machine',
  date,
  settings: '5 rounds',
  packages: { tmcp: '1.2.3' },
  summary: [{ what, cells: { ours: '0.91', tmcp: '0.2' } }],
})

describe('the summary', () => {
  it('has a line for each figure in the order of the cases, and a column for each maker', () => {
    const record = {
      b: recorded('2030-01-01', 'second'),
      a: recorded('2030-01-02', 'first'),
      c: recorded('2030-01-02', 'not a figure of the front page'),
    }
    const text = summarySection(record, ['a', 'b', 'c', 'd'], ['first', 'second'])
    const [header, , one, two] = text.split('\n').filter((line) => line.startsWith('|'))
    expect(header?.replace(/ +/g, ' ')).toBe('| | @mcpx | tmcp 1.2.3 |')
    expect(one?.replace(/ +/g, ' ')).toBe('| first | 0.91 | 0.2 |')
    expect(two).toContain('second')
    expect(text).not.toContain('not a figure')
    expect(text).toContain('Measured on 2030-01-02: a machine.')
  })

  it('says that nothing was measured', () => {
    expect(summarySection({}, ['a'])).toContain('Nothing was measured yet')
  })

  it('is written between its markers only', () => {
    const page = 'a\n<!-- begin: speed -->\nold\n<!-- end: speed -->\nb\n'
    const next = withSummary(page, 'new')
    expect(next).toBe('a\n<!-- begin: speed -->\n\nnew\n\n<!-- end: speed -->\nb\n')
    expect(withSummary(next, 'new')).toBe(next)
    expect(() => withSummary('<!-- begin: speed -->', 'new')).toThrow('no "<!-- end: speed -->" after it')
  })
})
