/** What the official schema files get wrong, or cannot say: schema.ts of the specification, and JSON-RPC, come first. */
import type { Revision } from '../../../packages/protocol/src/methods.ts'
import { replaced } from './edits.ts'
import type { Edit } from './judge.ts'
import type { JsonSchema } from './official.ts'

export interface Erratum {
  readonly why: string
  readonly revisions: readonly Revision[]
  readonly edit: Edit
}

const formValue: JsonSchema = { type: ['string', 'number', 'boolean'] }
const formValues: JsonSchema = { anyOf: [{ items: { type: 'string' }, type: 'array' }, formValue] }

export const errata: readonly Erratum[] = [
  {
    why: 'schema.ts: the values of a form are of type number; the file has made it integer',
    revisions: ['2025-06-18'],
    edit: replaced('ElicitResult > content > {}', formValue),
  },
  {
    why: 'schema.ts: the values of a form are of type number; the file has made it integer',
    revisions: ['2025-11-25', '2026-07-28'],
    edit: replaced('ElicitResult > content > {}', formValues),
  },
  {
    why: 'schema.ts: a JSONValue may be any number, and null',
    revisions: ['2026-07-28'],
    edit: replaced('JSONValue', {}),
  },
  {
    why: 'An InputRequiredResult says so in its resultType; the file allows any string there',
    revisions: ['2026-07-28'],
    edit: replaced('InputRequiredResult > resultType', { type: 'string', const: 'input_required' }),
  },
  {
    why: 'JSON-RPC: a notification has no id; what has one is a request, and must have a right one',
    revisions: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
    edit: (definitions) => {
      const notification = definitions.JSONRPCNotification as JsonSchema
      notification.properties = { ...notification.properties, id: { not: {} } }
    },
  },
  {
    why: 'JSON-RPC: an array of messages is not empty',
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
