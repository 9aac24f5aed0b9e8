/** What does not exist in a revision, why, and what is seen instead. Each entry is tried too, on every carrier. */

import type { Revision } from '@mcpx/protocol'
import { type Missing, notAsked } from './missing.ts'

export interface Skip extends Missing {
  readonly revisions: readonly Revision[]
  readonly behaviours: readonly string[]
}

const BEFORE_JUNE = ['2024-11-05', '2025-03-26'] as const
const BEFORE_NOVEMBER = [...BEFORE_JUNE, '2025-06-18'] as const
const LEGACY = [...BEFORE_NOVEMBER, '2025-11-25'] as const
const MODERN = ['2026-07-28'] as const

/** The question is asked while the call waits, of a client that here has no answer; or not at all, if it cannot be asked. */
const NEVER_UNFINISHED =
  /^(?:RpcError -32601: Method not found: "elicitation\/create"|Error: The tool failed: The client cannot be asked\. The client must declare: elicitation\.form)$/

export const skips: readonly Skip[] = [
  {
    revisions: BEFORE_JUNE,
    reason: 'outputSchema and structuredContent came with 2025-06-18',
    seen: /^AssertionError: outputSchema: expected undefined to match object /,
    behaviours: ['a tool with an output schema gives structured content that fits it'],
  },
  {
    revisions: BEFORE_JUNE,
    reason: 'structuredContent came with 2025-06-18',
    seen: /^AssertionError: structuredContent: expected undefined to deeply equal \{ sum: 3 \}$/,
    behaviours: ['a whole result carries structured content without an output schema'],
  },
  {
    revisions: LEGACY,
    reason: 'structuredContent was an object before 2026-07-28',
    seen: /^AssertionError: expected \[ \[ 'list', undefined \], .*, \[ 'nothing', undefined \] \] to deeply equal \[ \[ 'list', 'array' \], /,
    behaviours: ['structured content is any JSON value'],
  },
  {
    revisions: BEFORE_JUNE,
    reason: 'the context of a completion came with 2025-06-18',
    seen: /^AssertionError: expected \[ '\?\/a' \] to deeply equal \[ '7\/a' \]$/,
    behaviours: ['completion knows what is filled in already'],
  },
  {
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
    seen: notAsked('elicitation.form'),
    behaviours: [
      'a form is filled in, and its values fit the schema',
      'a form has fields of every shape',
      'defaults of the form stand for what was left out',
      'a form can be declined and cancelled',
      'values that a schema of the server refuses are asked for again',
      'a step runs once, however often the call comes back with questions',
      'prompts and resources ask as tools do',
      'a user who takes their time is not timed out by the limit of an answer',
      'a question that the user does not answer any more ends with the call',
      'the user is told why a form comes again',
      'a call that needs approval runs after a yes, and not after a no',
      'the audit says that a call came back with questions',
      'the audit tells a call that was declined from one that failed',
      'the time of the user does not count as the time of the handler',
      'questions pass through a proxy',
      'questions pass through two proxies in a row',
      'two approvals in a row are asked for one by one',
    ],
  },
  {
    revisions: BEFORE_JUNE,
    reason: 'these fields came with 2025-11-25, and forms with 2025-06-18',
    seen: notAsked('elicitation.form'),
    behaviours: ['a form has choices with titles, choices of several values, and presets'],
  },
  {
    revisions: ['2025-06-18'],
    reason: 'these fields came with 2025-11-25',
    seen: /^AssertionError: expected \{ titled: 'b', .* \} to deeply equal \{ titled: 'b', .*, preset: 'p' \}$/,
    behaviours: ['a form has choices with titles, choices of several values, and presets'],
  },
  {
    revisions: BEFORE_NOVEMBER,
    reason: 'elicitation by URL came with 2025-11-25',
    seen: notAsked('elicitation.url'),
    behaviours: ['the user is sent to a URL'],
  },
  {
    revisions: BEFORE_NOVEMBER,
    reason: 'tools in sampling came with 2025-11-25',
    seen: notAsked('sampling.tools'),
    behaviours: ['a model of the client is given tools, and uses one'],
  },
  {
    revisions: MODERN,
    reason: 'ping went with the handshake',
    seen: /^ConnectionError unsupported: Revision 2026-07-28 has no ping$/,
    behaviours: ['the server can be pinged, also while it is busy, and not when it is gone'],
  },
  {
    revisions: MODERN,
    reason: 'a stream of changes confirms what it follows, and has no error for one of several URIs',
    seen: /^AssertionError: the refusal: expected ConnectionError: The server does not tell of updates of note:\/\/nope \{/,
    behaviours: ['subscribing to a resource that is not there has the code of its era'],
  },
  {
    revisions: LEGACY,
    reason: 'calls that come back unfinished came with 2026-07-28',
    seen: NEVER_UNFINISHED,
    behaviours: [
      'unfinished calls can be carried on by hand, over any connection of the caller',
      'state is refused from another caller, for another call, altered, old, or from another server',
      'servers that share a secret carry on the calls of each other, until the state is too old',
    ],
  },
]

export function skipOf(behaviour: string, revision: Revision): Skip | undefined {
  return skips.find((entry) => entry.behaviours.includes(behaviour) && entry.revisions.includes(revision))
}
