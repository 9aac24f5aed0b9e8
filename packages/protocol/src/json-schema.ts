/** `@mcpx/protocol/json-schema`: a JSON Schema validator without code generation, so it runs where `eval` does not. */

import { checkValue } from './json-schema/checking.ts'
import { compileSchema } from './json-schema/compilation.ts'
import { DEFAULT_LIMITS, type JsonSchemaLimits } from './json-schema/limits.ts'
import { withDefaultLimits } from './limits.ts'
import type { CompiledSchema, JsonSchemaValidator } from './ports/json-schema.ts'

export { SUPPORTED_DIALECTS } from './json-schema/dialects.ts'
export type { JsonSchemaLimits } from './json-schema/limits.ts'
export { assertObjectRoot } from './json-schema/object-root.ts'
export { JsonSchemaError, type JsonSchemaErrorReason } from './json-schema/schema-error.ts'
export type {
  CompiledSchema,
  JsonSchema,
  JsonSchemaProblem,
  JsonSchemaValidator,
  JsonSchemaVerdict,
} from './ports/json-schema.ts'

export interface JsonSchemaValidatorOptions extends Partial<JsonSchemaLimits> {
  /**
   * Whether a text must have the `format` that the schema names. The dialects leave it to the reader; who writes
   * `"format": "email"` in the schema of a tool wants it checked. Default: `assert`, for date, date-time, duration,
   * email, hostname, ipv4, ipv6, json-pointer, regex, relative-json-pointer, time, uri, uri-reference, uri-template
   * and uuid; every other format is an annotation.
   */
  formats?: 'assert' | 'annotate'
  /**
   * Whether a text must match the `pattern` that the schema names. Default: `assert`. With `annotate` no regular
   * expression of a schema is ever run, and a schema with `patternProperties` is refused.
   */
  patterns?: 'assert' | 'annotate'
}

/**
 * A validator for the dialects 2020-12, which is the default, and draft-07, by `$schema`.
 *
 * - `compile` throws a `JsonSchemaError` for a schema that is malformed, in another dialect, over a limit, endlessly
 *   recursive, or that refers to anything outside of itself. Annotations (`title`, `examples`, ...) are not looked at.
 * - A schema object is compiled once; what is changed in it afterwards is not seen.
 * - `$dynamicRef` is supported where its anchor is in the document once, for then it leads to one place only.
 *
 * ```ts
 * const check = createJsonSchemaValidator().compile({ type: 'object', properties: { name: { type: 'string' } } })
 * check({ name: 7 }, 'arguments')
 * // { valid: false, problems: [{ path: 'arguments.name', message: 'expected string, got number' }] }
 * ```
 */
export function createJsonSchemaValidator(options: JsonSchemaValidatorOptions = {}): JsonSchemaValidator {
  const { formats = 'assert', patterns = 'assert', ...limits } = options
  const compilation = {
    limits: withDefaultLimits(DEFAULT_LIMITS, limits),
    assertFormats: formats === 'assert',
    assertPatterns: patterns === 'assert',
  }
  const compiled = new WeakMap<object, CompiledSchema>()
  return {
    compile(schema) {
      const known = typeof schema === 'object' && schema !== null ? compiled.get(schema) : undefined
      if (known) return known
      const root = compileSchema(schema, compilation)
      const check: CompiledSchema = (value, name = 'value') => checkValue(root, compilation, value, name)
      if (typeof schema === 'object') compiled.set(schema, check)
      return check
    },
  }
}
