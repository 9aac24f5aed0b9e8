import { describe, expect, it } from 'vitest'
import {
  type SdkException,
  type StrangerException,
  sdkException,
  sdkExceptions,
  strangerExceptions,
} from './exceptions.ts'
import { features } from './features.ts'
import type { Results } from './results.ts'
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

  it('says why', () => {
    for (const { reason } of [...sdkExceptions, ...strangerExceptions]) expect(reason).toMatch(/\w/)
  })
})

describe('the search for stale exceptions', () => {
  const way = { ours: 'server', peer: 'sdk-1', carrier: 'http', revision: '2025-11-25' } as const
  const stranger = { package: 'other', version: '1.0.0', is: 'client', over: 'http' } as const
  const failing = { status: 'lacks', evidence: 'this was seen' } as const
  const results: Results = {
    ways: [
      {
        ...way,
        cells: [
          { what: 'works', status: 'passed' },
          { what: 'fails', ...failing },
          { what: 'is absent', status: 'absent' },
        ],
      },
    ],
    strangers: [{ ...stranger, cells: [{ what: 'calls', ...failing }] }],
  }
  const why = { kind: 'lacks', reason: 'it has none', seen: /this was seen/ } as const
  const sdk = (feature: string, changes: Partial<SdkException> = {}): string[] =>
    staleExceptions(results, [{ ...why, feature, where: { ours: 'server', carrier: 'http' }, ...changes }], [])
  const other = (changes: Partial<StrangerException> = {}): StrangerException => ({
    ...why,
    package: 'other',
    over: 'http',
    check: 'calls',
    ...changes,
  })

  it('accepts an exception for a check with the outcome and the evidence that it names', () => {
    expect(sdk('fails')).toEqual([])
    expect(staleExceptions(results, [], [other()])).toEqual([])
  })

  it('finds exceptions for checks that were not made or had another outcome', () => {
    expect(sdk('nobody tries this')).toEqual([expect.stringContaining('it was not tried')])
    expect(sdk('is absent')).toEqual([expect.stringContaining('it was not tried')])
    expect(sdk('works')).toEqual([expect.stringContaining('it is "passed"')])
    expect(sdk('fails', { where: { revision: '1999-01-01' } })).toEqual([expect.stringContaining('no way')])
    for (const changes of [{ check: 'nobody makes this' }, { over: 'pigeons' }])
      expect(staleExceptions(results, [], [other(changes)])).toEqual([expect.stringContaining('it was not tried')])
    expect(staleExceptions(results, [], [other(), other()])).toEqual([
      expect.stringContaining('another one excuses it'),
    ])
  })

  it('finds patterns that do not match the evidence, and patterns that match anything', () => {
    expect(sdk('fails', { seen: /another/ })).toEqual([
      expect.stringContaining('/another/ is not what was seen: this was seen'),
    ])
    for (const seen of [/./, /(?:)/, /^/, /.*/, /\w/, /e/i, / /]) {
      expect(sdk('fails', { seen })).toEqual([expect.stringContaining('matches anything')])
      expect(staleExceptions(results, [], [other({ seen })])).toEqual([expect.stringContaining('matches anything')])
    }
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
