import { describe, expect, it } from 'vitest'
import { evaluateWithRetries, verdictOn } from './break-server.ts'
import { evaluate, type Verdict } from './evaluate.ts'
import { excuses } from './excused.ts'
import { mutants } from './mutants.ts'
import { notYet } from './not-yet.ts'
import {
  type Attempt,
  failuresByStall,
  faultsOf,
  revisionFaultsOf,
  runWithRetries,
  scoreOf,
} from './run-with-retries.ts'
import { type Run, runs } from './runs.ts'
import { suiteText } from './suite.ts'
import { timed } from './timed.ts'

const lists = { excuses: [], notYet: [] }
const ACK = 'sep-2575-server-sends-subscription-ack'

/** Returns the verdict of a scenario with these failing checks and one that passes. */
function failing(scenario: string, ...checks: string[]): Verdict {
  const bad = checks.map((id) => ({ id, status: 'FAILURE' as const }))
  return evaluate({ scenario, checks: [{ id: 'good', status: 'SUCCESS' }, ...bad], clientError: '' }, lists)
}

const run: Run = { name: 'server-x', role: 'server', choice: [], list: [], scenarios: 2, scored: 2 }
const good: Attempt = { verdicts: [failing('a'), failing('b')], stalled: 0, scored: ['a', 'b'] }

/** Returns the results of successive tries, and counts them. */
function attempts(...all: Attempt[]) {
  let tries = 0
  return { next: async () => all[tries++] ?? good, count: () => tries }
}

/** Returns the values one after the other. */
function inTurn<Value>(...all: Value[]): () => Promise<Value> {
  return async () => all.shift() ?? Promise.reject(new Error('Too many tries'))
}

describe('a run', () => {
  it('is made once if it passes', async () => {
    expect(await runWithRetries(run, attempts(good).next)).toMatchObject({
      tries: 1,
      again: [],
      scored: { needed: 2, passed: 2 },
    })
  })

  it('is repeated if the suite stalled for longer than the timeout of the failed check, and keeps the earlier failures', async () => {
    const { verdicts, tries, again } = await runWithRetries(
      run,
      attempts({ ...good, verdicts: [failing('a', ACK)], stalled: 900 }).next,
    )
    expect([verdicts.map(({ outcome }) => outcome), tries]).toEqual([['passed', 'passed'], 2])
    expect(again).toEqual([`a: ${ACK}, while the suite was stalled for 900 ms`])
  })

  it('fails at once for checks without a timeout', async () => {
    const all = attempts({ ...good, verdicts: [failing('a', ACK, 'other')], stalled: 60_000 })
    const { verdicts, tries } = await runWithRetries(run, all.next)
    expect([verdicts[0]?.outcome, tries, all.count()]).toEqual(['failed', 1, 1])
  })

  it('fails after the last try', async () => {
    const bad = { ...good, verdicts: [failing('a', ACK), failing('b')], stalled: 900 }
    const { verdicts, tries, again } = await runWithRetries(run, attempts(bad, bad, bad).next)
    expect([verdicts[0]?.outcome, tries, again?.length]).toEqual(['failed', 3, 2])
  })

  it('fails if fewer scored scenarios passed than required', async () => {
    const { verdicts, scored } = await runWithRetries({ ...run, scored: 3 }, attempts(good).next)
    expect(scored).toEqual({ needed: 3, passed: 2 })
    expect(verdicts.at(-1)?.reasons).toEqual(['2 of 2 scored scenarios passed, expected 3'])
  })
})

describe('failures by a stall', () => {
  it('are those of checks with a timeout that is not longer than the stall', () => {
    const waits = timed[ACK] ?? 0
    expect(failuresByStall([failing('a', ACK)], waits - 1)).toBeUndefined()
    expect(failuresByStall([failing('a', ACK)], waits)).toHaveLength(1)
  })

  it('are not those of crashed scenarios, and not successes', () => {
    const crashed = evaluate({ scenario: 'a', checks: undefined, clientError: '' }, lists)
    expect(failuresByStall([failing('a', ACK), crashed], 60_000)).toBeUndefined()
    expect(failuresByStall([failing('a')], 60_000)).toBeUndefined()
  })
})

describe('the names in the lists', () => {
  const text = suiteText()

  it('exist in the suite', () => {
    const checks = [...Object.keys(timed), ...mutants.map(({ check }) => check), ...excuses.map(({ check }) => check)]
    const scenarios = [...mutants, ...excuses].map(({ scenario }) => scenario)
    const names = [...checks, ...scenarios, ...notYet.flatMap(({ scenarios }) => scenarios)]
    expect(names.filter((name) => !text.includes(name))).toEqual([])
  })
})

