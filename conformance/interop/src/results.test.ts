import { expect, it } from 'vitest'
import { countOf, failures, type Results } from './results.ts'

const way = { ours: 'client', peer: 'sdk-1', carrier: 'http', revision: '2025-11-25' } as const
const results: Results = {
  ways: [
    {
      ...way,
      cells: [
        { what: 'a tool is called', status: 'breaks', reason: 'it lies', evidence: 'a | b' },
        { what: 'output is structured', status: 'absent', reason: 'not over http' },
        { what: 'a prompt is read', status: 'failed', evidence: 'it hangs' },
      ],
    },
  ],
  strangers: [
    { package: 'other', version: '4.5.6', is: 'client', over: 'http', cells: [{ what: 'calls', status: 'passed' }] },
  ],
}

it('counts each status by itself', () => {
  expect(countOf(results, 'passed')).toBe(1)
  expect(countOf(results, 'lacks', 'breaks')).toBe(1)
})

it('names what failed', () => {
  expect(failures(results)).toEqual([expect.stringMatching(/http, 2025-11-25: a prompt is read: {2}it hangs$/)])
})
