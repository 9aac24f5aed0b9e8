/** Turns a schema into the form that the evaluator reads, or refuses it. */

import type { JsonSchema } from '../ports/json-schema.ts'
import { dialectOf } from './dialects.ts'
import { isolateWithin } from './isolation.ts'
import type { JsonSchemaLimits } from './limits.ts'
import type { LoweredSchema, Role, Subschema } from './lowered-schema.ts'
import { Names } from './names.ts'
import { memberOf } from './places.ts'
import { type Reading, readSchema } from './reading.ts'
import { refuseRecursion } from './recursion.ts'
import { followReferences } from './references.ts'

export interface CompilationOptions {
  readonly limits: Readonly<JsonSchemaLimits>
  readonly assertFormats: boolean
  readonly assertPatterns: boolean
}

/** A schema that is ready to be checked against. */
export interface CompiledForm {
  readonly root: Subschema
  /** What `$ref` leads to. */
  readonly lookup: Readonly<Record<string, Subschema>>
  readonly roles: ReadonlyMap<LoweredSchema, Role>
  readonly limits: Readonly<JsonSchemaLimits>
  readonly meter: { left: number }
  /** The most `patternProperties` of any of its schemas, all of which are tried on every property. */
  readonly keyPatterns: number
}

/** What references in a document without an `$id` are relative to. No other document can have this URI. */
const noBase = 'json-schema:///'

export function compileSchema(schema: JsonSchema, options: CompilationOptions): CompiledForm {
  const reading: Reading = {
    ...options,
    dialect: dialectOf(memberOf(schema, '$schema'), '#'),
    meter: { left: 0 },
    roles: new Map(),
    schemas: new Map(),
    names: new Names(),
    references: [],
    isolated: new Map(),
    keyPatterns: 0,
  }
  const root = readSchema(schema, { place: '', base: noBase, around: [] }, reading)
  const lookup = followReferences(schema, reading)
  for (const one of reading.schemas.values()) if (one !== true) isolateWithin(one, reading)
  refuseRecursion(lookup, reading)
  return { root, lookup, ...reading }
}
