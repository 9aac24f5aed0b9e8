import { REVISIONS } from '@mcpx/protocol'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { behaviours } from './behaviours.ts'
import { knownBugs } from './known-bugs.ts'
import { type Carrier, withRig } from './rig.ts'
import { skips } from './skips.ts'
import { prepareToJudge } from './wire-judge.ts'

// Longer than the limits of the clients, so that theirs are what is seen.
vi.setConfig({ testTimeout: 15_000, maxConcurrency: 10 })

beforeAll(prepareToJudge)

const carriers: readonly Carrier[] = ['objects', 'text']
const names = Object.keys(behaviours)

interface Entry {
  readonly behaviour: string
  readonly revisions: readonly string[]
}

function entryFor<E extends Entry>(table: readonly E[], behaviour: string, revision: string): E | undefined {
  return table.find((entry) => entry.behaviour === behaviour && entry.revisions.includes(revision))
}

describe.each(REVISIONS)('in %s', (revision) => {
  for (const [name, run] of Object.entries(behaviours)) {
    const skip = entryFor(skips, name, revision)
    const bug = entryFor(knownBugs, name, revision)
    if (skip === undefined && bug === undefined) {
      it.concurrent.each(carriers)(`${name} (%s)`, (carrier) => withRig(revision, carrier, run))
      continue
    }
    const title = skip === undefined ? `not yet: ${name} (${bug?.cause})` : `there is not: ${name} (${skip.reason})`
    it.concurrent(title, async () => {
      const works = await withRig(revision, 'text', run).then(
        () => true,
        () => false,
      )
      expect(works, 'it works: take its entry out of skips.ts or known-bugs.ts').toBe(false)
    })
  }
})

describe.each([
  ['skips.ts', skips, skips.map(({ reason }) => reason)],
  ['known-bugs.ts', knownBugs, knownBugs.map(({ cause }) => cause)],
] as const)('the table in %s', (_, table: readonly Entry[], reasons) => {
  it('names behaviours that exist, and says why', () => {
    expect(table.filter(({ behaviour }) => !names.includes(behaviour))).toEqual([])
    for (const reason of reasons) expect(reason).toMatch(/\S/)
  })

  it('names each pair of behaviour and revision once, and no entry for nothing', () => {
    const pairs = table.flatMap(({ behaviour, revisions }) => revisions.map((revision) => `${behaviour}: ${revision}`))
    expect(pairs.filter((pair, index) => pairs.indexOf(pair) !== index)).toEqual([])
    for (const { revisions } of table) expect(revisions.length).toBeGreaterThan(0)
  })
})

describe('what is left out', () => {
  it('leaves no behaviour that exists nowhere', () => {
    expect(names.filter((name) => REVISIONS.every((revision) => entryFor(skips, name, revision)))).toEqual([])
  })
})
