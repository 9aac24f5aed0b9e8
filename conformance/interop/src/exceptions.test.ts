import { describe, expect, it } from 'vitest'
import { sdkException, sdkExceptions, strangerExceptions } from './exceptions.ts'
import { features } from './features.ts'
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
