/** Takes the schema of a tool or prompt: what it shows to clients, and how it checks values. */

import { type AnySchema, type Awaitable, type JsonObject, quoted, type StandardSchema } from '@mcpx/protocol'
import type { Checked, RawCheck, RawSchemaOptions } from './compiled-schema.ts'
import { withObjectRoot } from './object-root.ts'
import { RegistrationError } from './registration-error.ts'
import { convertSchema, copyJson, reasonOf } from './schema-conversion.ts'
import { isObject, placesIn } from './subschemas.ts'

export interface PreparedSchema {
  /** As clients see it. */
  readonly json: JsonObject
  /** The value as the schema gives it, or what is wrong with it. */
  readonly check: (value: unknown) => Awaitable<Checked>
}

/** What is done with the schemas of all that a registry holds. */
export interface SchemaOptions extends Pick<RawSchemaOptions, 'validator' | 'onError'> {
  readonly warn: (message: string) => void
  /** Makes the check of a plain JSON Schema. */
  readonly checkRaw: RawCheck
}

export interface SchemaUse extends SchemaOptions, RawSchemaOptions {
  /** What is shown: what goes in, or what comes out. */
  readonly side: 'input' | 'output'
}

/** The dialect that is meant when none is named. */
const DEFAULT_DIALECT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/

const REMEDY = 'put the properties into one object, as z.object({ … }) does'

/** Throws a `RegistrationError` for a schema that does not show, in JSON Schema, what it takes. */
export function prepareSchema(schema: AnySchema, use: SchemaUse): PreparedSchema {
  const shown = showSchema(schema, use)
  // What a library adds is left out where it says nothing; what an author wrote is shown as it is.
  if (isStandard(schema) && typeof shown.$schema === 'string' && DEFAULT_DIALECT.test(shown.$schema)) {
    delete shown.$schema
  }
  if (Object.keys(shown).every((keyword) => keyword === '$schema'))
    throw new RegistrationError(`${use.where}: the schema is empty, it says nothing`)
  warnOfEmpty(shown, use.where, use.warn)
  return isStandard(schema)
    ? { json: shown, check: schema['~standard'].validate }
    : { json: shown, check: use.checkRaw(shown, use) }
}

/** The same for a schema that has to describe an object. */
export function prepareObjectSchema(schema: AnySchema, use: SchemaUse): PreparedSchema {
  const { json, check } = prepareSchema(schema, use)
  const rooted = withObjectRoot(json)
  if (rooted !== undefined) return { json: rooted, check }
  const found = typeof json.type === 'string' ? `it is of type "${json.type}"` : 'it may be something else'
  throw new RegistrationError(`${use.where}: must be an object, but ${found}; put it into a property of an object`)
}

/**
 * Checks JSON against what is shown of a schema of a library, whose own check takes what is not JSON yet. It is made when
 * it is needed. Of a plain JSON Schema the check of `prepareSchema` is that already: there is none here.
 */
export function createShownCheck(
  schema: AnySchema,
  json: JsonObject,
  use: SchemaUse,
): PreparedSchema['check'] | undefined {
  if (!isStandard(schema)) return undefined
  let check: PreparedSchema['check'] | undefined
  return (value) => {
    check ??= use.checkRaw(json, use)
    return check(value)
  }
}

function showSchema(schema: AnySchema, { side, where }: SchemaUse): JsonObject {
  if (isStandard(schema)) return convertSchema(schema, side, where)
  if (!isObject(schema)) throw new RegistrationError(`${where}: expected a schema, got ${typeof schema}`)
  const stray = Object.keys(schema).find((key) => isStandard((schema as JsonObject)[key] as AnySchema))
  if (stray !== undefined) throw new RegistrationError(`${where}: ${quoted(stray)} is a schema of its own; ${REMEDY}`)
  try {
    return copyJson(schema)
  } catch (cause) {
    throw new RegistrationError(`${where}: ${reasonOf(cause)}`, { cause })
  }
}

function isStandard(schema: AnySchema): schema is StandardSchema {
  const isHolder = typeof schema === 'function' || (typeof schema === 'object' && schema !== null)
  return isHolder && '~standard' in schema && isObject(schema['~standard'])
}

/** Nothing is looked for in the places of a schema that its text does not have. */
function warnOfEmpty(root: JsonObject, where: string, warn: (message: string) => void): void {
  if (!JSON.stringify(root).includes('{}')) return
  for (const { schema, path, key } of placesIn(root, where)) {
    if (key.startsWith('properties/') && isObject(schema) && Object.keys(schema).length === 0) {
      warn(`${path}: clients are told nothing about it; give it a type or a description`)
    }
  }
}
