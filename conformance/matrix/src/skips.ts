/** What does not exist in a revision, and why. Each entry is tried too: what it names has to fail there. */

import type { Revision } from '@mcpx/protocol'

export interface Skip {
  readonly behaviour: string
  readonly revisions: readonly Revision[]
  readonly reason: string
}

const BEFORE_JUNE = ['2024-11-05', '2025-03-26'] as const
const BEFORE_NOVEMBER = [...BEFORE_JUNE, '2025-06-18'] as const
const LEGACY = [...BEFORE_NOVEMBER, '2025-11-25'] as const
const MODERN = ['2026-07-28'] as const

export const skips: readonly Skip[] = [
  {
    behaviour: 'a tool with an output schema gives structured content that fits it',
    revisions: BEFORE_JUNE,
    reason: 'outputSchema and structuredContent came with 2025-06-18',
  },
  {
    behaviour: 'a whole result carries structured content without an output schema',
    revisions: BEFORE_JUNE,
    reason: 'structuredContent came with 2025-06-18',
  },
  {
    behaviour: 'structured content is any JSON value',
    revisions: LEGACY,
    reason: 'structuredContent was an object before 2026-07-28',
  },
  {
    behaviour: 'completion knows what is filled in already',
    revisions: BEFORE_JUNE,
    reason: 'the context of a completion came with 2025-06-18',
  },
  {
    behaviour: 'a form is filled in, and its values fit the schema',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'a form has fields of every shape',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'defaults of the form stand for what was left out',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'a form can be declined and cancelled',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'values that a schema of the server refuses are asked for again',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'a step runs once, however often the call comes back with questions',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'prompts and resources ask as tools do',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'a user who takes their time is not timed out by the limit of an answer',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'a question that the user does not answer any more ends with the call',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'the user is told why a form comes again',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'a form has choices with titles, choices of several values, and presets',
    revisions: BEFORE_NOVEMBER,
    reason: 'these fields came with 2025-11-25',
  },
  {
    behaviour: 'the user is sent to a URL',
    revisions: BEFORE_NOVEMBER,
    reason: 'elicitation by URL came with 2025-11-25',
  },
  {
    behaviour: 'a model of the client is given tools, and uses one',
    revisions: BEFORE_NOVEMBER,
    reason: 'tools in sampling came with 2025-11-25',
  },
  {
    behaviour: 'the server can be pinged',
    revisions: MODERN,
    reason: 'ping went with the handshake',
  },
  {
    behaviour: 'a call that needs approval runs after a yes, and not after a no',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'the audit says that a call came back with questions',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'the audit tells a call that was declined from one that failed',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'the time of the user does not count as the time of the handler',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'questions pass through a proxy',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'questions pass through two proxies in a row',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
  {
    behaviour: 'subscribing to a resource that is not there has the code of its era',
    revisions: MODERN,
    reason: 'a stream of changes confirms what it follows, and has no error for one of several URIs',
  },
  {
    behaviour: 'unfinished calls can be carried on by hand, over any connection of the caller',
    revisions: LEGACY,
    reason: 'calls that come back unfinished came with 2026-07-28',
  },
  {
    behaviour: 'state is refused from another caller, for another call, altered, old, or from another server',
    revisions: LEGACY,
    reason: 'calls that come back unfinished came with 2026-07-28',
  },
  {
    behaviour: 'servers that share a secret carry on the calls of each other, until the state is too old',
    revisions: LEGACY,
    reason: 'calls that come back unfinished came with 2026-07-28',
  },
  {
    behaviour: 'two approvals in a row are asked for one by one',
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
  },
]
