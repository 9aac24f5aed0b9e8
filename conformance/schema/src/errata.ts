/** Errors and omissions of the official schema files, where schema.ts of the specification or JSON-RPC says otherwise. */
import type { Revision } from '../../../packages/protocol/src/methods.ts'
import { replaceSchema } from './edits.ts'
import type { JsonSchema } from './official.ts'
import type { Edit } from './official-validator.ts'

export interface Erratum {
  readonly reason: string
  readonly revisions: readonly Revision[]
  readonly edit: Edit
}

const formValue: JsonSchema = { type: ['string', 'number', 'boolean'] }
const formValues: JsonSchema = { anyOf: [{ items: { type: 'string' }, type: 'array' }, formValue] }

export const errata: readonly Erratum[] = [
  {
    reason: 'schema.ts: form values have the type number; the file says integer',
    revisions: ['2025-06-18'],
    edit: replaceSchema('ElicitResult > content > {}', formValue),
  },
  {
    reason: 'schema.ts: form values have the type number; the file says integer',
    revisions: ['2025-11-25', '2026-07-28'],
    edit: replaceSchema('ElicitResult > content > {}', formValues),
  },
  {
    reason: 'schema.ts: a JSONValue may be any number, and null',
    revisions: ['2026-07-28'],
    edit: replaceSchema('JSONValue', {}),
  },
  {
    reason: 'the resultType of an InputRequiredResult is fixed; the file allows any string',
    revisions: ['2026-07-28'],
    edit: replaceSchema('InputRequiredResult > resultType', { type: 'string', const: 'input_required' }),
  },
  {
    reason: 'JSON-RPC: a notification has no id; a message with an id is a request',
    revisions: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
    edit: (definitions) => {
      const notification = definitions.JSONRPCNotification as JsonSchema
      notification.properties = { ...notification.properties, id: { not: {} } }
    },
  },
  {
    reason: 'JSON-RPC: an array of messages is not empty',
    revisions: ['2025-03-26'],
    edit: (definitions) => {
      const arrays = [
        definitions.JSONRPCBatchRequest,
        definitions.JSONRPCBatchResponse,
        ...(definitions.JSONRPCMessage?.anyOf ?? []).filter(({ type }) => type === 'array'),
      ]
      for (const array of arrays as JsonSchema[]) array.minItems = 1
    },
  },
]
