import { REVISIONS, type Revision } from '@mcpx/protocol'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { behaviours } from './behaviours.ts'
import { type Carrier, withRig } from './rig.ts'
import { type Skip, skips } from './skips.ts'
import { prepareToJudge } from './wire-judge.ts'

// Longer than the limits of the clients, so that theirs are what is seen.
vi.setConfig({ testTimeout: 15_000, maxConcurrency: 10 })

beforeAll(prepareToJudge)

const carriers: readonly Carrier[] = ['objects', 'text']
const names = Object.keys(behaviours)

function skipOf(behaviour: string, revision: Revision): Skip | undefined {
  return skips.find((entry) => entry.behaviour === behaviour && entry.revisions.includes(revision))
}

describe.each(REVISIONS)('in %s', (revision) => {
  for (const [name, run] of Object.entries(behaviours)) {
    const skip = skipOf(name, revision)
    if (skip === undefined) {
      it.concurrent.each(carriers)(`${name} (%s)`, (carrier) => withRig(revision, carrier, run))
      continue
    }
    it.concurrent(`there is not: ${name} (${skip.reason})`, async () => {
      const works = await withRig(revision, 'text', run).then(
        () => true,
        () => false,
      )
      expect(works, 'it works: take its entry out of skips.ts').toBe(false)
    })
  }
})

describe('the table in skips.ts', () => {
  it('names behaviours that exist, and says why', () => {
    expect(skips.filter(({ behaviour }) => !names.includes(behaviour))).toEqual([])
    for (const { reason } of skips) expect(reason).toMatch(/\S/)
  })

  it('names each pair of behaviour and revision once, and no entry for nothing', () => {
    const pairs = skips.flatMap(({ behaviour, revisions }) => revisions.map((revision) => `${behaviour}: ${revision}`))
    expect(pairs.filter((pair, index) => pairs.indexOf(pair) !== index)).toEqual([])
    for (const { revisions } of skips) expect(revisions.length).toBeGreaterThan(0)
  })
})

describe('what is left out', () => {
  it('leaves no behaviour that exists nowhere', () => {
    expect(names.filter((name) => REVISIONS.every((revision) => skipOf(name, revision)))).toEqual([])
  })
})
