import { describe, expect, it } from 'vitest'
import { tryUntilJudged, verdictOn } from './break-server.ts'
import { excuses } from './excused.ts'
import { judge, type Verdict } from './judge.ts'
import { mutants } from './mutants.ts'
import { notYet } from './not-yet.ts'
import { type Attempt, excuseOfTheMachine, faultsOf, perform, scoreOf, wireFaultsOf } from './perform.ts'
import { type Run, runs } from './runs.ts'
import { suiteText } from './suite.ts'
import { timed } from './timed.ts'

const lists = { excuses: [], notYet: [] }
const ACK = 'sep-2575-server-sends-subscription-ack'

/** A scenario in which these checks fail, beside one that passes. */
function failing(scenario: string, ...checks: string[]): Verdict {
  const bad = checks.map((id) => ({ id, status: 'FAILURE' as const }))
  return judge({ scenario, checks: [{ id: 'good', status: 'SUCCESS' }, ...bad], complaint: '' }, lists)
}

const run: Run = { name: 'server-x', role: 'server', choice: [], list: [], scenarios: 2, scored: 2 }
const good: Attempt = { verdicts: [failing('a'), failing('b')], stalled: 0, scored: ['a', 'b'] }

/** Gives what each try comes to, and counts them. */
function attempts(...all: Attempt[]) {
  let tries = 0
  return { next: async () => all[tries++] ?? good, count: () => tries }
}

/** Gives one after the other. */
function inTurn<Value>(...all: Value[]): () => Promise<Value> {
  return async () => all.shift() ?? Promise.reject(new Error('It was tried once too often'))
}

describe('a run', () => {
  it('is made once when all is well, and says so', async () => {
    expect(await perform(run, attempts(good).next)).toMatchObject({
      tries: 1,
      again: [],
      scored: { needed: 2, passed: 2 },
    })
  })

  it('is made again when the suite stood still for longer than it waits, and what failed before is kept', async () => {
    const { verdicts, tries, again } = await perform(
      run,
      attempts({ ...good, verdicts: [failing('a', ACK)], stalled: 900 }).next,
    )
    expect([verdicts.map(({ outcome }) => outcome), tries]).toEqual([['passed', 'passed'], 2])
    expect(again).toEqual([`a: ${ACK}, while the suite stood still for 900 ms`])
  })

  it('fails at once for what no clock decides, however long the suite stood still', async () => {
    const all = attempts({ ...good, verdicts: [failing('a', ACK, 'other')], stalled: 60_000 })
    const { verdicts, tries } = await perform(run, all.next)
    expect([verdicts[0]?.outcome, tries, all.count()]).toEqual(['failed', 1, 1])
  })

  it('fails when it fails each time', async () => {
    const bad = { ...good, verdicts: [failing('a', ACK), failing('b')], stalled: 900 }
    const { verdicts, tries, again } = await perform(run, attempts(bad, bad, bad).next)
    expect([verdicts[0]?.outcome, tries, again?.length]).toEqual(['failed', 3, 2])
  })

  it('fails when a scored scenario did not pass, by number', async () => {
    const { verdicts, scored } = await perform({ ...run, scored: 3 }, attempts(good).next)
    expect(scored).toEqual({ needed: 3, passed: 2 })
    expect(verdicts.at(-1)?.reasons).toEqual(['2 of 2 scored scenarios passed, and there have to be 3'])
  })
})

describe('the excuse of a busy machine', () => {
  it('holds for checks whose time had come only', () => {
    const waits = timed[ACK] ?? 0
    expect(excuseOfTheMachine([failing('a', ACK)], waits - 1)).toBeUndefined()
    expect(excuseOfTheMachine([failing('a', ACK)], waits)).toHaveLength(1)
  })

  it('holds for no scenario that broke, nor when nothing failed', () => {
    const broke = judge({ scenario: 'a', checks: undefined, complaint: '' }, lists)
    expect(excuseOfTheMachine([failing('a', ACK), broke], 60_000)).toBeUndefined()
    expect(excuseOfTheMachine([failing('a')], 60_000)).toBeUndefined()
  })
})

