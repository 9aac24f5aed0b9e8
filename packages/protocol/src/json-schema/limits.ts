/** The bounds on schemas and on the work of checking. */

export interface JsonSchemaLimits {
  /** How deep subschemas may nest, by place or by reference to the same value. Default: 64 levels. */
  maxDepth: number
  /** How many subschemas a schema may have. Default: 10,000. */
  maxSubschemas: number
  /** How long a regular expression may be. Default: 2,048 UTF-16 code units. */
  maxPatternLength: number
  /**
   * How long a text may be that a `pattern` is tried on; a longer one is a problem of the value. A property name
   * that `patternProperties` are tried on has the same bound. Default: 16,384 UTF-16 code units.
   *
   * No engine can stop a regular expression, and this bound does not stop one that takes exponential time. Ignore
   * patterns (`patterns: 'annotate'`) where strangers write both the schemas and the values.
   */
  maxPatternInput: number
  /**
   * How often subschemas may be applied in one check, about a tenth of a microsecond each; a value that needs more is a
   * problem of the value. What a keyword goes through counts too: 8 items, 16 characters, a property that is gone past, counted
   * or compared. Default: 3,000,000, which is enough for some 5 MB.
   */
  maxSteps: number
  /** How many problems of a value are told. Default: 8. */
  maxProblems: number
}

export const DEFAULT_LIMITS: Readonly<JsonSchemaLimits> = {
  maxDepth: 64,
  maxSubschemas: 10_000,
  maxPatternLength: 2048,
  maxPatternInput: 16_384,
  maxSteps: 3_000_000,
  maxProblems: 8,
}

/** Steps that may be spent on saying all that is wrong with a value that is known to be wrong. */
export const TELLING_STEPS = 20_000

/** How many findings about one of several forms are kept. */
export const MAX_FINDINGS = 64

/** Longest JSON pointer to a subschema. Every subschema has one, so that long property names add up. */
export const MAX_PLACE_LENGTH = 4096