describe('the score', () => {
  it('ignores scenarios that need a missing package, and counts each scenario once', () => {
    const waiting: Verdict = { ...failing('b', 'x'), outcome: 'not yet' }
    expect(scoreOf([failing('a'), failing('a'), waiting], ['a', 'b'], 2).score).toEqual({ needed: 2, passed: 1 })
  })

  it('is required for the runs with scored scenarios', () => {
    const scores = runs.flatMap(({ name, scored }) => (scored === undefined ? [] : [[name, scored]]))
    expect(Object.fromEntries(scores)).toEqual({
      'server-2025': 30,
      'server-2026': 37,
      'client-2025': 18,
      'client-2026': 32,
    })
  })
})

describe('the faults of a whole run', () => {
  const scenarioOutputs = ['a', 'b'].map((scenario) => ({ scenario, checks: [], clientError: '' }))
  const collected = {
    scenarioOutputs,
    output: { text: '', stalled: 0, code: 0, messageRevisions: [], headerRevisions: [] },
  }
  const listed = { all: ['a', 'b'], scored: [] }
  const reasonsOf = (...args: Parameters<typeof faultsOf>) => faultsOf(...args).flatMap(({ reasons }) => reasons)

  it('are empty if each scenario ran once', () => {
    expect(reasonsOf(run, listed, collected, [])).toEqual([])
  })

  it('contain scenarios that did not run, ran twice, or are unknown', () => {
    expect(reasonsOf(run, { ...listed, all: ['a', 'c'] }, collected, [])).toEqual(['did not run'])
    const twice = { ...collected, scenarioOutputs: [...scenarioOutputs, ...scenarioOutputs.slice(1)] }
    expect(reasonsOf(run, listed, twice, [])).toEqual(['3 scenarios ran, expected 2', 'a scenario ran twice'])
  })

  it('contain clients that failed without an error message', () => {
    const output = { ...collected.output, text: 'x\nClient timed out after 30000ms\n' }
    expect(reasonsOf(run, listed, { scenarioOutputs, output }, [])).toEqual([
      '1 clients failed, and 0 printed an error: Client timed out after 30000ms',
    ])
  })

  it('contain the exit code of the suite if each scenario passed', () => {
    const output = { ...collected.output, text: 'it broke', code: 1 }
    expect(reasonsOf(run, listed, { scenarioOutputs, output }, good.verdicts)).toEqual([
      'the suite ended with code 1: it broke',
    ])
    expect(reasonsOf(run, listed, { scenarioOutputs, output }, [failing('a', 'x')])).toEqual([])
  })
})

