/** Runs every behaviour in every revision over some of the transports. */

import { REVISIONS, type Revision } from '@mcpx/protocol'
import { beforeAll, chai, describe, it, vi } from 'vitest'
import type { Behaviour } from './behaviour.ts'
import { behaviours } from './behaviours.ts'
import { gapOf } from './gaps.ts'
import { compileSchemas } from './message-validator.ts'
import { withRig } from './rig.ts'
import { skipOf } from './skips.ts'
import { supports, type TransportName } from './transports.ts'
import { expectUnsupported } from './unsupported.ts'

/** The time limit for events that are expected not to occur, in milliseconds. */
const SHORT_TIMEOUT = 300

function testOne(name: string, revision: Revision, transport: TransportName): void {
  const run = behaviours[name] as Behaviour
  const unsupported = gapOf(name, transport) ?? skipOf(name, revision)
  if (unsupported === undefined) it.concurrent(`${name} (${transport})`, () => withRig(revision, transport, run))
  else {
    it.concurrent(`unsupported: ${name} (${transport}: ${unsupported.reason})`, () =>
      expectUnsupported(() => withRig(revision, transport, run, SHORT_TIMEOUT), unsupported))
  }
}

/** Loads lazy modules before the tests, so that their time does not count. Failures are ignored here. */
async function warmUp(transports: readonly TransportName[]): Promise<void> {
  const some = [
    'invalid arguments return an error result that names the place',
    'progress is not sent unless the client requests it',
    'a handler requests the roots of the client',
  ]
  for (const transport of transports) {
    for (const revision of REVISIONS.filter((each) => supports(transport, each))) {
      for (const name of some) {
        await withRig(revision, transport, behaviours[name] as Behaviour, SHORT_TIMEOUT).catch(() => {})
      }
    }
  }
}

export function testMatrix(...transports: readonly TransportName[]): void {
  // Longer than the timeouts of the clients, so that the clients fail first.
  vi.setConfig({ testTimeout: 15_000, maxConcurrency: 10 })
  // Expected failures are compared with the whole message.
  chai.config.truncateThreshold = 0
  // Servers log intended errors and disconnected clients by default.
  beforeAll(() => void vi.spyOn(console, 'error').mockReturnValue())
  if (transports.includes('text')) beforeAll(compileSchemas, 60_000)
  beforeAll(() => warmUp(transports), 60_000)
  const transportsIn = (revision: Revision) => transports.filter((each) => supports(each, revision))
  describe.each(REVISIONS.filter((each) => transportsIn(each).length > 0))('in %s', (revision) => {
    for (const transport of transportsIn(revision)) {
      for (const name of Object.keys(behaviours)) testOne(name, revision, transport)
    }
  })
}