describe('what the lists name', () => {
  const text = suiteText()

  it('are checks and scenarios that the suite has', () => {
    const checks = [...Object.keys(timed), ...mutants.map(({ check }) => check), ...excuses.map(({ check }) => check)]
    const scenarios = [...mutants, ...excuses].map(({ scenario }) => scenario)
    const names = [...checks, ...scenarios, ...notYet.flatMap(({ scenarios }) => scenarios)]
    expect(names.filter((name) => !text.includes(name))).toEqual([])
  })
})

describe('the score', () => {
  it('counts no scenario that waits for a package, and none twice', () => {
    const waiting: Verdict = { ...failing('b', 'x'), outcome: 'not yet' }
    expect(scoreOf([failing('a'), failing('a'), waiting], ['a', 'b'], 2).score).toEqual({ needed: 2, passed: 1 })
  })

  it('is asked of the runs that have one, as many as the suite has', () => {
    const scores = runs.flatMap(({ name, scored }) => (scored === undefined ? [] : [[name, scored]]))
    expect(Object.fromEntries(scores)).toEqual({
      'server-2025': 30,
      'server-2026': 37,
      'client-2025': 18,
      'client-2026': 32,
    })
  })
})

describe('the faults of a run as a whole', () => {
  const remains = ['a', 'b'].map((scenario) => ({ scenario, checks: [], complaint: '' }))
  const collected = { remains, output: { text: '', stalled: 0, code: 0, spoken: [], headers: [] } }
  const listed = { all: ['a', 'b'], scored: [] }
  const reasonsOf = (...args: Parameters<typeof faultsOf>) => faultsOf(...args).flatMap(({ reasons }) => reasons)

  it('are none when each scenario ran once', () => {
    expect(reasonsOf(run, listed, collected, [])).toEqual([])
  })

  it('are scenarios that did not run, ran twice, or are not known', () => {
    expect(reasonsOf(run, { ...listed, all: ['a', 'c'] }, collected, [])).toEqual(['did not run'])
    const twice = { ...collected, remains: [...remains, ...remains.slice(1)] }
    expect(reasonsOf(run, listed, twice, [])).toEqual(['3 scenarios ran, and 2 should have', 'a scenario ran twice'])
  })

  it('are clients that failed without a word', () => {
    const output = { ...collected.output, text: 'x\nClient timed out after 30000ms\n' }
    expect(reasonsOf(run, listed, { remains, output }, [])).toEqual([
      '1 clients failed, and 0 said why: Client timed out after 30000ms',
    ])
  })

  it('are a suite that failed where each scenario passed', () => {
    const output = { ...collected.output, text: 'it broke', code: 1 }
    expect(reasonsOf(run, listed, { remains, output }, good.verdicts)).toEqual([
      'the suite ended with code 1: it broke',
    ])
    expect(reasonsOf(run, listed, { remains, output }, [failing('a', 'x')])).toEqual([])
  })
})

