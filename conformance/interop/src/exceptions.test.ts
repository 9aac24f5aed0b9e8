import { describe, expect, it } from 'vitest'
import {
  type SdkException,
  type StrangerException,
  sdkException,
  sdkExceptions,
  strangerExceptions,
} from './exceptions.ts'
import { features } from './features.ts'
import { readRecord } from './record.ts'
import { staleExceptions } from './stale-exceptions.ts'
import { strangers } from './strangers.ts'
import { judge } from './verdict.ts'
import { ways } from './ways.ts'

describe('the list of what does not work with others', () => {
  it('names features and ways that there are', () => {
    for (const each of sdkExceptions) {
      expect(features).toHaveProperty([each.feature])
      expect(ways.filter((way) => sdkException(each.feature, way) === each)).not.toEqual([])
    }
  })

  it('names strangers that there are', () => {
    const known = strangers.map((stranger) => `${stranger.package} ${stranger.over}`)
    for (const each of strangerExceptions) expect(known).toContain(`${each.package} ${each.over}`)
  })

  it('names what was tried, and came out as it says', () => {
    expect(staleExceptions(readRecord())).toEqual([])
  })

  it('refuses what names no check that was made, or one that came out otherwise', () => {
    const record = readRecord()
    const [stranger] = strangerExceptions
    const why = { kind: 'lacks', reason: 'none', seen: /this was seen/ } as const
    const http = { ours: 'server', peer: 'sdk-1', carrier: 'http' } as const
    const sdk = (feature: string, where: SdkException['where']) =>
      staleExceptions(record, [{ ...why, feature, where }], [])
    const other = (...all: readonly (StrangerException | undefined)[]) =>
      staleExceptions(
        record,
        [],
        all.flatMap((each) => each ?? []),
      )
    expect(sdk('nobody tries this', http)).toEqual([expect.stringContaining('it was not tried')])
    expect(sdk('a tool is called', { ...http, revision: '1999-01-01' })).toEqual([expect.stringContaining('no way')])
    expect(sdk('arguments travel as headers', http)).toEqual([expect.stringContaining('it was not tried')])
    expect(sdk('a tool is called', http)).toEqual([expect.stringContaining('it is "passed"')])
    expect(stranger && other({ ...stranger, check: 'nobody makes this' })).toEqual([
      expect.stringContaining('it was not tried'),
    ])
    expect(stranger && other({ ...stranger, over: 'pigeons' })).toEqual([expect.stringContaining('it was not tried')])
    expect(other(stranger, stranger && { ...stranger })).toEqual([expect.stringContaining('another one excuses it')])
  })

  it('refuses a pattern that is not that of what was seen, and one that anything matches', () => {
    const record = readRecord()
    const seeing = (seen: RegExp) =>
      staleExceptions(
        record,
        sdkExceptions.map((each) => ({ ...each, seen })),
        strangerExceptions.map((each) => ({ ...each, seen })),
      )
    const tried = staleExceptions(
      record,
      sdkExceptions,
      strangerExceptions.map((each) => ({ ...each, seen: /another/ })),
    )
    expect(tried).toHaveLength(strangerExceptions.length)
    for (const line of tried) expect(line).toContain('/another/ is not what was seen: ')
    for (const anything of [/./, /(?:)/, /^/, /.*/, /\w/, /e/i, / /]) {
      const lines = seeing(anything)
      expect(lines).toHaveLength(sdkExceptions.length + strangerExceptions.length)
      for (const line of lines) expect(line).toContain(`${anything} matches anything`)
    }
    expect(seeing(/nobody saw this/).length).toBeGreaterThanOrEqual(sdkExceptions.length + strangerExceptions.length)
  })

  it('says why', () => {
    for (const { reason } of [...sdkExceptions, ...strangerExceptions]) expect(reason).toMatch(/\w/)
  })
})

describe('a verdict', () => {
  const exception = { kind: 'lacks', reason: 'it has none', seen: /not there/ } as const

  it('is that of the other side only when what was seen is what is known', () => {
    expect(judge(new Error('It is not there'), exception).status).toBe('lacks')
    expect(judge(new Error('It exploded'), exception).status).toBe('failed')
  })

  it('fails an exception that is not needed any more', () => {
    expect(judge(undefined, exception)).toEqual({ status: 'failed', reason: 'it works: take out its exception' })
  })

  it('keeps what was seen', () => {
    expect(judge(new Error('It\n  exploded'), undefined)).toEqual({ status: 'failed', evidence: 'It exploded' })
    expect(judge(undefined, undefined)).toEqual({ status: 'passed' })
  })
})
