/** Leniency for the JSON-RPC members of messages and for cancellations. */
import { allowAlso, combineEdits, makeOptional, replaceSchema } from './edits.ts'
import { type Leniency, MODERN, WITHOUT_ENVELOPE } from './leniency-entry.ts'
import type { JsonSchema } from './official.ts'
import type { Edit } from './official-validator.ts'

const someObject: JsonSchema = { type: 'object' }

export const cancellationLeniencies: readonly Leniency[] = [
  {
    title: 'a cancellation that names no request',
    reason: 'A notification has no response, so a useless cancellation is ignored.',
    revisions: WITHOUT_ENVELOPE,
    seenIn: ['CancelledNotification'],
    edit: makeOptional('CancelledNotification > params > requestId', 'CancelledNotification > params'),
  },
  {
    title: 'a cancellation that names no request',
    reason: 'A notification has no response, so a useless cancellation is ignored.',
    revisions: ['2025-11-25'],
    seenIn: ['CancelledNotification'],
    edit: makeOptional('CancelledNotification > params'),
  },
  {
    title: 'a cancellation that names no request',
    reason: 'A notification has no response, so a useless cancellation is ignored.',
    revisions: MODERN,
    seenIn: ['CancelledNotificationParams', 'CancelledNotification', 'ClientNotification'],
    edit: combineEdits(
      makeOptional('CancelledNotificationParams > requestId', 'CancelledNotification > params'),
      (definitions) => {
        definitions.ClientNotification = { $ref: '#/$defs/CancelledNotification' }
      },
    ),
  },
]

export const envelopeLeniencies: readonly Leniency[] = [
  {
    title: 'any metadata in the codec',
    reason:
      'The codec checks only the JSON-RPC members; parameters and results are checked by the shapes of the method.',
    revisions: WITHOUT_ENVELOPE,
    seenIn: ['JSONRPCRequest', 'JSONRPCNotification', 'JSONRPCResponse', 'Request', 'Notification'],
    edit: combineEdits(
      ...['JSONRPCRequest', 'JSONRPCNotification', 'Request', 'Notification'].map((name) =>
        replaceSchema(`${name} > params`, someObject),
      ),
      replaceSchema('JSONRPCResponse > result', someObject),
    ),
  },
  {
    title: 'any metadata in the codec',
    reason:
      'The codec checks only the JSON-RPC members; parameters and results are checked by the shapes of the method.',
    revisions: ['2025-11-25', '2026-07-28'],
    seenIn: ['JSONRPCResultResponse'],
    edit: replaceSchema('JSONRPCResultResponse > result', someObject),
  },
  {
    title: 'an error without id, or with the id null',
    reason: 'JSON-RPC uses null if the id could not be read, and newer revisions omit it: both count as no id.',
    revisions: WITHOUT_ENVELOPE,
    seenIn: ['JSONRPCError'],
    edit: combineEdits(makeOptional('JSONRPCError > id'), allowAlso('JSONRPCError > id', { type: 'null' })),
  },
  {
    title: 'an error with the id null',
    reason: 'JSON-RPC uses null if the id could not be read: it counts as no id.',
    revisions: ['2025-11-25'],
    seenIn: ['JSONRPCErrorResponse'],
    edit: nullId('JSONRPCErrorResponse', 'URLElicitationRequiredError'),
  },
  {
    title: 'an error with the id null',
    reason: 'JSON-RPC uses null if the id could not be read: it counts as no id.',
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
  return combineEdits(...names.map((name) => allowAlso(`${name} > id`, { type: 'null' })))
}
