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
    behaviour: 'the user is told why a form comes again',
    revisions: ['2026-07-28'],
    cause: 'the modern asker drops what is wrong with an answer',
  },
  {
    behaviour: 'subscribing to a resource that is not there has the code of its era',
    revisions: revisionsOf('legacy'),
    cause: 'only reading translates the code of a missing resource',
  },
  {
    behaviour: 'updates of what a caller may not see are not told to them',
    revisions: revisionsOf('modern'),
    cause: 'a listen stream follows URIs without asking the handler whether the caller may subscribe',
  },
  {
    behaviour: 'the handler is told who subscribes to what, and when they leave',
    revisions: revisionsOf('modern'),
    cause: 'a listen stream follows URIs without telling the handler',
  },
  {
    behaviour: 'updates of resources pass through a proxy',
    revisions: revisionsOf('modern'),
    cause: 'a listen stream follows URIs without telling the handler, so that a proxy does not subscribe',
  },
  {
    behaviour: 'a proxy completes arguments',
    revisions: REVISIONS,
    cause: 'a proxy takes a server of 2024-11-05, which has no capability for completion, to have no completion',
  },
  {
    behaviour: 'a resource that the server behind a proxy does not have has the code of the era in front',
    revisions: revisionsOf('modern'),
    cause: 'the legacy code of a missing resource passes through to a modern client',
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
    behaviour: 'a list that loses an item while it is read keeps all others',
    revisions: REVISIONS,
    cause: 'a cursor whose item is gone goes on one item behind where that one stood',
  },
  {
    behaviour: 'two approvals in a row are asked for one by one',
    revisions: REVISIONS.filter((revision) => revision >= '2025-06-18'),
    cause: 'questions of a mounted server share their keys with those of the outer one, and so their answers',
  },
  {
    behaviour: 'a client in front of a proxy is told what it would have to declare',
    revisions: REVISIONS,
    cause: 'a proxy gives up the call behind it when the client cannot be asked, and tells of that instead of why',
  },
]
