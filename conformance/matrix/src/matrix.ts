/** Tries every behaviour in every revision, over some of the carriers. */

import { REVISIONS, type Revision } from '@mcpx/protocol'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Behaviour } from './behaviour.ts'
import { behaviours } from './behaviours.ts'
import { type Carrier, exists } from './carriers.ts'
import { type Gap, gaps } from './gaps.ts'
import { withRig } from './rig.ts'
import { type Skip, skips } from './skips.ts'
import { prepareToJudge } from './wire-judge.ts'

/** How long what is not there may take to show it, in ms; then it has not worked. */
const PATIENCE = 500

export function skipOf(behaviour: string, revision: Revision): Skip | undefined {
  return skips.find((entry) => entry.behaviour === behaviour && entry.revisions.includes(revision))
}

function gapOf(behaviour: string, carrier: Carrier): Gap | undefined {
  return gaps.find((entry) => entry.behaviours.includes(behaviour) && entry.carriers.includes(carrier))
}

/** What does not exist is tried too: where it works, its entry is stale. */
function tryMissing(behaviour: string, reason: string, revision: Revision, carrier: Carrier): void {
  it.concurrent(`there is not: ${behaviour} (${carrier}: ${reason})`, async () => {
    const works = await withRig(revision, carrier, behaviours[behaviour] as Behaviour, PATIENCE).then(
      () => true,
      () => false,
    )
    expect(works, 'it works: take its entry out of skips.ts or gaps.ts').toBe(false)
  })
}

export function tryOver(...carriers: readonly Carrier[]): void {
  // Longer than the limits of the clients, so that theirs are what is seen.
  vi.setConfig({ testTimeout: 15_000, maxConcurrency: 10 })
  // Servers tell of faults that are meant here, and of clients that were gone; behaviours that want to hear it do.
  beforeAll(() => void vi.spyOn(console, 'error').mockReturnValue())
  if (carriers.includes('text')) beforeAll(prepareToJudge)
  const carriersIn = (revision: Revision) => carriers.filter((each) => exists(each, revision))
  describe.each(REVISIONS.filter((each) => carriersIn(each).length > 0))('in %s', (revision) => {
    for (const carrier of carriersIn(revision)) {
      for (const [name, run] of Object.entries(behaviours)) {
        const skip = skipOf(name, revision)
        const reason = skip?.reason ?? gapOf(name, carrier)?.reason
        if (reason === undefined) it.concurrent(`${name} (${carrier})`, () => withRig(revision, carrier, run))
        // What a revision does not have, it has on no carrier: one is enough to see that.
        else if (skip === undefined || carrier === 'text') tryMissing(name, reason, revision, carrier)
      }
    }
  })
}
