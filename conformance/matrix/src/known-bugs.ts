/** What should work in a revision and does not yet. Each entry is tried: once it works, the entry has to go. */

import type { Revision } from '@mcpx/protocol'

export interface KnownBug {
  readonly behaviour: string
  readonly revisions: readonly Revision[]
  /** Where it goes wrong. */
  readonly cause: string
}

export const knownBugs: readonly KnownBug[] = [
  {
    behaviour: 'a user who takes their time is not timed out by the limit of an answer',
    revisions: ['2025-06-18', '2025-11-25'],
    cause: 'the time that the client takes to answer a legacy server counts against the timeout of its own call',
  },
  {
    behaviour: 'the user is told why a form comes again',
    revisions: ['2026-07-28'],
    cause: 'the modern asker drops what is wrong with an answer',
  },
]
