/**
 * Where we refuse what an official schema takes, and why. One shape serves all revisions, so a member that came later is
 * checked in older ones too, where it is an unknown name. Here is what of that the samples can reach.
 */
import type { Revision } from '@mcpx/protocol'
import type { Edit } from './judge.ts'
import type { JsonSchema } from './official.ts'

export interface Strictness {
  readonly what: string
  readonly why: string
  readonly revisions: readonly Revision[]
  readonly edit: Edit
}

export const strictnesses: readonly Strictness[] = [
  {
    what: 'the default of a form field, before fields had one',
    why: 'A member that came later is not expected to mean something else in what an older peer sends.',
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
