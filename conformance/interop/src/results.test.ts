import { expect, it } from 'vitest'
import { countOf, failures, type Results } from './results.ts'

const pairing = { ours: 'client', peer: 'sdk-1', transport: 'http', revision: '2025-11-25' } as const
const results: Results = {
  pairings: [
    {
      ...pairing,
      checks: [
        { name: 'a tool returns a result', status: 'breaks', reason: 'it is wrong', evidence: 'a | b' },
        { name: 'a tool returns structured content', status: 'absent', reason: 'not over http' },
        { name: 'a prompt is read', status: 'failed', evidence: 'it hangs' },
      ],
    },
  ],
  thirdParties: [
    { package: 'other', version: '4.5.6', is: 'client', over: 'http', checks: [{ name: 'calls', status: 'passed' }] },
  ],
}

it('countOf counts each status', () => {
  expect(countOf(results, 'passed')).toBe(1)
  expect(countOf(results, 'lacks', 'breaks')).toBe(1)
})

it('failures lists failed checks', () => {
  expect(failures(results)).toEqual([expect.stringMatching(/http, 2025-11-25: a prompt is read: {2}it hangs$/)])
})
