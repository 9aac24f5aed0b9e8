/** Behaviours that a transport does not support, with the reason and the expected failure. Each entry is also run. */

import type { TransportName } from './transports.ts'
import { cannotBeAsked, type Unsupported } from './unsupported.ts'

export interface Gap extends Unsupported {
  readonly transports: readonly TransportName[]
  readonly behaviours: readonly string[]
}

const STATELESS = ['HTTP without sessions'] as const

const NO_INPUT_REQUESTS = 'without a session the answer to an input request cannot be matched to the request'
const NO_STREAM = 'without a session there is no stream for notifications, so the server declares none'
const NO_HANDSHAKE_DATA = 'without a session the data of the handshake is not kept'

export const gaps: readonly Gap[] = [
  {
    transports: ['HTTP', 'HTTP without sessions'],
    reason: 'HTTP answers with a status and a challenge instead; conformance/auth tests them',
    failure:
      /^AssertionError: the error: expected ConnectionError: tools\/call "admin" was refused with HTTP status 403: The caller needs the scopes "read", "admin" /,
    behaviours: ['a caller without the required scopes gets an error that names them'],
  },
  {
    transports: STATELESS,
    reason: NO_HANDSHAKE_DATA,
    failure: /^AssertionError: clients: expected \[ undefined, undefined, undefined \] to deeply equal /,
    behaviours: ['each request adds an audit entry'],
  },
  {
    transports: STATELESS,
    reason: NO_HANDSHAKE_DATA,
    failure: /^AssertionError: expected \[ \{ level: 'info', .* 'done' \] to deeply equal \[ \{ level: 'warning', /,
    behaviours: ['log messages at or above the requested level arrive before the result'],
  },
  {
    transports: STATELESS,
    reason: NO_HANDSHAKE_DATA,
    failure: /^AssertionError: expected \[ 'e', 'e' \] to deeply equal \[ 'e', 'd', 'e' \]$/,
    behaviours: ['the log level can be changed, and a call can have its own onLog'],
  },
  {
    transports: STATELESS,
    reason: 'without a session a cancellation cannot be matched to its request',
    failure: /^Error: Timed out waiting for the abort signal of the tool$/,
    behaviours: [
      'a cancelled call stops on both sides, and the connection stays usable',
      'cancelling one of several calls does not affect the others',
      'a call that times out is cancelled on the server',
      'closing the client ends its calls on both sides',
    ],
  },
  {
    transports: STATELESS,
    reason: 'without a session a cancellation cannot be matched to its request',
    failure:
      /^Error: With an upstream of [-\d]{10}: Timed out waiting for the abort signal of the tool behind the proxy$/,
    behaviours: ['cancelling a call stops it on the server behind a proxy'],
  },
  {
    transports: STATELESS,
    reason: NO_STREAM,
    failure: /^Error: Timed out waiting for change 1 of 1$/,
    behaviours: ['a client reads a list again after its change'],
  },
  {
    transports: STATELESS,
    reason: NO_STREAM,
    failure: /^ConnectionError unsupported: The server announces none of the requested changes$/,
    behaviours: [
      'a client receives updates of a resource until it unsubscribes',
      'listening clients receive list changes',
      'a client receives only the changes that it listens for',
      'the server does not send updates of resources without subscription',
      'no change is lost when many arrive at once',
      'each of two clients receives the changes of its own subscriptions',
      'changes of a mounted server are changes of the outer server',
      'a subscription survives a cut, and its targets count as changed',
      'the server removes the change listener of a closed client',
      'the handler is called for each subscription and its end',
    ],
  },
  {
    transports: STATELESS,
    reason: NO_STREAM,
    failure:
      /^AssertionError: (?:the error: )?expected ConnectionError: The server announces none of the requested changes \{/,
    behaviours: [
      'a caller receives no updates of invisible resources',
      'subscribing to a missing resource fails with the code of the era',
    ],
  },
  {
    transports: STATELESS,
    reason: NO_STREAM,
    failure: /^Error: With an upstream of [-\d]{10}: Timed out waiting for change 1 of 1$/,
    behaviours: ['list changes pass through a proxy'],
  },
  {
    transports: STATELESS,
    reason: NO_STREAM,
    failure: /^Error: With an upstream of [-\d]{10}: The server announces none of the requested changes$/,
    behaviours: ['updates of resources pass through a proxy'],
  },
  {
    transports: STATELESS,
    reason: NO_INPUT_REQUESTS,
    failure: cannotBeAsked('roots'),
    behaviours: [
      'a handler requests the roots of the client',
      'a call option answers the input requests of the call',
      'each key is requested once per call',
      'a hundred concurrent callers receive only their own messages',
      'two chained proxies of different eras work like one',
      'the server behind a proxy receives the roots of the client',
      'a proxy does not forward the answers to its own input requests',
      'an input request that passes through a proxy causes no warning',
      'each client of a shared proxy of a modern server receives the input requests of its own calls',
      'each client of a shared proxy of a legacy server receives the input requests of its own calls',
      'a hand-written handler returns input requests and receives its own state',
      'a call that returns input requests without end fails',
      'a failing callback of the client fails the call without sending its message',
      'a mounted server sends input requests, completes arguments and links its resources',
      'connectAll combines several servers',
    ],
  },
  {
    transports: STATELESS,
    reason: NO_INPUT_REQUESTS,
    failure: cannotBeAsked('sampling'),
    behaviours: ['a handler requests a completion of the client’s model'],
  },
  {
    transports: STATELESS,
    reason: NO_INPUT_REQUESTS,
    failure: cannotBeAsked('sampling.tools'),
    behaviours: ['a sampling request offers tools, and the model uses one'],
  },
  {
    transports: STATELESS,
    reason: NO_INPUT_REQUESTS,
    failure: cannotBeAsked('elicitation.url'),
    behaviours: ['a handler sends the user to a URL'],
  },
  {
    transports: STATELESS,
    reason: NO_INPUT_REQUESTS,
    failure: cannotBeAsked('roots, sampling, elicitation.form'),
    behaviours: ['several input requests are sent at once, without those that the client does not support'],
  },
  {
    transports: STATELESS,
    reason: NO_INPUT_REQUESTS,
    failure: cannotBeAsked('elicitation.form'),
    behaviours: [
      'a form returns values that match its schema',
      'a form has fields of every type',
      'a form has titled enums, multiple-choice enums, and defaults',
      'defaults of a form replace omitted values',
      'a form can be declined and cancelled',
      'values that the schema rejects are requested again',
      'a repeated form says why the values were rejected',
      'a step runs once, although the call returns input requests several times',
      'prompts and resources can send input requests',
      'the timeout of a call does not include the time of the user',
      'cancelling a call cancels its input request',
      'the timeout of a handler does not include the time of the user',
      'a call that needs approval runs only if the user accepts',
      'two nested approvals are requested one after the other',
      'the audit entry of a call that needs input says so',
      'the audit distinguishes declined calls from failed ones',
      'input requests pass through a proxy',
      'input requests pass through two chained proxies',
    ],
  },
]

export function gapOf(behaviour: string, transport: TransportName): Gap | undefined {
  return gaps.find((entry) => entry.behaviours.includes(behaviour) && entry.transports.includes(transport))
}
