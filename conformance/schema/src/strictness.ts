/** The values that we reject although the official schema accepts them, with reasons. One shape serves all revisions, so
 * newer members are also checked in older revisions, where they are unknown. Only cases that the samples reach are listed.
 */
import type { Revision } from '@mcpx/protocol'
import type { JsonSchema } from './official.ts'
import type { Edit } from './official-validator.ts'

export interface Strictness {
  readonly title: string
  readonly reason: string
  readonly revisions: readonly Revision[]
  readonly edit: Edit
}

export const strictnesses: readonly Strictness[] = [
  {
    title: 'the default of a form field in revisions without defaults',
    reason: 'Older peers are not expected to use a newer member with another meaning.',
    revisions: ['2025-06-18'],
    edit: (definitions) => {
      for (const [name, type] of [
        ['StringSchema', 'string'],
        ['NumberSchema', 'number'],
        ['EnumSchema', 'string'],
      ] as const) {
        const schema = definitions[name] as JsonSchema
        schema.properties = { ...schema.properties, default: { type } }
      }
    },
  },
]
