import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REVISIONS } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { behaviours } from './behaviours.ts'
import { gapOf, gaps } from './gaps.ts'
import { skipOf, skips } from './skips.ts'
import { supports, transportNames } from './transports.ts'

const names = Object.keys(behaviours)
const twice = (all: readonly string[]) => all.filter((each, index) => all.indexOf(each) !== index)

/** Failures that no entry of a table may match. */
const otherFailures = [
  '',
  'Error: It works',
  'Error: Timed out waiting for the call',
  'Error: Timed out waiting for the end of the call',
  'Error: The tool failed: The tool failed (error 01234567)',
  'Error: The tool did not fail: x',
  'Error: server: expected a CallToolResult of 2025-03-26, got {}',
  'AssertionError: expected 1 to be 2 // Object.is equality',
  'AssertionError: expected undefined to be defined',
  'AssertionError: expected [] to deeply equal [ 1 ]',
  'AssertionError: promise resolved "undefined" instead of rejecting',
  'ConnectionError closed: The connection was closed',
  'ConnectionError timeout: tools/call was not answered within 4000 ms',
  'ConnectionError unreachable: The response to tools/call was lost',
  'RpcError -32601: Method not found: "tools/call"',
  'RpcError -32603: Internal error (01234567)',
  "SyntaxError: Unexpected token 'T'",
  "TypeError: Cannot read properties of undefined (reading 'x')",
]

describe('skips.ts', () => {
  const pairs = skips.flatMap(({ revisions, behaviours }) =>
    revisions.flatMap((revision) => behaviours.map((behaviour) => `${behaviour}: ${revision}`)),
  )

  it('names existing behaviours and gives reasons', () => {
    expect(skips.flatMap(({ behaviours }) => behaviours).filter((each) => !names.includes(each))).toEqual([])
    for (const { reason } of skips) expect(reason).toMatch(/\S/)
  })

  it('names each pair of behaviour and revision once', () => {
    expect(twice(pairs)).toEqual([])
    for (const { revisions } of skips) expect(revisions.length).toBeGreaterThan(0)
  })

  it('lists no behaviour for all revisions', () => {
    expect(names.filter((name) => REVISIONS.every((revision) => skipOf(name, revision)))).toEqual([])
  })

  it('describes failures so precisely that no other failure matches', () => {
    for (const { failure } of skips) expect(otherFailures.filter((each) => failure.test(each))).toEqual([])
  })
})

describe('gaps.ts', () => {
  const pairs = gaps.flatMap(({ transports, behaviours }) =>
    transports.flatMap((transport) => behaviours.map((behaviour) => ({ transport, behaviour }))),
  )

  it('names existing behaviours on transports that could support them, and gives reasons', () => {
    expect(gaps.flatMap(({ behaviours }) => behaviours).filter((each) => !names.includes(each))).toEqual([])
    const isIdle = ({ transport, behaviour }: (typeof pairs)[number]) =>
      REVISIONS.every((revision) => !supports(transport, revision) || skipOf(behaviour, revision))
    expect(pairs.filter(isIdle)).toEqual([])
    for (const { reason } of gaps) expect(reason).toMatch(/\S/)
  })

  it('names each pair of behaviour and transport once', () => {
    expect(twice(pairs.map(({ transport, behaviour }) => `${behaviour}: ${transport}`))).toEqual([])
  })

  it('describes failures so precisely that no other failure matches', () => {
    for (const { failure } of gaps) expect(otherFailures.filter((each) => failure.test(each))).toEqual([])
  })

  it('has no entry for memory and lines', () => {
    for (const transport of ['objects', 'text', 'lines'] as const) {
      expect(names.filter((name) => gapOf(name, transport) !== undefined)).toEqual([])
    }
  })
})

describe('the transports', () => {
  it('are all tested', () => {
    const tests = readdirSync(import.meta.dirname).filter((file) => /^(?:in|over)-.*\.test\.ts$/.test(file))
    const tested = tests.flatMap((file) => {
      const [, list = ''] = /^testMatrix\((.*)\)$/m.exec(readFileSync(join(import.meta.dirname, file), 'utf8')) ?? []
      return [...list.matchAll(/'([^']+)'/g)].map(([, transport]) => transport)
    })
    expect(tested.sort()).toEqual([...transportNames].sort())
  })

  it('support every revision, except for HTTP without sessions and HTTP+SSE', () => {
    const legacy = ['2025-03-26', '2025-06-18', '2025-11-25']
    expect(
      Object.fromEntries(
        transportNames.map((transport) => [transport, REVISIONS.filter((each) => supports(transport, each))]),
      ),
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
