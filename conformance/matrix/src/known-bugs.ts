/** What should work in a revision and does not yet. Each entry is tried: once it works, the entry has to go. */

import { REVISIONS, type Revision } from '@mcpx/protocol'

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
    behaviour: 'each caller of a proxy of a legacy server is asked what its own call needs',
    revisions: REVISIONS,
    cause:
      'a pipe does not say which call a question belongs to: while several run, none is asked, as it could be the wrong one',
  },
  {
    behaviour: 'each caller of a proxy hears the logs of its own call',
    revisions: REVISIONS,
    cause: 'a pipe does not say which call a log message belongs to: while several run, none of them hears it',
  },
]
