/** What we are lenient about in the frames of messages, and in cancellations. */
import { absent, all, orElse, replaced } from './edits.ts'
import type { Edit } from './judge.ts'
import { FRAMELESS, type Leniency, MODERN } from './leniency-entry.ts'
import type { JsonSchema } from './official.ts'

const someObject: JsonSchema = { type: 'object' }

export const aboutCancellations: readonly Leniency[] = [
  {
    what: 'a cancellation that names no request',
    why: 'A cancellation that says nothing of use is ignored; there is nobody to answer that it was wrong.',
    revisions: FRAMELESS,
    seenIn: ['CancelledNotification'],
    edit: absent('CancelledNotification > params > requestId', 'CancelledNotification > params'),
  },
  {
    what: 'a cancellation that names no request',
    why: 'A cancellation that says nothing of use is ignored; there is nobody to answer that it was wrong.',
    revisions: ['2025-11-25'],
    seenIn: ['CancelledNotification'],
    edit: absent('CancelledNotification > params'),
  },
  {
    what: 'a cancellation that names no request',
    why: 'A cancellation that says nothing of use is ignored; there is nobody to answer that it was wrong.',
    revisions: MODERN,
    seenIn: ['CancelledNotificationParams', 'CancelledNotification', 'ClientNotification'],
    edit: all(absent('CancelledNotificationParams > requestId', 'CancelledNotification > params'), (definitions) => {
      definitions.ClientNotification = { $ref: '#/$defs/CancelledNotification' }
    }),
  },
]

export const aboutFrames: readonly Leniency[] = [
  {
    what: 'metadata of any kind, as far as the codec is concerned',
    why: 'The codec checks the frame of a message only; parameters and results are checked by what the method says.',
    revisions: FRAMELESS,
    seenIn: ['JSONRPCRequest', 'JSONRPCNotification', 'JSONRPCResponse', 'Request', 'Notification'],
    edit: all(
      ...['JSONRPCRequest', 'JSONRPCNotification', 'Request', 'Notification'].map((name) =>
        replaced(`${name} > params`, someObject),
      ),
      replaced('JSONRPCResponse > result', someObject),
    ),
  },
  {
    what: 'metadata of any kind, as far as the codec is concerned',
    why: 'The codec checks the frame of a message only; parameters and results are checked by what the method says.',
    revisions: ['2025-11-25', '2026-07-28'],
    seenIn: ['JSONRPCResultResponse'],
    edit: replaced('JSONRPCResultResponse > result', someObject),
  },
  {
    what: 'an error without the id of a request, or with null for one',
    why: 'JSON-RPC has null where an id could not be read, and newer revisions leave it out: both are taken for no id.',
    revisions: FRAMELESS,
    seenIn: ['JSONRPCError'],
    edit: all(absent('JSONRPCError > id'), orElse('JSONRPCError > id', { type: 'null' })),
  },
  {
    what: 'an error with null for an id',
    why: 'JSON-RPC has null where an id could not be read: it is taken for no id.',
    revisions: ['2025-11-25'],
    seenIn: ['JSONRPCErrorResponse'],
    edit: nullId('JSONRPCErrorResponse', 'URLElicitationRequiredError'),
  },
  {
    what: 'an error with null for an id',
    why: 'JSON-RPC has null where an id could not be read: it is taken for no id.',
    revisions: MODERN,
    seenIn: ['JSONRPCErrorResponse'],
    edit: nullId(
      'JSONRPCErrorResponse',
      'HeaderMismatchError',
      'MissingRequiredClientCapabilityError',
      'UnsupportedProtocolVersionError',
    ),
  },
]

function nullId(...names: string[]): Edit {
  return all(...names.map((name) => orElse(`${name} > id`, { type: 'null' })))
}
