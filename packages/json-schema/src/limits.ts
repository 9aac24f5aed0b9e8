/** Limits on schemas and on the work of one check. */

export interface JsonSchemaLimits {
  /**
   * How deep subschemas may nest, how many schemas in a row may apply to the same value, and how deep a reference may
   * lead below a keyword that is ignored. A deeper schema is rejected. Default: 64 levels.
   */
  maxDepth: number
  /** How many subschemas a schema may have. A larger schema is rejected. Default: 10,000. */
  maxSubschemas: number
  /** How long a regular expression may be. A longer one is rejected. Default: 2,048 UTF-16 code units. */
  maxPatternLength: number
  /**
   * How long a string may be that is tested against a `pattern`, and a property name against `patternProperties`. A
   * longer one makes the value invalid. Default: 16,384 UTF-16 code units.
   *
   * No JavaScript engine can interrupt a regular expression, and this limit does not stop one that takes exponential
   * time. Use `PEER_SCHEMA_OPTIONS` for schemas that come from a peer.
   */
  maxPatternInput: number
  /**
   * How many steps one check may take. A value that needs more is invalid. A step takes about 0.1 microseconds.
   * Applying a subschema is a step; so is each 8 items, 16 characters, or one property that is counted or compared.
   * Default: 3,000,000, enough for a value of about 5 MB. `PEER_SCHEMA_OPTIONS` has 500,000.
   */
  maxSteps: number
  /** How many problems a verdict lists. Further problems are left out. Default: 8. */
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

/** Steps that may be spent on listing the problems of a value that is known to be invalid. */
export const REPORT_STEPS = 20_000

/** How many findings about one branch of `anyOf` or `oneOf` are kept. */
export const MAX_BRANCH_FINDINGS = 64

/**
 * Longest JSON pointer, URI, reference and required name, in UTF-16 code units. Long property names add up in pointers.
 * V8 hashes strings above 16,383 code units by their length only, so many of them as keys take quadratic time.
 */
export const MAX_NAME_LENGTH = 4096

/** Fills in the defaults. Throws a `TypeError` for an unknown name, a `RangeError` for a value that is no limit. */
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