describe('the revision of a run', () => {
  const output = { text: '', stalled: 0, code: 0, spoken: ['2025-06-18'], headers: ['2025-06-18'] }
  const played = (scenario: string, spoken: string[], headers = spoken) => {
    return { scenario, checks: [], complaint: '', spoken, headers }
  }
  const reasonsOf = (...args: Parameters<typeof wireFaultsOf>) =>
    wireFaultsOf(...args).flatMap(({ reasons }) => reasons)

  it('is the only one that each client names', () => {
    const remains = [
      played('a', ['2025-06-18']),
      played('b', ['2025-11-25']),
      played('c', ['2025-06-18', '2025-11-25'], ['2025-06-18']),
      played('d', []),
    ]
    expect(reasonsOf({ role: 'client', wire: '2025-06-18' }, { remains, output })).toEqual([
      'b: 2025-06-18 was to be spoken, and what was sent asks for 2025-11-25, and says 2025-11-25',
      'c: 2025-06-18 was to be spoken, and what was sent asks for 2025-06-18, 2025-11-25, and says 2025-06-18',
      'd: 2025-06-18 was to be spoken, and what was sent asks for nothing, and says nothing',
    ])
  })

  it('is what both the handshake and each header after it say', () => {
    const remains = [
      played('a', ['2025-06-18'], ['none']),
      played('b', ['2025-06-18'], ['2025-06-18', 'none']),
      played('c', ['2025-06-18'], []),
      played('d', [], ['2025-06-18']),
    ]
    const reasons = reasonsOf({ role: 'client', wire: '2025-06-18' }, { remains, output })
    expect(reasons.map((reason) => reason[0])).toEqual(['a', 'b', 'c', 'd'])
    expect(reasons[1]).toBe(
      'b: 2025-06-18 was to be spoken, and what was sent asks for 2025-06-18, and says 2025-06-18, none',
    )
  })

  it('may go without a header before there was one', () => {
    const remains = [
      played('a', ['2025-03-26'], ['none']),
      played('b', ['2025-03-26']),
      played('c', ['2025-03-26'], []),
    ]
    expect(reasonsOf({ role: 'client', wire: '2025-03-26' }, { remains, output })).toEqual([])
  })

  it('is in the header of all that a client sends where no one wire is asked for, too', () => {
    const remains = [played('a', ['2025-11-25', '2025-06-18']), played('b', ['2025-11-25'], ['2025-11-25', 'none'])]
    expect(reasonsOf({ role: 'client' }, { remains, output })).toEqual([
      'b: what was sent after the handshake has no header that says the revision',
    ])
    const old = [played('a', ['2025-03-26'], ['none']), played('b', [], [])]
    expect(reasonsOf({ role: 'client' }, { remains: old, output })).toEqual([])
  })

  it('is the only one that the suite names to a server', () => {
    expect(reasonsOf({ role: 'server', wire: '2025-06-18' }, { remains: [], output })).toEqual([])
    expect(reasonsOf({ role: 'server', wire: '2025-03-26' }, { remains: [], output })).toEqual([
      'the suite: 2025-03-26 was to be spoken, and what was sent asks for 2025-06-18, and says 2025-06-18',
    ])
  })

  it('is asked of the runs on one wire only, by their names', () => {
    expect(wireFaultsOf({ role: 'server' }, { remains: [], output })).toEqual([])
    const wires = runs.filter(({ wire }) => wire !== undefined)
    expect(wires.map(({ role, wire }) => `${role}-${wire}-wire`)).toEqual(wires.map(({ name }) => name))
    expect(wires).toHaveLength(4)
  })
})

describe('a server that is broken on purpose', () => {
  const mutant = { name: 'lies', scenario: 'a', check: 'truth', also: ['trust'] }

  it('is found out by the check that is meant for it, with what follows from it', () => {
    expect(verdictOn(mutant, [failing('a', 'truth', 'trust')]).outcome).toBe('passed')
  })

  it.each([
    ['nothing fails', [failing('a')]],
    ['only another check fails', [failing('a', 'trust')]],
    ['more fails than is meant to', [failing('a', 'truth', 'trust', 'else')]],
    ['another scenario fails', [failing('b', 'truth', 'trust')]],
    ['nothing ran', []],
  ])('is not found out when %s', (_, verdicts) => {
    expect(verdictOn(mutant, verdicts).outcome).toBe('failed')
  })

  it('goes with one that is whole, in which nothing may fail', () => {
    const control = { name: 'is whole', scenario: 'a' }
    expect(verdictOn(control, [failing('a')]).outcome).toBe('passed')
    expect(verdictOn(control, [failing('a', 'truth')]).outcome).toBe('failed')
    expect(verdictOn(control, []).outcome).toBe('failed')
  })

  it('is tried again where the suite stood still, which is shown, and not for anything else', async () => {
    const control = { name: 'is whole', scenario: 'a' }
    const late = { verdicts: [failing('a', ACK)], stalled: 900 }
    const verdict = await tryUntilJudged(control, inTurn(late, { verdicts: [failing('a')], stalled: 0 }))
    expect(verdict).toMatchObject({ outcome: 'passed', reasons: [expect.stringMatching(/^tried again: .* 900 ms$/)] })
    const other = { verdicts: [failing('a', 'truth')], stalled: 60_000 }
    expect((await tryUntilJudged(control, inTurn(other))).outcome).toBe('failed')
    expect((await tryUntilJudged(control, inTurn(late, late, late))).outcome).toBe('failed')
  })

  it('is one of five', () => {
    expect(mutants.map(({ check }) => check)).toHaveLength(5)
  })
})

describe('the scenarios that wait for a package', () => {
  it('have whole names, each once', () => {
    const names = notYet.flatMap(({ scenarios }) => scenarios)
    expect(names.filter((name) => name.endsWith('-'))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })
})
