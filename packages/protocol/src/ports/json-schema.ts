/** What the rest of the SDK asks of a JSON Schema validator. Any validator can be put behind it. */

/** A JSON Schema as JSON: an object of keywords, or a boolean. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown }

/** One thing that is wrong with a value, fit to be shown to a person or a model: `path: message` is a sentence. */
export interface JsonSchemaProblem {
  /** Where in the value, beginning with the name that the caller gave it: `arguments.items[2].name`. */
  readonly path: string
  /** What is wrong there, such as `expected string, got number`. Never holds the value. */
  readonly message: string
}

export type JsonSchemaVerdict =
  | { readonly valid: true }
  | { readonly valid: false; readonly problems: readonly JsonSchemaProblem[] }

/**
 * Checks one value against one schema and never throws. The name is what the paths of problems begin with;
 * default: `value`.
 */
export type CompiledSchema = (value: unknown, name?: string) => JsonSchemaVerdict

export interface JsonSchemaValidator {
  /** Throws an error that names the fault when the schema cannot be used. Nothing is ever fetched. */
  compile(schema: JsonSchema): CompiledSchema
}
