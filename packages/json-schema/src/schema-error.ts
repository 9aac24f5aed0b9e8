/** The error for invalid schemas, and the check of the root of a tool schema. */

import { hasMember, isObject, type JsonSchema } from './json.ts'
import { truncate } from './messages.ts'

/**
 * The reason why a schema was rejected.
 * - `malformed`: a keyword has a value that its dialect does not allow, or a schema object contains itself.
 * - `dialect`: `$schema` names a dialect that is not supported.
 * - `reference`: a reference points out of the schema, has no target, or has several targets.
 * - `recursion`: a subschema applies itself to the same value again, so that a check would never end.
 * - `limit`: the schema exceeds a limit of the validator.
 */
export type JsonSchemaErrorReason = 'malformed' | 'dialect' | 'reference' | 'recursion' | 'limit'

/** A JSON Schema that cannot be compiled. */
export class JsonSchemaError extends Error {
  override readonly name = 'JsonSchemaError'
  /** The reason why the schema was rejected. */
  readonly reason: JsonSchemaErrorReason
  /** The place of the problem in the schema: a JSON pointer as a URI fragment, such as `#/properties/id/type`. */
  readonly path: string

  constructor(reason: JsonSchemaErrorReason, path: string, problem: string) {
    super(`JSON Schema, at ${truncate(path, 200)}: ${problem}`)
    this.reason = reason
    this.path = path
  }
}

/** Creates the error for a JSON pointer into the schema. */
export function schemaError(reason: JsonSchemaErrorReason, pointer: string, problem: string): JsonSchemaError {
  return new JsonSchemaError(reason, `#${pointer}`, problem)
}

/**
 * Throws a `JsonSchemaError` unless the root of the schema has `type: "object"`, as MCP requires of a tool's
 * `inputSchema`. Checks nothing else of the schema and needs no validator.
 */
export function assertObjectRoot(schema: unknown): asserts schema is Exclude<JsonSchema, boolean> & { type: 'object' } {
  if (!isObject(schema)) throw schemaError('malformed', '', 'must be an object with "type": "object"')
  const type = hasMember(schema, 'type') ? schema.type : undefined
  if (type === 'object') return
  const fault = type === undefined ? 'is missing' : 'is a different one'
  throw schemaError('malformed', '/type', `must be "object", but ${fault}; wrap other values in a property`)
}
