import { readFileSync } from 'node:fs'
import { REVISIONS } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { type OfficialRecord, readRecord as readOfficial } from '../../official/src/record.ts'
import { runs } from '../../official/src/runs.ts'
import { features } from './features.ts'
import { officialSection } from './official.ts'
import { packageVersions, versionOf } from './package-versions.ts'
import { readRecord } from './record.ts'
import { revisionsSection } from './revisions.ts'
import { strangers } from './strangers.ts'
import { shortSection, wholeSection } from './support.ts'
import { nameOf, packages, ways } from './ways.ts'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

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

const checks = { passed: 5, failed: 1, warned: 0, skipped: 0 }
const tasks = { scenario: 'tasks', outcome: 'not yet', why: 'needs @mcpx/ext-tasks' } as const
const names = ['server-2025', 'server-2026', 'client-2025', 'client-2026'].concat(
  ['2025-06-18', '2025-03-26'].flatMap((each) => [`server-${each}-wire`, `client-${each}-wire`]),
)
const official: OfficialRecord = {
  suite: '1.0.0',
  node: 'v24.0.0',
  date: '2026-01-03',
  runs: names.map((run) => ({ run, scenarios: { failed: 1, 'not yet': 1 }, tries: 1, checks, others: [tasks] })),
}

describe('the front page', () => {
  it('says what the kept results say', () => {
    const readme = read('README.md')
    expect(readme).toContain(shortSection(readRecord()))
    expect(readme).toContain(revisionsSection(readRecord(), readOfficial()))
  })
})

describe('the list of what is supported', () => {
  it('says what the kept results say', () => {
    const support = read('docs/spec-support.md')
    expect(support).toContain(officialSection(readOfficial()))
    expect(support).toContain(wholeSection(readRecord()))
  })
})

describe('the kept results', () => {
  it('are of all ways and strangers there are, in all features, at the versions that are pinned', () => {
    const { ways: kept, strangers: others, versions } = readRecord()
    expect(kept.map(nameOf)).toEqual(ways.map(nameOf))
    for (const { verdicts } of kept) expect(Object.keys(verdicts)).toEqual(Object.keys(features))
    expect(versions).toEqual(
      Object.fromEntries(Object.entries(packages).map(([peer, names]) => [peer, packageVersions(names)])),
    )
    const about = (each: { package: string; is: string; over: string }) => `${each.package} ${each.is} ${each.over}`
    expect(others.map(about).sort()).toEqual(strangers.map(about).sort())
    for (const each of others) expect(each.version, each.package).toBe(versionOf(each.package))
  })

  it('are of packages whose versions are pinned', () => {
    const { devDependencies } = JSON.parse(read('conformance/interop/package.json')) as Record<string, object>
    const foreign = Object.entries(devDependencies ?? {}).filter(([, version]) => version !== 'workspace:*')
    expect(foreign).not.toEqual([])
    expect(foreign).toEqual(foreign.map(([name]) => [name, versionOf(name)]))
  })

  it('are of the official suite that is pinned, with a day and a version of Node', () => {
    const { devDependencies } = JSON.parse(read('conformance/official/package.json'))
    const { suite, date, node } = readOfficial()
    expect(suite).toBe(devDependencies['@modelcontextprotocol/conformance'])
    for (const each of [date, readRecord().date]) expect(each).toMatch(/^\d{4}-\d\d-\d\d$/)
    for (const each of [node, readRecord().node]) expect(each).toMatch(/^v\d+\.\d+\.\d+$/)
  })

  it('are of all scenarios that are scored, each passed', () => {
    const scored = readOfficial().runs.flatMap((run) => (run.scored === undefined ? [] : [[run.run, run.scored]]))
    expect(Object.fromEntries(scored)).toEqual({
      'server-2025': { needed: 30, passed: 30 },
      'server-2026': { needed: 37, passed: 37 },
      'client-2025': { needed: 18, passed: 18 },
      'client-2026': { needed: 32, passed: 32 },
    })
  })

  it('are of all runs of the official suite', () => {
    expect(readOfficial().runs.map(({ run }) => run)).toEqual([
      ...runs.map(({ name }) => name),
      'pipe',
      'streams',
      'broken',
    ])
    expect(
      readOfficial()
        .runs.flatMap(({ checks }) => [checks.failed, checks.warned])
        .every((count) => count === 0),
    ).toBe(true)
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
    const part = { ...official, runs: official.runs.slice(1) }
    expect(() => revisionsSection(record, part)).toThrow('The official suite was not run for server-2025')
  })
})
