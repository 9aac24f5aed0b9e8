/** What should work in a revision and does not yet. Each entry is tried: once it works, the entry has to go. */

import { REVISIONS, type Revision, revisionsOf } from '@mcpx/protocol'

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
    behaviour: 'a proxy completes arguments',
    revisions: REVISIONS,
    cause: 'a proxy takes a server of 2024-11-05, which has no capability for completion, to have no completion',
  },
  {
    behaviour: 'a question that passes through a proxy is no fault',
    revisions: revisionsOf('modern'),
    cause: 'what ends the run of a handler is reported by the client behind it',
  },
  {
    behaviour: 'each caller of a proxy of a legacy server is asked what its own call needs',
    revisions: REVISIONS,
    cause:
      'a pipe does not say which call a question belongs to, and the call that began last is asked, whoever made it',
  },
  {
    behaviour: 'each caller of a proxy hears the logs of its own call',
    revisions: REVISIONS,
    cause:
      'a pipe does not say which call a log message belongs to, and the call that began last hears it, whoever made it',
  },
  {
    behaviour: 'a client in front of a proxy is told what it would have to declare',
    revisions: REVISIONS,
    cause: 'a proxy gives up the call behind it when the client cannot be asked, and tells of that instead of why',
  },
  {
    behaviour: 'completion knows what is filled in already',
    revisions: ['2024-11-05', '2025-03-26'],
    cause: 'the client sends parameters that an older revision does not have',
  },
  {
    behaviour: 'state that nobody sealed, and answers that nobody asked for, do not reach a handler',
    revisions: revisionsOf('legacy'),
    cause: 'the legacy wire takes requestState and inputResponses from the client as they come',
  },
  {
    behaviour: 'a proxy keeps the answers to its own questions from the server behind it',
    revisions: revisionsOf('modern'),
    cause: 'a proxy passes on all answers that came, also those to its own questions',
  },
]
