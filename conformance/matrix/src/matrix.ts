/** Tries every behaviour in every revision, over some of the carriers. */

import { REVISIONS, type Revision } from '@mcpx/protocol'
import { beforeAll, chai, describe, it, vi } from 'vitest'
import type { Behaviour } from './behaviour.ts'
import { behaviours } from './behaviours.ts'
import { type Carrier, exists } from './carriers.ts'
import { gapOf } from './gaps.ts'
import { tryMissing } from './missing.ts'
import { withRig } from './rig.ts'
import { skipOf } from './skips.ts'
import { prepareToJudge } from './wire-judge.ts'

/** How long what never comes is waited for, in ms: what comes at all comes in a few. */
const SHORT_PATIENCE = 300

function tryOne(name: string, revision: Revision, carrier: Carrier): void {
  const run = behaviours[name] as Behaviour
  const missing = gapOf(name, carrier) ?? skipOf(name, revision)
  if (missing === undefined) it.concurrent(`${name} (${carrier})`, () => withRig(revision, carrier, run))
  else {
    it.concurrent(`there is not: ${name} (${carrier}: ${missing.reason})`, () =>
      tryMissing(() => withRig(revision, carrier, run, SHORT_PATIENCE), missing))
  }
}

/** What is loaded when it is first needed takes time that is not the behaviour's. Whether it works is seen later. */
async function warmUp(carriers: readonly Carrier[]): Promise<void> {
  const some = [
    'bad arguments are a result that names the place',
    'progress that nobody asked for is not sent',
    'the folders of the client are known to the server',
  ]
  for (const carrier of carriers) {
    for (const revision of REVISIONS.filter((each) => exists(carrier, each))) {
      for (const name of some) {
        await withRig(revision, carrier, behaviours[name] as Behaviour, SHORT_PATIENCE).catch(() => {})
      }
    }
  }
}

export function tryOver(...carriers: readonly Carrier[]): void {
  // Longer than the limits of the clients, so that theirs are what is seen.
  vi.setConfig({ testTimeout: 15_000, maxConcurrency: 10 })
  // What is missing is known by what is seen instead, to the last word.
  chai.config.truncateThreshold = 0
  // Servers tell of faults that are meant here, and of clients that were gone; behaviours that want to hear it do.
  beforeAll(() => void vi.spyOn(console, 'error').mockReturnValue())
  if (carriers.includes('text')) beforeAll(prepareToJudge, 60_000)
  beforeAll(() => warmUp(carriers), 60_000)
  const carriersIn = (revision: Revision) => carriers.filter((each) => exists(each, revision))
  describe.each(REVISIONS.filter((each) => carriersIn(each).length > 0))('in %s', (revision) => {
    for (const carrier of carriersIn(revision)) {
      for (const name of Object.keys(behaviours)) tryOne(name, revision, carrier)
    }
  })
}
