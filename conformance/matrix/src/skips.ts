/**
 * Behaviours that a revision does not support, with the reason and the expected failure. Each entry is also run, over
 * every transport.
 */

import type { Revision } from '@mcpx/protocol'
import { cannotBeAsked, type Unsupported } from './unsupported.ts'

export interface Skip extends Unsupported {
  readonly revisions: readonly Revision[]
  readonly behaviours: readonly string[]
}

const BEFORE_JUNE = ['2024-11-05', '2025-03-26'] as const
const BEFORE_NOVEMBER = [...BEFORE_JUNE, '2025-06-18'] as const
const LEGACY = [...BEFORE_NOVEMBER, '2025-11-25'] as const
const MODERN = ['2026-07-28'] as const

/** Legacy servers send the input request during the call, to a client that does not answer it or does not support it. */
const NO_UNFINISHED_CALLS =
  /^(?:RpcError -32601: Method not found: "elicitation\/create"|Error: The tool failed: The client cannot be asked\. The client must declare: elicitation\.form)$/

export const skips: readonly Skip[] = [
  {
    revisions: BEFORE_JUNE,
    reason: 'outputSchema and structuredContent came with 2025-06-18',
    failure: /^AssertionError: outputSchema: expected undefined to match object /,
    behaviours: ['a tool with an output schema returns structured content that matches it'],
  },
  {
    revisions: BEFORE_JUNE,
    reason: 'structuredContent came with 2025-06-18',
    failure: /^AssertionError: structuredContent: expected undefined to deeply equal \{ sum: 3 \}$/,
    behaviours: ['a complete result may have structured content without an output schema'],
  },
  {
    revisions: LEGACY,
    reason: 'structuredContent was an object before 2026-07-28',
    failure:
      /^AssertionError: expected \[ \[ 'list', undefined \], .*, \[ 'nothing', undefined \] \] to deeply equal \[ \[ 'list', 'array' \], /,
    behaviours: ['structured content is any JSON value'],
  },
  {
    revisions: BEFORE_JUNE,
    reason: 'the context of a completion came with 2025-06-18',
    failure: /^AssertionError: expected \[ '\?\/a' \] to deeply equal \[ '7\/a' \]$/,
    behaviours: ['a completion receives the other arguments'],
  },
  {
    revisions: BEFORE_JUNE,
    reason: 'elicitation came with 2025-06-18',
    failure: cannotBeAsked('elicitation.form'),
    behaviours: [
      'a form returns values that match its schema',
      'a form has fields of every type',
      'defaults of a form replace omitted values',
      'a form can be declined and cancelled',
      'values that the schema rejects are requested again',
      'a step runs once, although the call returns input requests several times',
      'prompts and resources can send input requests',
      'the timeout of a call does not include the time of the user',
      'cancelling a call cancels its input request',
      'a repeated form says why the values were rejected',
      'a call that needs approval runs only if the user accepts',
      'the audit entry of a call that needs input says so',
      'the audit distinguishes declined calls from failed ones',
      'the timeout of a handler does not include the time of the user',
      'input requests pass through a proxy',
      'input requests pass through two chained proxies',
      'two nested approvals are requested one after the other',
    ],
  },
  {
    revisions: BEFORE_JUNE,
    reason: 'these fields came with 2025-11-25, and forms with 2025-06-18',
    failure: cannotBeAsked('elicitation.form'),
    behaviours: ['a form has titled enums, multiple-choice enums, and defaults'],
  },
  {
    revisions: ['2025-06-18'],
    reason: 'these fields came with 2025-11-25',
    failure: /^AssertionError: expected \{ titled: 'b', .* \} to deeply equal \{ titled: 'b', .*, preset: 'p' \}$/,
    behaviours: ['a form has titled enums, multiple-choice enums, and defaults'],
  },
  {
    revisions: BEFORE_NOVEMBER,
    reason: 'elicitation by URL came with 2025-11-25',
    failure: cannotBeAsked('elicitation.url'),
    behaviours: ['a handler sends the user to a URL'],
  },
  {
    revisions: BEFORE_NOVEMBER,
    reason: 'tools in sampling came with 2025-11-25',
    failure: cannotBeAsked('sampling.tools'),
    behaviours: ['a sampling request offers tools, and the model uses one'],
  },
  {
    revisions: MODERN,
    reason: 'ping was removed together with the handshake',
    failure: /^ConnectionError unsupported: Revision 2026-07-28 has no ping$/,
    behaviours: ['the server answers pings until the client is closed'],
  },
  {
    revisions: MODERN,
    reason: 'a modern subscription has no error for a single URI',
    failure:
      /^AssertionError: the error: expected ConnectionError: The server does not announce updates of note:\/\/nope \{/,
    behaviours: ['subscribing to a missing resource fails with the code of the era'],
  },
  {
    revisions: LEGACY,
    reason: 'unfinished calls came with 2026-07-28',
    failure: NO_UNFINISHED_CALLS,
    behaviours: [
      'an unfinished call can be continued on any connection of the caller',
      'request state is rejected from another caller, for another call, altered, or from another server',
      'servers that share a secret continue each other’s calls until the state expires',
    ],
  },
]

export function skipOf(behaviour: string, revision: Revision): Skip | undefined {
  return skips.find((entry) => entry.behaviours.includes(behaviour) && entry.revisions.includes(revision))
}
