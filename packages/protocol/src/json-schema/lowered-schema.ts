/** A private copy of a schema in the form that the evaluator reads: references resolved, nothing unknown left. */

/** Steps that one check may still take. */
export interface Meter {
  left: number
}

/** Thrown out of the evaluator when a check has taken all its steps. */
export class StepLimitReached extends Error {
  override readonly name = 'StepLimitReached'
}

export type Subschema = true | LoweredSchema

/**
 * The fields are the keywords that the evaluator knows, all of them and always in this order, which keeps its reads
 * as fast as those of a plain object. It knows no other way of stopping than the accessor at the end.
 */
export class LoweredSchema {
  /** A key of the table of referenced schemas. */
  $ref: string | undefined = undefined
  type: string | readonly string[] | undefined = undefined
  const: unknown = undefined
  enum: readonly unknown[] | undefined = undefined
  required: readonly string[] | undefined = undefined
  not: Subschema | undefined = undefined
  anyOf: Subschema[] | undefined = undefined
  allOf: Subschema[] | undefined = undefined
  oneOf: Subschema[] | undefined = undefined
  if: Subschema | undefined = undefined
  // biome-ignore lint/suspicious/noThenProperty: the keyword is called so
  then: Subschema | undefined = undefined
  else: Subschema | undefined = undefined
  format: string | undefined = undefined
  properties: Record<string, Subschema> | undefined = undefined
  patternProperties: Record<string, Subschema> | undefined = undefined
  additionalProperties: Subschema | undefined = undefined
  unevaluatedProperties: Subschema | undefined = undefined
  minProperties: number | undefined = undefined
  maxProperties: number | undefined = undefined
  propertyNames: Subschema | undefined = undefined
  dependentRequired: Record<string, readonly string[]> | undefined = undefined
  dependentSchemas: Record<string, Subschema> | undefined = undefined
  dependencies: Record<string, Subschema | readonly string[]> | undefined = undefined
  prefixItems: Subschema[] | undefined = undefined
  items: Subschema | Subschema[] | undefined = undefined
  additionalItems: Subschema | undefined = undefined
  unevaluatedItems: Subschema | undefined = undefined
  contains: Subschema | undefined = undefined
  minContains: number | undefined = undefined
  maxContains: number | undefined = undefined
  minItems: number | undefined = undefined
  maxItems: number | undefined = undefined
  uniqueItems: boolean | undefined = undefined
  minimum: number | undefined = undefined
  maximum: number | undefined = undefined
  exclusiveMinimum: number | undefined = undefined
  exclusiveMaximum: number | undefined = undefined
  multipleOf: number | undefined = undefined
  minLength: number | undefined = undefined
  maxLength: number | undefined = undefined
  pattern: string | undefined = undefined
  readonly #meter: Meter
  #cost = 1

  constructor(meter: Meter, keywords: Partial<LoweredSchema> = {}) {
    this.#meter = meter
    for (const [keyword, value] of Object.entries(keywords)) this.set(keyword, value)
  }

  /** Sets a keyword that the evaluator knows. Every other is dropped. */
  set(keyword: string, value: unknown): void {
    if (!Object.hasOwn(this, keyword)) return
    ;(this as Record<string, unknown>)[keyword] = value
    if (typeof value === 'object' && value !== null && keyword !== 'const' && !(value instanceof LoweredSchema))
      this.#cost += Object.keys(value).length / 4
  }

  /** Read by the evaluator once for each time it applies this schema to a value. */
  get __absolute_ref__(): undefined {
    this.#meter.left -= this.#cost
    if (this.#meter.left < 0) throw new StepLimitReached()
    return undefined
  }
}

/**
 * What a schema stands for that no value satisfies: `false` in the source, a bound, or a schema that was applied as a
 * condition and has to be evaluated again to say what is wrong.
 */
export type Role = 'refuses' | 'text too long' | 'too many items' | LoweredSchema
