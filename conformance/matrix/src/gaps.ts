/** What a carrier cannot do, why, and what is seen instead. Each entry is tried too. */

import type { Carrier } from './carriers.ts'
import { type Missing, notAsked } from './missing.ts'

export interface Gap extends Missing {
  readonly carriers: readonly Carrier[]
  readonly behaviours: readonly string[]
}

const STATELESS = ['HTTP without sessions'] as const

const UNASKED = 'an answer would come as a request of its own, and nothing tells what it is an answer to'
const NO_STREAM = 'there is no stream for what the server says unasked, and it offers nothing of it'
const FORGOTTEN = 'what a client said of itself is forgotten with its handshake'

export const gaps: readonly Gap[] = [
  {
    carriers: ['HTTP', 'HTTP without sessions'],
    reason: 'a status and a challenge say so, by which clients log in; conformance/auth shows them',
    seen: /^AssertionError: the refusal: expected ConnectionError: tools\/call was refused with HTTP status 403: The caller needs the scopes "read", "admin" /,
    behaviours: ['a caller who lacks scopes is told which are needed'],
  },
  {
    carriers: STATELESS,
    reason: FORGOTTEN,
    seen: /^AssertionError: clients: expected \[ undefined, undefined, undefined \] to deeply equal /,
    behaviours: ['every request leaves an entry in the audit'],
  },
  {
    carriers: STATELESS,
    reason: FORGOTTEN,
    seen: /^AssertionError: expected \[ \{ level: 'info', .* 'done' \] to deeply equal \[ \{ level: 'warning', /,
    behaviours: ['log messages come from the level on that was asked for, before the result'],
  },
  {
    carriers: STATELESS,
    reason: FORGOTTEN,
    seen: /^AssertionError: expected \[ 'e', 'e' \] to deeply equal \[ 'e', 'd', 'e' \]$/,
    behaviours: ['the level can be changed, and a call can have its own hearer'],
  },
  {
    carriers: STATELESS,
    reason: 'nothing tells whose request a cancellation names, and a stream that ends is none',
    seen: /^Error: It has not come: that the tool is told to stop$/,
    behaviours: [
      'a cancelled call stops on both sides, and the connection goes on',
      'one of several calls is cancelled, and the others go on',
      'a call that takes too long is given up, and the server is told',
      'closing the client ends its calls on both sides',
    ],
  },
  {
    carriers: STATELESS,
    reason: 'nothing tells whose request a cancellation names, and a stream that ends is none',
    seen: /^Error: With an upstream of [-\d]{10}: It has not come: that the tool behind the proxy is told to stop$/,
    behaviours: ['cancelling reaches the server behind a proxy'],
  },
  {
    carriers: STATELESS,
    reason: NO_STREAM,
    seen: /^Error: It has not come: change 1 of 1$/,
    behaviours: ['a client that hears of changes reads lists anew'],
  },
  {
    carriers: STATELESS,
    reason: NO_STREAM,
    seen: /^ConnectionError unsupported: The server tells of no change that was asked for$/,
    behaviours: [
      'updates of a resource come from subscribing until unsubscribing',
      'lists that change are told of to who listens',
      'only what was asked for is told',
      'what is not followed, or not any more, is not even sent',
      'many changes at once are told of without being lost',
      'two clients hear each of what they asked for',
      'changes of a mounted server are changes of the whole',
      'who listens goes on after the cut, and what is watched counts as changed',
      'who has gone is not listened for any more',
      'the handler is told who subscribes to what, and when they leave',
    ],
  },
  {
    carriers: STATELESS,
    reason: NO_STREAM,
    seen: /^AssertionError: (?:the refusal: )?expected ConnectionError: The server tells of no change that was asked for \{/,
    behaviours: [
      'updates of what a caller may not see are not told to them',
      'subscribing to a resource that is not there has the code of its era',
    ],
  },
  {
    carriers: STATELESS,
    reason: NO_STREAM,
    seen: /^Error: With an upstream of [-\d]{10}: It has not come: change 1 of 1$/,
    behaviours: ['list changes pass through a proxy'],
  },
  {
    carriers: STATELESS,
    reason: NO_STREAM,
    seen: /^Error: With an upstream of [-\d]{10}: The server tells of no change that was asked for$/,
    behaviours: ['updates of resources pass through a proxy'],
  },
  {
    carriers: STATELESS,
    reason: UNASKED,
    seen: notAsked('roots'),
    behaviours: [
      'the folders of the client are known to the server',
      'a call answers what is asked during it',
      'each key is asked once in a call, and again in the next',
      'a hundred callers at once see nothing of each other',
      'two proxies in a row, one of each era, are as one',
      'the folders of the client in front are known behind a proxy',
      'a proxy keeps the answers to its own questions from the server behind it',
      'a question that passes through a proxy is no fault',
      'each caller of a proxy of a modern server is asked what its own call needs',
      'each caller of a proxy of a legacy server is asked what its own call needs',
      'a handler written by hand asks by its result, and gets its own state back',
      'a call that never stops asking is stopped',
      'a callback of the client that fails ends the call, and its words stay here',
      'a mounted server asks, completes and points at its resources',
      'several servers are one for a client',
    ],
  },
  {
    carriers: STATELESS,
    reason: UNASKED,
    seen: notAsked('sampling'),
    behaviours: ['a model of the client writes'],
  },
  {
    carriers: STATELESS,
    reason: UNASKED,
    seen: notAsked('sampling.tools'),
    behaviours: ['a model of the client is given tools, and uses one'],
  },
  {
    carriers: STATELESS,
    reason: UNASKED,
    seen: notAsked('elicitation.url'),
    behaviours: ['the user is sent to a URL'],
  },
  {
    carriers: STATELESS,
    reason: UNASKED,
    seen: notAsked('roots, sampling, elicitation.form'),
    behaviours: ['several things are asked at once, and what was not declared is left out'],
  },
  {
    carriers: STATELESS,
    reason: UNASKED,
    seen: notAsked('elicitation.form'),
    behaviours: [
      'a form is filled in, and its values fit the schema',
      'a form has fields of every shape',
      'a form has choices with titles, choices of several values, and presets',
      'defaults of the form stand for what was left out',
      'a form can be declined and cancelled',
      'values that a schema of the server refuses are asked for again',
      'the user is told why a form comes again',
      'a step runs once, however often the call comes back with questions',
      'prompts and resources ask as tools do',
      'a user who takes their time is not timed out by the limit of an answer',
      'a question that the user does not answer any more ends with the call',
      'the time of the user does not count as the time of the handler',
      'a call that needs approval runs after a yes, and not after a no',
      'two approvals in a row are asked for one by one',
      'the audit says that a call came back with questions',
      'the audit tells a call that was declined from one that failed',
      'questions pass through a proxy',
      'questions pass through two proxies in a row',
    ],
  },
]

export function gapOf(behaviour: string, carrier: Carrier): Gap | undefined {
  return gaps.find((entry) => entry.behaviours.includes(behaviour) && entry.carriers.includes(carrier))
}
