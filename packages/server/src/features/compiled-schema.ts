/** Checks values against a plain JSON Schema by a validator that is there. */

import type { Awaitable, CompiledSchema, JsonObject, JsonSchemaValidator } from '@mcpx/protocol'
import type { Issue } from './issues.ts'
import { RegistrationError } from './registration-error.ts'
import { reasonOf } from './schema-conversion.ts'

export type Checked =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly value?: undefined; readonly issues: readonly Issue[] }

export interface RawSchemaOptions {
  /** What the schema is of, such as `Tool "add", input`; errors begin with it. */
  readonly where: string
  /** What paths in the value begin with. */
  readonly root: string
  readonly validator: JsonSchemaValidator | undefined
  /** Hears of a schema that turns out unusable when the validator is there. */
  readonly onError: (error: unknown) => void
}

/** Makes the check for a plain JSON Schema. Throws a `RegistrationError` for one of which it can tell that it is unusable. */
export type RawCheck = (schema: JsonObject, options: RawSchemaOptions) => (value: unknown) => Awaitable<Checked>

/** Throws a `RegistrationError` for a schema that is unusable. */
export function compile(validator: JsonSchemaValidator, schema: JsonObject, where: string): CompiledSchema {
  try {
    return validator.compile(schema)
  } catch (cause) {
    throw new RegistrationError(`${where}: ${reasonOf(cause)}`, { cause })
  }
}

export function toChecked(compiled: CompiledSchema, value: unknown, root: string): Checked {
  const verdict = compiled(value, root)
  if (verdict.valid) return { value }
  return { issues: verdict.problems.map(({ path, message }) => ({ at: path, message })) }
}
