/** A JSON Schema validator that limits the work of a check. It generates no code, so it also runs without `eval`. */

import { compileSchema } from './compile.ts'
import { evaluate, type JsonSchemaVerdict } from './evaluate.ts'
import { isContainer, type JsonSchema } from './json.ts'
import { type JsonSchemaLimits, resolveLimits } from './limits.ts'

export type { JsonSchemaProblem, JsonSchemaVerdict } from './evaluate.ts'
export type { JsonSchema } from './json.ts'
export type { JsonSchemaLimits } from './limits.ts'
export { SUPPORTED_DIALECTS } from './read-schema.ts'
export { assertObjectRoot, JsonSchemaError, type JsonSchemaErrorReason } from './schema-error.ts'

/** Checks a value. Never throws. The paths of problems start with `name`. Default of `name`: `value`. */
export type CompiledSchema = (value: unknown, name?: string) => JsonSchemaVerdict

/** Compiles JSON Schemas. */
export interface JsonSchemaValidator {
  /** Compiles a schema. Throws a `JsonSchemaError` if the schema cannot be used. Fetches nothing. */
  compile(schema: JsonSchema): CompiledSchema
}

/** Options of `createJsonSchemaValidator`. */
export interface JsonSchemaValidatorOptions extends Partial<JsonSchemaLimits> {
  /**
   * Whether strings are checked against `format`. Default: `assert`, which checks date, date-time, duration, email,
   * hostname, ipv4, ipv6, json-pointer, regex, relative-json-pointer, time, uri, uri-reference, uri-template and uuid.
   * All other formats are annotations.
   */
  formats?: 'assert' | 'annotate'
  /**
   * Whether strings are tested against `pattern`, and property names against `patternProperties`. Default: `assert`.
   * With `annotate`, no regular expression of a schema is run, and a value is valid if it is valid for any possible result
   * of the patterns. All other keywords are checked.
   */
  patterns?: 'assert' | 'annotate'
}

/**
 * Options for schemas of a peer. No regular expression of the peer is run, and a check takes at most 500,000 steps.
 *
 * ```ts
 * const validator = createJsonSchemaValidator(PEER_SCHEMA_OPTIONS)
 * ```
 */
export const PEER_SCHEMA_OPTIONS: Readonly<JsonSchemaValidatorOptions> = { patterns: 'annotate', maxSteps: 500_000 }

/**
 * Creates a validator for the dialects 2020-12 (the default) and draft-07. `$schema` selects the dialect.
 *
 * - `compile` throws a `JsonSchemaError` for a schema that is malformed, has another dialect, exceeds a limit, recurs
 *   endlessly, or refers to another document. Annotations such as `title` are ignored.
 * - A schema object is compiled once. Later changes to the object have no effect.
 * - `$dynamicRef` is supported when its anchor occurs once in the document.
 *
 * @throws RangeError for a limit that is negative or not a number.
 * @throws TypeError for an unknown option, and for `formats` or `patterns` that is neither `assert` nor `annotate`.
 * @example
 * ```ts
 * const check = createJsonSchemaValidator().compile({ type: 'object', properties: { name: { type: 'string' } } })
 * check({ name: 7 }, 'arguments')
 * // { valid: false, problems: [{ path: 'arguments.name', message: 'expected string, got number' }] }
 * ```
 */
export function createJsonSchemaValidator(options: JsonSchemaValidatorOptions = {}): JsonSchemaValidator {
  const { formats = 'assert', patterns = 'assert', ...limits } = options
  const compileOptions = {
    limits: resolveLimits(limits),
    assertFormats: isAssert('formats', formats),
    assertPatterns: isAssert('patterns', patterns),
  }
  const cache = new WeakMap<object, CompiledSchema>()
  return {
    compile(schema) {
      const cached = isContainer(schema) ? cache.get(schema) : undefined
      if (cached) return cached
      const root = compileSchema(schema, compileOptions)
      const check: CompiledSchema = (value, name = 'value') => evaluate(root, compileOptions.limits, value, name)
      if (isContainer(schema)) cache.set(schema, check)
      return check
    },
  }
}

/** Returns whether a mode is `assert`. Throws a `TypeError` for an unknown mode. */
function isAssert(option: string, mode: unknown): boolean {
  if (mode === 'assert' || mode === 'annotate') return mode === 'assert'
  throw new TypeError(`${option}: expected "assert" or "annotate", got ${String(mode)}`)
}
