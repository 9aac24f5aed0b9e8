/** Which dialects of JSON Schema are understood, and which keywords apply subschemas in each. */

import { excerpt, JsonSchemaError } from './schema-error.ts'

/** The dialects that `$schema` may name. Without `$schema` a schema is read as the first. */
export const SUPPORTED_DIALECTS = [
  'https://json-schema.org/draft/2020-12/schema',
  'http://json-schema.org/draft-07/schema#',
] as const

/** How the value of a keyword holds subschemas. */
export type Applicator = 'one' | 'many' | 'map' | 'one or many' | 'map or names'

export interface Dialect {
  readonly name: '2020-12' | 'draft-07'
  readonly applicators: Readonly<Record<string, Applicator>>
  /** Keywords of other dialects that this one ignores. */
  readonly foreign: ReadonlySet<string>
  /** The keywords that refer to other schemas. Those of other dialects are refused: to ignore one is to check too little. */
  readonly references: ReadonlySet<string>
}

const shared: Readonly<Record<string, Applicator>> = {
  $defs: 'map',
  definitions: 'map',
  allOf: 'many',
  anyOf: 'many',
  oneOf: 'many',
  not: 'one',
  if: 'one',
  // biome-ignore lint/suspicious/noThenProperty: the keyword is called so
  then: 'one',
  else: 'one',
  properties: 'map',
  patternProperties: 'map',
  additionalProperties: 'one',
  propertyNames: 'one',
  dependencies: 'map or names',
  contains: 'one',
}

const latest: Dialect = {
  name: '2020-12',
  applicators: {
    ...shared,
    dependentSchemas: 'map',
    prefixItems: 'many',
    items: 'one',
    unevaluatedItems: 'one',
    unevaluatedProperties: 'one',
  },
  foreign: new Set(['additionalItems']),
  references: new Set(['$ref', '$dynamicRef']),
}

const draft07: Dialect = {
  name: 'draft-07',
  applicators: { ...shared, items: 'one or many', additionalItems: 'one' },
  foreign: new Set([
    '$anchor',
    '$dynamicAnchor',
    'dependentRequired',
    'dependentSchemas',
    'minContains',
    'maxContains',
    'prefixItems',
    'unevaluatedItems',
    'unevaluatedProperties',
  ]),
  references: new Set(['$ref']),
}

/** The dialect that a schema says it is written in, or the one given when it says nothing. */
export function dialectOf($schema: unknown, path: string, otherwise: Dialect = latest): Dialect {
  if ($schema === undefined) return otherwise
  const text = typeof $schema === 'string' ? $schema.replace(/^http:/, 'https:').replace(/#$/, '') : undefined
  if (text === 'https://json-schema.org/draft/2020-12/schema') return latest
  if (text === 'https://json-schema.org/draft-07/schema') return draft07
  const shown = excerpt(JSON.stringify($schema) ?? 'undefined', 100)
  const supported = SUPPORTED_DIALECTS.join(' and ')
  throw new JsonSchemaError(
    'dialect',
    `${path}/$schema`,
    `the dialect ${shown} is not supported; supported are ${supported}`,
  )
}
