import { describe, expect, it } from 'vitest'
import { missingChecks } from './checks.ts'
import { type Check, judge, type Lists, missing, type Verdict } from './judge.ts'
import { staleEntries } from './stale.ts'
import { summary, table } from './table.ts'

const lists: Lists = {
  excuses: [{ scenario: 'headers', check: 'older', says: /older era/, reason: 'the scenario is of the newer one' }],
  notYet: [{ scenarios: ['tasks-one'], needs: '@mcpx/ext-tasks' }],
}

const good: Check = { id: 'good', status: 'SUCCESS' }
const told: Check = { id: 'incoming-request', status: 'INFO' }

function verdictOn(checks: readonly Check[] | undefined, scenario = 'headers', complaint = '') {
  return judge({ scenario, checks, complaint }, lists)
}

describe('the verdict on a scenario', () => {
  it('is good when all checks passed, whatever was told besides', () => {
    expect(verdictOn([good, told, good])).toMatchObject({ outcome: 'passed', passed: 2, reasons: [] })
  })

  it.each(['FAILURE', 'WARNING', 'SKIPPED'] as const)('is bad for a %s, and says why', (status) => {
    const bad: Check = { id: 'bad', status, errorMessage: 'it is not so' }
    expect(verdictOn([good, bad])).toMatchObject({ outcome: 'failed', reasons: [`${status} bad: it is not so`] })
  })

  it('is bad for a remark that something could not be checked, unless that is excused', () => {
    const open: Check = { id: 'older', status: 'INFO', errorMessage: 'only the older era has it' }
    expect(verdictOn([good, open])).toMatchObject({ outcome: 'excused', skipped: 1, failing: [] })
    expect(verdictOn([good, { ...open, id: 'other' }])).toMatchObject({ outcome: 'failed', failing: ['other'] })
  })

  it('names the checks that did not pass', () => {
    const bad: Check = { id: 'bad', status: 'FAILURE' }
    expect(verdictOn([good, bad]).failing).toEqual(['bad'])
    expect(verdictOn([good, bad], 'headers', 'Error: lost').failing).toEqual(['bad', '(run)'])
    expect(verdictOn(undefined).failing).toEqual(['(run)'])
  })

  it('is bad for a scenario that broke, or that checked nothing', () => {
    expect(verdictOn(undefined)).toMatchObject({ outcome: 'failed', reasons: ['broke: the suite wrote no checks'] })
    expect(verdictOn([told])).toMatchObject({ outcome: 'failed', reasons: ['nothing was checked'] })
    expect(verdictOn([])).toMatchObject({ outcome: 'failed', reasons: ['nothing was checked'] })
    expect(missing('x')).toMatchObject({ outcome: 'failed', reasons: ['did not run'] })
  })

  it('is bad for a client that failed, even if the suite did not notice', () => {
    const { outcome, reasons } = verdictOn([good], 'headers', 'Error: lost')
    expect({ outcome, reasons }).toEqual({ outcome: 'failed', reasons: ['the client failed: Error: lost'] })
  })

  it('excuses a skip for the reason that is known, in the scenario that it is known of', () => {
    const skip: Check = { id: 'older', status: 'SKIPPED', errorMessage: 'only the older era has it' }
    expect(verdictOn([good, skip])).toMatchObject({ outcome: 'excused', skipped: 1 })
    expect(verdictOn([good, { ...skip, errorMessage: 'out of time' }])).toMatchObject({ outcome: 'failed' })
    expect(verdictOn([good, { ...skip, id: 'other' }])).toMatchObject({ outcome: 'failed' })
    expect(verdictOn([good, { ...skip, status: 'WARNING' }])).toMatchObject({ outcome: 'failed' })
    expect(verdictOn([good, skip], 'tools')).toMatchObject({ outcome: 'failed' })
  })

  it('lets a scenario wait for its package, until it passes', () => {
    const bad: Check = { id: 'bad', status: 'FAILURE' }
    expect(verdictOn([good, bad], 'tasks-one')).toMatchObject({
      outcome: 'not yet',
      reasons: ['needs @mcpx/ext-tasks'],
    })
    expect(verdictOn([good], 'tasks-one')).toMatchObject({
      outcome: 'failed',
      reasons: ['passes already: take it out of not-yet.ts'],
    })
    expect(verdictOn([good, bad], 'tasks-one-more')).toMatchObject({ outcome: 'failed' })
  })
})

