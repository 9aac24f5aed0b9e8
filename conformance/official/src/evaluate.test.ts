import { describe, expect, it } from 'vitest'
import { missingChecks } from './checks.ts'
import { type Check, evaluate, type Lists, missing, type Verdict } from './evaluate.ts'
import { staleEntries } from './stale.ts'
import { summary, table } from './table.ts'

const lists: Lists = {
  excuses: [{ scenario: 'headers', check: 'older', message: /older era/, reason: 'the scenario is of the newer one' }],
  notYet: [{ scenarios: ['tasks-one'], needs: '@mcpx/ext-tasks' }],
}

const good: Check = { id: 'good', status: 'SUCCESS' }
const info: Check = { id: 'incoming-request', status: 'INFO' }

function verdictOn(checks: readonly Check[] | undefined, scenario = 'headers', clientError = '') {
  return evaluate({ scenario, checks, clientError }, lists)
}

describe('the verdict of a scenario', () => {
  it('is passed if all checks passed, independently of other entries', () => {
    expect(verdictOn([good, info, good])).toMatchObject({ outcome: 'passed', passed: 2, reasons: [] })
  })

  it.each(['FAILURE', 'WARNING', 'SKIPPED'] as const)('is failed for a %s, with the reason', (status) => {
    const bad: Check = { id: 'bad', status, errorMessage: 'it is not so' }
    expect(verdictOn([good, bad])).toMatchObject({ outcome: 'failed', reasons: [`${status} bad: it is not so`] })
  })

  it('is failed for a note that something was not checked, unless it is excused', () => {
    const open: Check = { id: 'older', status: 'INFO', errorMessage: 'only the older era has it' }
    expect(verdictOn([good, open])).toMatchObject({ outcome: 'excused', skipped: 1, failing: [] })
    expect(verdictOn([good, { ...open, id: 'other' }])).toMatchObject({ outcome: 'failed', failing: ['other'] })
  })

  it('contains the checks that did not pass', () => {
    const bad: Check = { id: 'bad', status: 'FAILURE' }
    expect(verdictOn([good, bad]).failing).toEqual(['bad'])
    expect(verdictOn([good, bad], 'headers', 'Error: lost').failing).toEqual(['bad', '(run)'])
    expect(verdictOn(undefined).failing).toEqual(['(run)'])
  })

  it('is failed for a scenario that crashed or checked nothing', () => {
    expect(verdictOn(undefined)).toMatchObject({ outcome: 'failed', reasons: ['crashed: the suite wrote no checks'] })
    expect(verdictOn([info])).toMatchObject({ outcome: 'failed', reasons: ['nothing was checked'] })
    expect(verdictOn([])).toMatchObject({ outcome: 'failed', reasons: ['nothing was checked'] })
    expect(missing('x')).toMatchObject({ outcome: 'failed', reasons: ['did not run'] })
  })

  it('is failed if the client failed, even if the suite did not notice', () => {
    const { outcome, reasons } = verdictOn([good], 'headers', 'Error: lost')
    expect({ outcome, reasons }).toEqual({ outcome: 'failed', reasons: ['the client failed: Error: lost'] })
  })

  it('excuses a skipped check only with the known message in the known scenario', () => {
    const skip: Check = { id: 'older', status: 'SKIPPED', errorMessage: 'only the older era has it' }
    expect(verdictOn([good, skip])).toMatchObject({ outcome: 'excused', skipped: 1 })
    expect(verdictOn([good, { ...skip, errorMessage: 'out of time' }])).toMatchObject({ outcome: 'failed' })
    expect(verdictOn([good, { ...skip, id: 'other' }])).toMatchObject({ outcome: 'failed' })
    expect(verdictOn([good, { ...skip, status: 'WARNING' }])).toMatchObject({ outcome: 'failed' })
    expect(verdictOn([good, skip], 'tools')).toMatchObject({ outcome: 'failed' })
  })

  it('is "not yet" for scenarios that need a missing package, until they pass', () => {
    const bad: Check = { id: 'bad', status: 'FAILURE' }
    expect(verdictOn([good, bad], 'tasks-one')).toMatchObject({
      outcome: 'not yet',
      reasons: ['needs @mcpx/ext-tasks'],
    })
    expect(verdictOn([good], 'tasks-one')).toMatchObject({
      outcome: 'failed',
      reasons: ['passes already: remove it from not-yet.ts'],
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

  it('is valid while a scenario needs it', () => {
    expect(reasonsOf([excused, waiting])).toEqual([])
  })

  it('fails if its scenario needs no excuse in any run', () => {
    expect(reasonsOf([verdictOn([good]), waiting])).toEqual(['failed', 'older of headers needs no excuse: remove it'])
    expect(reasonsOf([verdictOn([good]), excused, waiting])).toEqual([])
  })

  it('fails if its scenario needs a missing package', () => {
    const both: Lists = {
      excuses: [{ scenario: 'tasks-one', check: 'older', message: /older/, reason: 'it is so' }],
      notYet: lists.notYet,
    }
    const verdict = evaluate({ scenario: 'tasks-one', checks: [good, skip], clientError: '' }, both)
    expect(staleEntries([verdict], both, true)).toMatchObject([{ outcome: 'failed', scenario: '(excused.ts)' }])
  })

  it('fails if its scenario does not exist, unless only some runs were made', () => {
    expect(reasonsOf([excused])).toEqual(['failed', 'there is no scenario tasks-one: remove it'])
    expect(reasonsOf([excused], false)).toEqual([])
    expect(reasonsOf([waiting], false)).toEqual([])
  })
})

describe('the number of passed checks', () => {
  const good = verdictOn([{ id: 'good', status: 'SUCCESS' }])
  const results = [{ run: 'server-2025', verdicts: [good, good, verdictOn([], 'tasks-one')] }]

  it('may be the expected number or higher', () => {
    expect(missingChecks({ 'server-2025': 2 }, results)).toEqual([])
    expect(missingChecks({ 'server-2025': 1 }, results)).toEqual([])
  })

  it('may not be lower or unknown', () => {
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

  it('has a summary without scenarios that need a missing package', () => {
    const all = [...verdicts, verdictOn([good, { id: 'x', status: 'FAILURE' }], 'tasks-one')]
    expect(summary({ verdicts: all })).toBe(
      '3 scenarios: 1 passed, 1 not yet, 1 failed; checks: 1 passed, 1 failed, 0 warned, 0 skipped; 1 try',
    )
    expect(summary({ verdicts, tries: 2, scored: { needed: 30, passed: 29 } })).toMatch(/; scored: 29 of 30; 2 tries$/)
  })

  it('shows the failures of earlier tries', () => {
    expect(table({ run: 'x', verdicts, tries: 2, again: ['a: b'] })).toContain('failed in an earlier try: a: b')
  })
})
