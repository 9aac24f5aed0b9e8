import { describe, expect, it } from 'vitest'
import { impossible } from './circumstances.ts'
import { readRecord } from './record.ts'

describe('when kept results were found, and with which Node', () => {
  const now = new Date('2026-12-01T00:30:00Z')
  const kept = { node: 'v24.1.2', date: '2026-11-30' }

  it('is a day that was, and the major version that is pinned', () => {
    expect(impossible(kept, now, 24)).toEqual([])
    expect(impossible({ ...kept, date: '2026-12-01' }, now, 24)).toEqual([])
  })

  it.each(['v99.0.0', 'v2.24.0', '24.1.2', 'v24', ''])('is not Node %s', (node) => {
    expect(impossible({ ...kept, node }, now, 24)).toEqual([`they are of Node ${node}, and Node 24 is pinned`])
  })

  it.each([
    ['2019-01-01', /before anything was pinned/],
    ['2026-12-02', /yet to come/],
    ['2026-02-30', /no day/],
    ['2026-11-31', /no day/],
    ['26-11-30', /no day/],
    ['today', /no day/],
    ['2026-11-30T10:00:00Z', /no day/],
  ])('is not the day %s', (date, why) => {
    expect(impossible({ ...kept, date }, now, 24)).toEqual([expect.stringMatching(why)])
  })

  it('is possible for what is kept', () => {
    expect(impossible(readRecord())).toEqual([])
  })
})