describe('the revision of a run', () => {
  const output = { text: '', stalled: 0, code: 0, messageRevisions: ['2025-06-18'], headerRevisions: ['2025-06-18'] }
  const outputOf = (scenario: string, messageRevisions: string[], headerRevisions = messageRevisions) => {
    return { scenario, checks: [], clientError: '', messageRevisions, headerRevisions }
  }
  const reasonsOf = (...args: Parameters<typeof revisionFaultsOf>) =>
    revisionFaultsOf(...args).flatMap(({ reasons }) => reasons)

  it('is the only revision in the messages of each client', () => {
    const scenarioOutputs = [
      outputOf('a', ['2025-06-18']),
      outputOf('b', ['2025-11-25']),
      outputOf('c', ['2025-06-18', '2025-11-25'], ['2025-06-18']),
      outputOf('d', []),
    ]
    expect(reasonsOf({ role: 'client', wire: '2025-06-18' }, { scenarioOutputs, output })).toEqual([
      'b: expected 2025-06-18, got 2025-11-25 in messages and 2025-11-25 in headers',
      'c: expected 2025-06-18, got 2025-06-18, 2025-11-25 in messages and 2025-06-18 in headers',
      'd: expected 2025-06-18, got nothing in messages and nothing in headers',
    ])
  })

  it('is the revision of the handshake and of each header after it', () => {
    const scenarioOutputs = [
      outputOf('a', ['2025-06-18'], ['none']),
      outputOf('b', ['2025-06-18'], ['2025-06-18', 'none']),
      outputOf('c', ['2025-06-18'], []),
      outputOf('d', [], ['2025-06-18']),
    ]
    const reasons = reasonsOf({ role: 'client', wire: '2025-06-18' }, { scenarioOutputs, output })
    expect(reasons.map((reason) => reason[0])).toEqual(['a', 'b', 'c', 'd'])
    expect(reasons[1]).toBe('b: expected 2025-06-18, got 2025-06-18 in messages and 2025-06-18, none in headers')
  })

  it('needs no header in revisions without one', () => {
    const scenarioOutputs = [
      outputOf('a', ['2025-03-26'], ['none']),
      outputOf('b', ['2025-03-26']),
      outputOf('c', ['2025-03-26'], []),
    ]
    expect(reasonsOf({ role: 'client', wire: '2025-03-26' }, { scenarioOutputs, output })).toEqual([])
  })

  it('is in the header of all messages of a client, also in runs with several revisions', () => {
    const scenarioOutputs = [
      outputOf('a', ['2025-11-25', '2025-06-18']),
      outputOf('b', ['2025-11-25'], ['2025-11-25', 'none']),
    ]
    expect(reasonsOf({ role: 'client' }, { scenarioOutputs, output })).toEqual([
      'b: a message after the handshake has no revision header',
    ])
    const old = [outputOf('a', ['2025-03-26'], ['none']), outputOf('b', [], [])]
    expect(reasonsOf({ role: 'client' }, { scenarioOutputs: old, output })).toEqual([])
  })

  it('is the only revision in the messages of the suite', () => {
    expect(reasonsOf({ role: 'server', wire: '2025-06-18' }, { scenarioOutputs: [], output })).toEqual([])
    expect(reasonsOf({ role: 'server', wire: '2025-03-26' }, { scenarioOutputs: [], output })).toEqual([
      'the suite: expected 2025-03-26, got 2025-06-18 in messages and 2025-06-18 in headers',
    ])
  })

  it('is checked only in runs with one revision', () => {
    expect(revisionFaultsOf({ role: 'server' }, { scenarioOutputs: [], output })).toEqual([])
    const wires = runs.filter(({ wire }) => wire !== undefined)
    expect(wires.map(({ role, wire }) => `${role}-${wire}-wire`)).toEqual(wires.map(({ name }) => name))
    expect(wires).toHaveLength(4)
  })
})

describe('a mutant', () => {
  const mutant = { name: 'lies', scenario: 'a', check: 'truth', also: ['trust'] }

  it('passes if exactly the expected checks fail', () => {
    expect(verdictOn(mutant, [failing('a', 'truth', 'trust')]).outcome).toBe('passed')
  })

  it.each([
    ['nothing fails', [failing('a')]],
    ['only another check fails', [failing('a', 'trust')]],
    ['an unexpected check fails too', [failing('a', 'truth', 'trust', 'else')]],
    ['another scenario fails', [failing('b', 'truth', 'trust')]],
    ['nothing ran', []],
  ])('fails if %s', (_, verdicts) => {
    expect(verdictOn(mutant, verdicts).outcome).toBe('failed')
  })

  it('has a control in which no check may fail', () => {
    const control = { name: 'is unmodified', scenario: 'a' }
    expect(verdictOn(control, [failing('a')]).outcome).toBe('passed')
    expect(verdictOn(control, [failing('a', 'truth')]).outcome).toBe('failed')
    expect(verdictOn(control, []).outcome).toBe('failed')
  })

  it('is retried only if the suite stalled, and lists the retry', async () => {
    const control = { name: 'is unmodified', scenario: 'a' }
    const late = { verdicts: [failing('a', ACK)], stalled: 900 }
    const verdict = await evaluateWithRetries(control, inTurn(late, { verdicts: [failing('a')], stalled: 0 }))
    expect(verdict).toMatchObject({ outcome: 'passed', reasons: [expect.stringMatching(/^tried again: .* 900 ms$/)] })
    const other = { verdicts: [failing('a', 'truth')], stalled: 60_000 }
    expect((await evaluateWithRetries(control, inTurn(other))).outcome).toBe('failed')
    expect((await evaluateWithRetries(control, inTurn(late, late, late))).outcome).toBe('failed')
  })

  it('exists for five checks', () => {
    expect(mutants.map(({ check }) => check)).toHaveLength(5)
  })
})

describe('the scenarios that need a missing package', () => {
  it('have complete and unique names', () => {
    const names = notYet.flatMap(({ scenarios }) => scenarios)
    expect(names.filter((name) => name.endsWith('-'))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })
})