describe('an entry of the lists', () => {
  const skip: Check = { id: 'older', status: 'SKIPPED', errorMessage: 'only the older era has it' }
  const excused = verdictOn([good, skip])
  const waiting = verdictOn([good, { id: 'bad', status: 'FAILURE' }], 'tasks-one')
  const reasonsOf = (verdicts: readonly Verdict[], isWhole = true) =>
    staleEntries(verdicts, lists, isWhole).flatMap(({ outcome, reasons }) => [outcome, ...reasons])

  it('is good while something needs it', () => {
    expect(reasonsOf([excused, waiting])).toEqual([])
  })

  it('fails when its scenario needs no excuse any more, in no run', () => {
    expect(reasonsOf([verdictOn([good]), waiting])).toEqual(['failed', 'older of headers needs no excuse: take it out'])
    expect(reasonsOf([verdictOn([good]), excused, waiting])).toEqual([])
  })

  it('fails when its scenario waits for a package, which is no matter of excuses', () => {
    const both: Lists = {
      excuses: [{ scenario: 'tasks-one', check: 'older', says: /older/, reason: 'it is so' }],
      notYet: lists.notYet,
    }
    const verdict = judge({ scenario: 'tasks-one', checks: [good, skip], complaint: '' }, both)
    expect(staleEntries([verdict], both, true)).toMatchObject([{ outcome: 'failed', scenario: '(excused.ts)' }])
  })

  it('fails when there is no such scenario, unless only a part was run', () => {
    expect(reasonsOf([excused])).toEqual(['failed', 'there is no scenario tasks-one: take it out'])
    expect(reasonsOf([excused], false)).toEqual([])
    expect(reasonsOf([waiting], false)).toEqual([])
  })
})

describe('the number of passed checks', () => {
  const good = verdictOn([{ id: 'good', status: 'SUCCESS' }])
  const results = [{ run: 'server-2025', verdicts: [good, good, verdictOn([], 'tasks-one')] }]

  it('may be as expected, or higher', () => {
    expect(missingChecks({ 'server-2025': 2 }, results)).toEqual([])
    expect(missingChecks({ 'server-2025': 1 }, results)).toEqual([])
  })

  it('may not be lower, and must be known', () => {
    expect(missingChecks({ 'server-2025': 3 }, results)).toEqual([
      'server-2025: expected at least 3 passed checks, got 2',
    ])
    expect(missingChecks({}, results)).toHaveLength(1)
  })
})

describe('the table', () => {
  const verdicts = [verdictOn([good]), verdictOn([{ id: 'bad', status: 'FAILURE' }], 'tools')]

  it('has a line for each scenario and for each reason', () => {
    const lines = table({ run: 'server-2025', verdicts }).trimEnd().split('\n')
    expect(lines).toHaveLength(5)
    expect(lines[1]).toMatch(/^headers +1 +0 +0 +0 {2}passed$/)
    expect(lines[3]).toBe('    FAILURE bad: ')
  })

  it('sums up, without what waits for its package', () => {
    const all = [...verdicts, verdictOn([good, { id: 'x', status: 'FAILURE' }], 'tasks-one')]
    expect(summary({ verdicts: all })).toBe(
      '3 scenarios: 1 passed, 1 not yet, 1 failed; checks: 1 passed, 1 failed, 0 warned, 0 skipped; 1 try',
    )
    expect(summary({ verdicts, tries: 2, scored: { needed: 30, passed: 29 } })).toMatch(/; scored: 29 of 30; 2 tries$/)
  })

  it('shows what failed in a try before', () => {
    expect(table({ run: 'x', verdicts, tries: 2, again: ['a: b'] })).toContain('failed in a try before: a: b')
  })
})
