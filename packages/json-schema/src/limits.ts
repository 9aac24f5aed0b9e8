/** Limits on schemas and on the work of one check. */

export interface JsonSchemaLimits {
  /**
   * The deepest nesting of subschemas, the longest chain of schemas that apply to the same value, and the deepest target of
   * a reference below an ignored keyword. A deeper schema is rejected. Default: 64 levels.
   */
  maxDepth: number
  /** The largest number of subschemas of a schema. A larger schema is rejected. Default: 10,000. */
  maxSubschemas: number
  /**
   * The longest regular expression. A schema with a longer expression is rejected. Default: 2,048 UTF-16 code units.
   */
  maxPatternLength: number
  /**
   * The longest string that is tested with `pattern`, and the longest property name that is tested with
   * `patternProperties`. A longer string makes the value invalid. Default: 16,384 UTF-16 code units.
   *
   * This limit does not stop a regular expression that takes exponential time, because no JavaScript engine can
   * interrupt a regular expression. Use `PEER_SCHEMA_OPTIONS` for schemas of a peer.
   */
  maxPatternInput: number
  /**
   * The largest number of steps of one check. A value that needs more is invalid. A step takes about 0.1 microseconds.
   * These count as one step: applying a subschema, and counting or comparing 8 items, 16 characters, or one property.
   * Default: 3,000,000, enough for a value of about 5 MB. `PEER_SCHEMA_OPTIONS` has 500,000.
   */
  maxSteps: number
  /** The largest number of problems in a verdict. Further problems are left out. Default: 8. */
  maxProblems: number
}

const DEFAULT_LIMITS: Readonly<JsonSchemaLimits> = {
  maxDepth: 64,
  maxSubschemas: 10_000,
  maxPatternLength: 2048,
  maxPatternInput: 16_384,
  maxSteps: 3_000_000,
  maxProblems: 8,
}

/** The additional steps for finding the problems of an invalid value. */
export const REPORT_STEPS = 20_000

/** The largest number of findings that are kept for one branch of `anyOf` or `oneOf`. */
export const MAX_BRANCH_FINDINGS = 64

/**
 * The longest JSON pointer, URI, reference and required name, in UTF-16 code units. Pointers contain all property names
 * of a path. V8 hashes strings of more than 16,383 code units by length only, so maps with many of them take quadratic
 * time.
 */
export const MAX_NAME_LENGTH = 4096

/** Completes limits with defaults. Throws a `TypeError` for an unknown name, and a `RangeError` for an invalid value. */
export function resolveLimits(limits: Partial<JsonSchemaLimits>): JsonSchemaLimits {
  const resolved = { ...DEFAULT_LIMITS }
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) {
      const names = Object.keys(DEFAULT_LIMITS).join(', ')
      throw new TypeError(`there is no option "${name}"; the options are formats, patterns, ${names}`)
    }
    if (value === undefined) continue
    if (typeof value !== 'number' || !(value >= 0)) {
      throw new RangeError(`${name}: expected a number of 0 or more, got ${String(value)}`)
    }
    resolved[name as keyof JsonSchemaLimits] = value
  }
  return resolved
}
