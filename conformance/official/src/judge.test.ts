import { describe, expect, it } from 'vitest'
import { type Check, judge, type Lists, missing, type Verdict } from './judge.ts'
import { outdated, toRunRecord } from './record.ts'
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

describe('the results that are kept', () => {
  const good = verdictOn([{ id: 'good', status: 'SUCCESS' }])
  const results = [{ run: 'server-2025', verdicts: [good, verdictOn([], 'tasks-one')] }]
  const kept = { suite: '1', node: 'v24.0.0', date: '2026-01-02', runs: results.map(toRunRecord) }

  it('count scenarios, and checks but those that wait, and name what did not simply pass', () => {
    expect(kept.runs[0]).toMatchObject({
      scenarios: { passed: 1, 'not yet': 1 },
      checks: { passed: 1, failed: 0 },
      others: [{ scenario: 'tasks-one', outcome: 'not yet', why: 'needs @mcpx/ext-tasks' }],
    })
  })

  it('hold while the same suite says the same of the same scenarios', () => {
    expect(outdated(kept, '1', results)).toEqual([])
    expect(outdated(kept, '2', results)).toEqual(['they are of the suite 1'])
    const again = [{ ...results[0], run: 'server-2025', verdicts: results[0]?.verdicts ?? [], tries: 2, again: ['x'] }]
    expect(outdated(kept, '1', again)).toEqual([])
    const more = [{ run: 'server-2025', verdicts: [good, good] }]
    expect(outdated(kept, '1', more)).toEqual(['server-2025 came out otherwise'])
    expect(outdated(kept, '1', results, true)).toEqual([])
    expect(outdated(kept, '1', [], true)).toEqual(['server-2025 was not run'])
    expect(outdated(kept, '1', [{ run: 'other', verdicts: [good] }])).toEqual(['other came out otherwise'])
  })
})

describe('each number that is kept', () => {
  const results = [
    { run: 'x', verdicts: [verdictOn([good]), verdictOn([], 'tasks-one')], scored: { needed: 1, passed: 1 } },
  ]
  const [run] = results.map(toRunRecord)
  const keeping = (changed: object) => ({
    suite: '1',
    node: '',
    date: '',
    runs: run === undefined ? [] : [{ ...run, ...changed }],
  })
  const amiss = (changed: object) => outdated(keeping(changed), '1', results)

  it.each(['passed', 'failed', 'warned', 'skipped'])('is that of the run: checks that %s', (count) => {
    expect(amiss({})).toEqual([])
    expect(amiss({ checks: { ...run?.checks, [count]: 9999 } })).toEqual(['x came out otherwise'])
  })

  it('is that of the run: scenarios, scores, and what is said of others', () => {
    expect(amiss({ scenarios: { ...run?.scenarios, passed: 9999 } })).toEqual(['x came out otherwise'])
    expect(amiss({ scored: { needed: 1, passed: 2 } })).toEqual(['x came out otherwise'])
    expect(amiss({ others: run?.others.map((each) => ({ ...each, why: 'of no reason' })) })).toHaveLength(1)
  })

  it('tells of tries together with what failed in them', () => {
    expect(amiss({ tries: 2, again: ['a: b'] })).toEqual([])
    expect(amiss({ tries: 3, again: ['a: b'] })).toEqual(['x says 3 tries, and not what failed in those before'])
    expect(amiss({ tries: 1, again: ['a: b'] })).toHaveLength(1)
    expect(amiss({ tries: 0 })).toHaveLength(1)
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
