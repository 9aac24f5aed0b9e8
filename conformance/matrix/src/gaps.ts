/** What a carrier cannot do, and why. Each entry is tried too: what it names has to fail there. */

import type { Carrier } from './carriers.ts'

export interface Gap {
  readonly carriers: readonly Carrier[]
  readonly reason: string
  readonly behaviours: readonly string[]
}

const WEB = ['HTTP', 'HTTP without sessions', 'HTTP+SSE'] as const
const STATELESS = ['HTTP without sessions'] as const

export const gaps: readonly Gap[] = [
  {
    carriers: WEB,
    reason: 'requests are not tied to a connection that could be cut; conformance/transports cuts streams and sessions',
    behaviours: [
      'the next call after the connection was cut is made over a new one',
      'calls that waited when the connection was cut are lost, not repeated',
      'who listens goes on over the new connection, and what is watched counts as changed',
    ],
  },
  {
    carriers: ['HTTP', 'HTTP without sessions'],
    reason: 'a status and a challenge say so, by which clients log in; conformance/auth shows them',
    behaviours: ['a caller who lacks scopes is told which are needed'],
  },
  {
    carriers: STATELESS,
    reason: 'what a client said of itself is forgotten with its handshake',
    behaviours: [
      'every request leaves an entry in the audit',
      'log messages come from the level on that was asked for, before the result',
      'the level can be changed, and a call can have its own hearer',
    ],
  },
  {
    carriers: STATELESS,
    reason: 'nothing tells whose request a cancellation names, and a stream that ends is none',
    behaviours: [
      'a cancelled call stops on both sides, and the connection goes on',
      'a call that takes too long is given up, and the server is told',
      'closing the client ends its calls on both sides',
      'cancelling reaches the server behind a proxy',
    ],
  },
  {
    carriers: STATELESS,
    reason: 'there is no stream for what the server says unasked',
    behaviours: [
      'updates of a resource come from subscribing until unsubscribing',
      'updates of what a caller may not see are not told to them',
      'lists that change are told of to who listens',
      'only what was asked for is told',
      'a client that hears of changes reads lists anew',
      'many changes at once are told of without being lost',
      'two clients hear each of what they asked for',
      'who has gone is not listened for any more',
      'list changes pass through a proxy',
      'updates of resources pass through a proxy',
      'changes of a mounted server are changes of the whole',
    ],
  },
  {
    carriers: STATELESS,
    reason: 'an answer would come as a request of its own, and nothing tells what it is an answer to',
    behaviours: [
      'a model of the client writes',
      'a model of the client is given tools, and uses one',
      'the folders of the client are known to the server',
      'several things are asked at once, and what was not declared is left out',
      'a call answers what is asked during it',
      'a form is filled in, and its values fit the schema',
      'a form has fields of every shape',
      'a form has choices with titles, choices of several values, and presets',
      'defaults of the form stand for what was left out',
      'a form can be declined and cancelled',
      'values that a schema of the server refuses are asked for again',
      'the user is told why a form comes again',
      'the user is sent to a URL',
      'a step runs once, however often the call comes back with questions',
      'prompts and resources ask as tools do',
      'a user who takes their time is not timed out by the limit of an answer',
      'a question that the user does not answer any more ends with the call',
      'the time of the user does not count as the time of the handler',
      'a call that needs approval runs after a yes, and not after a no',
      'two approvals in a row are asked for one by one',
      'the audit says that a call came back with questions',
      'the audit tells a call that was declined from one that failed',
      'a hundred callers at once see nothing of each other',
      'questions pass through a proxy',
      'questions pass through two proxies in a row',
      'two proxies in a row, one of each era, are as one',
      'the folders of the client in front are known behind a proxy',
      'each caller of a proxy of a modern server is asked what its own call needs',
      'each caller of a proxy of a legacy server is asked what its own call needs',
      'a handler written by hand asks by its result, and gets its own state back',
      'a call that never stops asking is stopped',
      'a mounted server asks, completes and points at its resources',
      'several servers are one for a client',
    ],
  },
]
