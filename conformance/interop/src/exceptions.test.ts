import { describe, expect, it } from 'vitest'
import {
  type SdkException,
  sdkException,
  sdkExceptions,
  type ThirdPartyException,
  thirdPartyExceptions,
} from './exceptions.ts'
import { features } from './features.ts'
import { evaluateOutcome } from './outcome.ts'
import { pairings } from './pairings.ts'
import type { Results } from './results.ts'
import { staleExceptions } from './stale-exceptions.ts'
import { thirdParties } from './third-parties.ts'

describe('the lists of exceptions', () => {
  it('names existing features and pairings', () => {
    for (const each of sdkExceptions) {
      expect(features).toHaveProperty([each.feature])
      expect(pairings.filter((pairing) => sdkException(each.feature, pairing) === each)).not.toEqual([])
    }
  })

  it('names existing third parties', () => {
    const known = thirdParties.map((thirdParty) => `${thirdParty.package} ${thirdParty.over}`)
    for (const each of thirdPartyExceptions) expect(known).toContain(`${each.package} ${each.over}`)
  })

  it('gives reasons', () => {
    for (const { reason } of [...sdkExceptions, ...thirdPartyExceptions]) expect(reason).toMatch(/\w/)
  })
})

describe('the search for stale exceptions', () => {
  const pairing = { ours: 'server', peer: 'sdk-1', transport: 'http', revision: '2025-11-25' } as const
  const thirdParty = { package: 'other', version: '1.0.0', is: 'client', over: 'http' } as const
  const failing = { status: 'lacks', evidence: 'this was seen' } as const
  const results: Results = {
    pairings: [
      {
        ...pairing,
        checks: [
          { name: 'works', status: 'passed' },
          { name: 'fails', ...failing },
          { name: 'is absent', status: 'absent' },
        ],
      },
    ],
    thirdParties: [{ ...thirdParty, checks: [{ name: 'calls', ...failing }] }],
  }
  const exception = { kind: 'lacks', reason: 'it has none', pattern: /this was seen/ } as const
  const sdk = (feature: string, changes: Partial<SdkException> = {}): string[] =>
    staleExceptions(results, [{ ...exception, feature, where: { ours: 'server', transport: 'http' }, ...changes }], [])
  const other = (changes: Partial<ThirdPartyException> = {}): ThirdPartyException => ({
    ...exception,
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
    expect(sdk('unknown feature')).toEqual([expect.stringContaining('it was not run')])
    expect(sdk('is absent')).toEqual([expect.stringContaining('it was not run')])
    expect(sdk('works')).toEqual([expect.stringContaining('it is "passed"')])
    expect(sdk('fails', { where: { revision: '1999-01-01' } })).toEqual([expect.stringContaining('no pairing')])
    for (const changes of [{ check: 'unknown check' }, { over: 'pigeons' }])
      expect(staleExceptions(results, [], [other(changes)])).toEqual([expect.stringContaining('it was not run')])
    expect(staleExceptions(results, [], [other(), other()])).toEqual([
      expect.stringContaining('another exception covers it'),
    ])
  })

  it('finds patterns that do not match the evidence, and patterns that match anything', () => {
    expect(sdk('fails', { pattern: /another/ })).toEqual([
      expect.stringContaining('/another/ does not match the evidence: this was seen'),
    ])
    for (const pattern of [/./, /(?:)/, /^/, /.*/, /\w/, /e/i, / /]) {
      expect(sdk('fails', { pattern })).toEqual([expect.stringContaining('matches anything')])
      expect(staleExceptions(results, [], [other({ pattern })])).toEqual([expect.stringContaining('matches anything')])
    }
  })
})

describe('evaluateOutcome', () => {
  const exception = { kind: 'lacks', reason: 'it has none', pattern: /not there/ } as const

  it('returns the kind of the exception only if the error matches its pattern', () => {
    expect(evaluateOutcome(new Error('It is not there'), exception).status).toBe('lacks')
    expect(evaluateOutcome(new Error('It exploded'), exception).status).toBe('failed')
  })

  it('fails an exception that is no longer needed', () => {
    expect(evaluateOutcome(undefined, exception)).toEqual({
      status: 'failed',
      reason: 'it works: remove its exception',
    })
  })

  it('returns the error message as evidence', () => {
    expect(evaluateOutcome(new Error('It\n  exploded'), undefined)).toEqual({
      status: 'failed',
      evidence: 'It exploded',
    })
    expect(evaluateOutcome(undefined, undefined)).toEqual({ status: 'passed' })
  })
})
