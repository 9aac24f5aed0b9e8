/** The one thing that a tool's schema must have beside being a JSON Schema: an object at its root. */

import type { JsonSchema } from '../ports/json-schema.ts'
import { JsonSchemaError } from './schema-error.ts'

/**
 * Throws a `JsonSchemaError` unless the schema says `type: "object"` at its root, which is what the input of a tool
 * has to say. Looks at nothing else, so it needs no validator.
 */
export function assertObjectRoot(schema: unknown): asserts schema is Exclude<JsonSchema, boolean> & { type: 'object' } {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw new JsonSchemaError('malformed', '#', 'must be an object with "type": "object"')
  }
  const type: unknown = Object.hasOwn(schema, 'type') ? (schema as { type?: unknown }).type : undefined
  if (type === 'object') return
  const hint = type === undefined ? 'is missing' : 'is another'
  throw new JsonSchemaError('malformed', '#/type', `must be "object", but ${hint}; wrap other values in a property`)
}
