import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REVISIONS } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { behaviours } from './behaviours.ts'
import { carrierNames, exists } from './carriers.ts'
import { gapOf, gaps } from './gaps.ts'
import { skipOf, skips } from './skips.ts'

const names = Object.keys(behaviours)
const twice = (all: readonly string[]) => all.filter((each, index) => all.indexOf(each) !== index)

/** Failures of every sort that no table means: of the machine, of a client that waits in vain, of a check, of a judge. */
const otherEnds = [
  '',
  'Error: It works',
  'Error: It has not come: the call',
  'Error: It has not come: the end of the call',
  'Error: The tool failed: The tool failed (error 01234567)',
  'Error: The tool did not fail: x',
  'Error: S sent what is no CallToolResult of 2025-03-26: {}',
  'AssertionError: expected 1 to be 2 // Object.is equality',
  'AssertionError: expected undefined to be defined',
  'AssertionError: expected [] to deeply equal [ 1 ]',
  'AssertionError: promise resolved "undefined" instead of rejecting',
  'ConnectionError closed: The connection was closed',
  'ConnectionError timeout: tools/call was not answered within 4000 ms',
  'ConnectionError unreachable: The answer to tools/call was lost',
  'RpcError -32601: Method not found: "tools/call"',
  'RpcError -32603: Internal error (01234567)',
  "SyntaxError: Unexpected token 'T'",
  "TypeError: Cannot read properties of undefined (reading 'x')",
]

describe('the table of what revisions do not have, skips.ts', () => {
  const pairs = skips.flatMap(({ revisions, behaviours }) =>
    revisions.flatMap((revision) => behaviours.map((behaviour) => `${behaviour}: ${revision}`)),
  )

  it('names behaviours that exist, and says why', () => {
    expect(skips.flatMap(({ behaviours }) => behaviours).filter((each) => !names.includes(each))).toEqual([])
    for (const { reason } of skips) expect(reason).toMatch(/\S/)
  })

  it('names each pair of behaviour and revision once, and no entry for nothing', () => {
    expect(twice(pairs)).toEqual([])
    for (const { revisions } of skips) expect(revisions.length).toBeGreaterThan(0)
  })

  it('leaves no behaviour that exists nowhere', () => {
    expect(names.filter((name) => REVISIONS.every((revision) => skipOf(name, revision)))).toEqual([])
  })

  it('says so exactly what is seen instead that no other failure looks like it', () => {
    for (const { seen } of skips) expect(otherEnds.filter((end) => seen.test(end))).toEqual([])
  })
})

describe('the table of what carriers cannot do, gaps.ts', () => {
  const pairs = gaps.flatMap(({ carriers, behaviours }) =>
    carriers.flatMap((carrier) => behaviours.map((behaviour) => ({ carrier, behaviour }))),
  )

  it('names behaviours that exist, on carriers that could have them, and says why', () => {
    expect(gaps.flatMap(({ behaviours }) => behaviours).filter((each) => !names.includes(each))).toEqual([])
    const isIdle = ({ carrier, behaviour }: (typeof pairs)[number]) =>
      REVISIONS.every((revision) => !exists(carrier, revision) || skipOf(behaviour, revision))
    expect(pairs.filter(isIdle)).toEqual([])
    for (const { reason } of gaps) expect(reason).toMatch(/\S/)
  })

  it('names each pair of behaviour and carrier once', () => {
    expect(twice(pairs.map(({ carrier, behaviour }) => `${behaviour}: ${carrier}`))).toEqual([])
  })

  it('says so exactly what is seen instead that no other failure looks like it', () => {
    for (const { seen } of gaps) expect(otherEnds.filter((end) => seen.test(end))).toEqual([])
  })

  it('leaves everything to memory and to lines', () => {
    for (const carrier of ['objects', 'text', 'lines'] as const) {
      expect(names.filter((name) => gapOf(name, carrier) !== undefined)).toEqual([])
    }
  })
})

describe('the carriers', () => {
  it('are tried all', () => {
    const tests = readdirSync(import.meta.dirname).filter((file) => /^(?:in|over)-.*\.test\.ts$/.test(file))
    const tried = tests.flatMap((file) => {
      const [, list = ''] = /^tryOver\((.*)\)$/m.exec(readFileSync(join(import.meta.dirname, file), 'utf8')) ?? []
      return [...list.matchAll(/'([^']+)'/g)].map(([, carrier]) => carrier)
    })
    expect(tried.sort()).toEqual([...carrierNames].sort())
  })

  it('carry every revision, but for what came and went with some of them', () => {
    const legacy = ['2025-03-26', '2025-06-18', '2025-11-25']
    expect(
      Object.fromEntries(carrierNames.map((carrier) => [carrier, REVISIONS.filter((each) => exists(carrier, each))])),
    ).toEqual({
      objects: ['2024-11-05', ...legacy, '2026-07-28'],
      text: ['2024-11-05', ...legacy, '2026-07-28'],
      lines: ['2024-11-05', ...legacy, '2026-07-28'],
      HTTP: ['2024-11-05', ...legacy, '2026-07-28'],
      'HTTP without sessions': legacy,
      'HTTP+SSE': ['2024-11-05'],
    })
  })
})
