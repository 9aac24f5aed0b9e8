import { describe, expect, it } from 'vitest'
import { withSection } from './marked-section.ts'
import { outdated, toRecord } from './record.ts'
import { countOf, type Results } from './results.ts'
import { shortSection, wholeSection } from './support.ts'

const way = { ours: 'client', peer: 'sdk-1', carrier: 'http' } as const
const results: Results = {
  date: '2026-01-02',
  node: 'v24.0.0',
  versions: { 'sdk-1': { '@modelcontextprotocol/sdk': '1.2.3' } },
  ways: [
    { ...way, revision: '2025-06-18', cells: [{ what: 'a tool is called', status: 'passed' }] },
    {
      ...way,
      revision: '2025-11-25',
      cells: [
        { what: 'a tool is called', status: 'breaks', reason: 'it lies', evidence: 'a | b' },
        { what: 'output is structured', status: 'absent', reason: 'not over http' },
      ],
    },
  ],
  strangers: [
    { package: 'other', version: '4.5.6', is: 'client', over: 'http', cells: [{ what: 'calls', status: 'passed' }] },
  ],
}

describe('the sections on support', () => {
  const whole = wholeSection(toRecord(results)).split('\n')
  const short = shortSection(toRecord(results)).split('\n')
  const cellsOf = (line = '') => line.split('|').map((cell) => cell.trim())

  it('count the ways in which a feature works', () => {
    const row = cellsOf(whole.find((line) => line.startsWith('| a tool is called')))
    expect(row.slice(1, 3)).toEqual(['a tool is called', '1 of 2'])
  })

  it('leave out what does not exist there', () => {
    const row = cellsOf(whole.find((line) => line.startsWith('| output is structured')))
    expect(row.slice(1, 3)).toEqual(['output is structured', '–'])
  })

  it('say what does not work, why, and what is seen', () => {
    expect(whole.at(-1)).toMatch(/the server of SDK 1\.2\.3 .* a tool is called .* it lies .* `a \\\| b`/)
  })

  it('count what our side leaves out as tried and not passed, and say that it is our side', () => {
    const left = { what: 'streams go on', status: 'left out', reason: 'no ids', evidence: 'silence' } as const
    const ways = [{ ...way, ours: 'server', revision: '2025-06-18', cells: [left] } as const]
    const lines = wholeSection(toRecord({ ...results, ways })).split('\n')
    expect(cellsOf(lines.find((line) => line.startsWith('| streams go on')))).toContain('0 of 1')
    expect(lines.at(-1)).toMatch(/our server, with the client of SDK 1\.2\.3 .* streams go on .* no ids/)
  })

  it('have a line for each peer, with its version and the date', () => {
    expect(short[0]).toContain('2026-01-02')
    expect(cellsOf(short.find((line) => line.includes('1.2.3')))).toEqual([
      '',
      'official SDK 1.2.3',
      'server',
      'http',
      '2025-06-18 to 2025-11-25',
      '1 of 2',
      '',
    ])
    expect(cellsOf(short.find((line) => line.includes('other'))).slice(1, 4)).toEqual([
      '`other` 4.5.6',
      'client',
      'http',
    ])
  })
})

describe('the results that are kept', () => {
  const kept = toRecord(results)
  const [first, ...rest] = results.ways
  const other = (status: 'passed' | 'breaks'): Results => ({
    ...results,
    ways: [{ ...way, revision: '2025-06-18', cells: [{ what: 'a tool is called', status }] }, ...rest],
  })

  it('hold while the same comes out, on whichever day', () => {
    expect(outdated(kept, { ...results, date: '2026-02-03' })).toEqual([])
    expect(outdated(kept, other('passed'))).toEqual([])
  })

  it('do not hold when something came out otherwise, is new, or is gone', () => {
    expect(outdated(kept, other('breaks'))).toEqual([
      expect.stringContaining('ours -> sdk-1, http, 2025-06-18: what is'),
    ])
    expect(outdated({ ...kept, strangers: [] }, results)).toEqual([
      expect.stringContaining('other 4.5.6 (client), http'),
    ])
    expect(outdated(kept, { ...results, ways: rest })).toHaveLength(1)
  })

  it('do not hold when another version was tried, or another reason is known', () => {
    const versions = { 'sdk-1': { '@modelcontextprotocol/sdk': '9.9.9' } }
    expect(outdated({ ...kept, versions }, results)).toEqual([
      expect.stringContaining('the versions of the official SDK'),
    ])
    const ways = kept.ways.map((each) => ({
      ...each,
      notes: each.notes.map((note) => ({ ...note, reason: 'another' })),
    }))
    expect(outdated({ ...kept, ways }, results)).toEqual([expect.stringContaining('2025-11-25')])
    const seen = kept.ways.map((each) => ({
      ...each,
      notes: each.notes.map((note) => ({ ...note, evidence: 'port 1' })),
    }))
    expect(outdated({ ...kept, ways: seen }, results)).toEqual([])
  })

  it('are compared with a part of them, when only that was tried', () => {
    expect(outdated(kept, { ...results, ways: first === undefined ? [] : [first], strangers: [] }, 'http')).toEqual([])
  })

  it('count as passed what passed, and nothing else', () => {
    expect(countOf(results, 'passed')).toBe(2)
    expect(countOf(results, 'lacks', 'breaks')).toBe(1)
  })
})

describe('a section between comments', () => {
  it('is replaced, and nothing else is', () => {
    const document = 'a\n<!-- begin: x -->\n\nold\n\n<!-- end: x -->\nb'
    expect(withSection(document, 'x', 'new')).toBe('a\n<!-- begin: x -->\n\nnew\n\n<!-- end: x -->\nb')
  })

  it('is asked for where the comments are missing', () => {
    expect(() => withSection('a', 'x', 'new')).toThrow('There is no <!-- begin: x --> in the document')
  })
})
