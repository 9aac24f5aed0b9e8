import { readFileSync } from 'node:fs'
import { REVISIONS } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { withSection } from './marked-section.ts'
import { readRecord } from './record.ts'
import { type OfficialResults, revisionsSection } from './revisions.ts'
import { shortSection } from './support.ts'

const record = {
  date: '2026-01-02',
  node: 'v24.0.0',
  versions: {},
  strangers: [],
  ways: [
    {
      ours: 'server',
      peer: 'sdk-1',
      carrier: 'http',
      revision: '2025-06-18',
      notes: [],
      verdicts: { a: 'passed', b: 'breaks', c: 'absent' },
    },
  ],
} as const

const passed = { passed: 5, failed: 1, warned: 0, outcome: 'failed', reasons: [] }
const notYet = { passed: 1, failed: 4, warned: 0, outcome: 'not yet', reasons: ['needs @mcpx/ext-tasks'] }
const names = ['server-2025', 'server-2026', 'client-2025', 'client-2026'].concat(
  ['2025-06-18', '2025-03-26'].flatMap((each) => [`server-${each}-wire`, `client-${each}-wire`]),
)
const official: OfficialResults = {
  suite: '1.0.0',
  date: '2026-01-03T00:00:00Z',
  results: names.map((run) => ({
    run,
    verdicts: [
      { scenario: 'a', ...passed },
      { scenario: 'tasks', ...notYet },
    ],
  })),
}

describe('the front page', () => {
  it('says what the kept results say', () => {
    const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
    expect(readme).toContain(shortSection(readRecord()))
    expect(withSection(readme, 'revisions', '')).not.toBe(readme)
  })
})

describe('the section on revisions', () => {
  const lines = revisionsSection(record, official).split('\n')
  const rowOf = (revision: string) => lines.find((line) => line.startsWith(`| ${revision}`))?.split(/ *\| */)

  it('has a line for each revision, the newest first', () => {
    const rows = lines.filter((line) => /^\| 2/.test(line)).map((line) => line.slice(2, 12))
    expect(rows).toEqual([...REVISIONS].reverse())
  })

  it('counts what was tried, and names what was not', () => {
    expect(rowOf('2025-06-18')).toEqual(['', '2025-06-18', 'legacy', '5 of 6', '5 of 6', '1 of 2', '–', ''])
    expect(rowOf('2024-11-05')?.slice(3, 5)).toEqual(['not covered', 'not covered'])
    expect(lines.at(-1)).toBe(
      'Not counted: the 1 scenarios for extensions that are not written yet (`@mcpx/ext-tasks`).',
    )
  })

  it('is not written from a part of the suite', () => {
    const part = { ...official, results: official.results.slice(1) }
    expect(() => revisionsSection(record, part)).toThrow('The official suite was not run for server-2025')
  })
})
