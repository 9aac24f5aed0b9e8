/** What a schema that cannot be used says about itself. */

/**
 * Why a schema was refused.
 * - `malformed`: a keyword has a value that its dialect does not allow, or the schema contains itself as an object.
 * - `dialect`: `$schema` names a dialect that is not supported.
 * - `reference`: a reference leads out of the schema, or nowhere, or to more than one place.
 * - `recursion`: a subschema applies itself to the same value again, so that checking would never end.
 * - `limit`: a bound of this side was reached.
 */
export type JsonSchemaErrorReason = 'malformed' | 'dialect' | 'reference' | 'recursion' | 'limit'

/** A JSON Schema that cannot be compiled. */
export class JsonSchemaError extends Error {
  override readonly name = 'JsonSchemaError'
  readonly reason: JsonSchemaErrorReason
  /** Where in the schema: a JSON pointer as a fragment, such as `#/properties/id/type`. */
  readonly path: string

  constructor(reason: JsonSchemaErrorReason, path: string, problem: string) {
    super(`JSON Schema, at ${excerpt(path, 200)}: ${problem}`)
    this.reason = reason
    this.path = path
  }
}

/** At most this many characters of a text that a peer wrote. */
export function excerpt(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}...` : text
}

/** The error for a place in a schema. */
export function refuse(reason: JsonSchemaErrorReason, place: string, problem: string): JsonSchemaError {
  return new JsonSchemaError(reason, `#${place}`, problem)
}
