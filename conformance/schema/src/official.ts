/** The official JSON Schemas and examples in `official/`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REVISIONS, type Revision } from '../../../packages/protocol/src/methods.ts'

/** The part of JSON Schema that the official files use. */
export interface JsonSchema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: JsonSchema[]
  allOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema
  maxItems?: number
  minItems?: number
  minimum?: number
  maximum?: number
  format?: string
  not?: JsonSchema
}

export type Definitions = Record<string, JsonSchema>

export interface OfficialSchema {
  readonly revision: Revision
  /** The definitions: `$defs`, or `definitions` in the older dialect. */
  readonly keyword: '$defs' | 'definitions'
  readonly definitions: Definitions
}

const folder = join(import.meta.dirname, '../official')

function load(revision: Revision): OfficialSchema {
  const schema = JSON.parse(readFileSync(join(folder, revision, 'schema.json'), 'utf8'))
  const keyword = '$defs' in schema ? '$defs' : 'definitions'
  return { revision, keyword, definitions: schema[keyword] }
}

/** Oldest first. */
export const officialSchemas: readonly OfficialSchema[] = REVISIONS.map(load)

/** Returns the definition of a reference. */
export function resolveReference(definitions: Definitions, ref: string): JsonSchema {
  const definition = definitions[ref.split('/').at(-1) ?? '']
  if (definition === undefined) throw new Error(`There is no definition ${ref}`)
  return definition
}

export interface Example {
  readonly definition: string
  readonly file: string
  readonly value: unknown
}

/** Reads the examples; the folder of an example is the name of its definition. */
export function readExamples(revision: Revision): Example[] {
  const examples = join(folder, revision, 'examples')
  return readdirSync(examples).flatMap((definition) =>
    readdirSync(join(examples, definition)).map((file) => ({
      definition,
      file,
      value: JSON.parse(readFileSync(join(examples, definition, file), 'utf8')),
    })),
  )
}
