/** The JSON Schemas that model APIs accept for the arguments of tools. The README names the source of each rule. */

/**
 * A kind of schema that a model API accepts. All APIs accept `common` without strict mode, so use it if the API is not
 * known.
 */
export type Dialect = 'common' | 'openai' | 'openai-strict' | 'anthropic' | 'anthropic-strict' | 'gemini'

export interface DialectRules {
  /** Whether `$ref` is kept, or replaced by its target. */
  readonly refs: 'keep' | 'inline'
  /** The keywords that are supported below the root. Default: all of them. */
  readonly keywords?: ReadonlySet<string>
  /** The values of `format` that are supported. Default: all of them. */
  readonly formats?: ReadonlySet<string>
  /** Whether a `pattern` must not contain a lookaround, such as `(?!a)`. */
  readonly plainPatterns?: true
  /** The names that properties of the root may have. Default: every name. */
  readonly names?: RegExp
  /** `closed`: objects may have only declared properties. `required`: in addition, all of them are required. */
  readonly strict?: 'closed' | 'required'
  /** The dialect for schemas that the strict mode does not support. */
  readonly otherwise?: Dialect
  /** Whether only strings and numbers may be values of `enum`, and a type array may only add `null`. */
  readonly simpleEnums?: true
  /** The largest supported `minItems`. Default: none. */
  readonly maxMinItems?: number
  /** How deep objects and arrays may be nested. Default: 64. */
  readonly maxDepth?: number
}

const structure = ['type', 'title', 'description', 'enum', 'anyOf', 'items', 'properties', 'required', 'minItems']
const strictFormats = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
])
const anthropicNames = /^[\w.-]{1,64}$/

export const DIALECTS: Readonly<Record<Dialect, DialectRules>> = {
  common: { refs: 'inline', names: /^[A-Za-z_]\w{0,63}$/, plainPatterns: true },
  openai: { refs: 'keep', plainPatterns: true },
  'openai-strict': {
    refs: 'inline',
    keywords: new Set([
      ...structure,
      ...['const', 'additionalProperties', 'pattern', 'format', 'maxItems'],
      ...['multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
    ]),
    formats: strictFormats,
    plainPatterns: true,
    strict: 'required',
    otherwise: 'openai',
    maxDepth: 10,
  },
  anthropic: { refs: 'keep', names: anthropicNames },
  'anthropic-strict': {
    refs: 'inline',
    keywords: new Set([...structure, 'const', 'default', 'additionalProperties', 'format']),
    formats: new Set([...strictFormats, 'uri']),
    names: anthropicNames,
    strict: 'closed',
    otherwise: 'anthropic',
    maxMinItems: 1,
  },
  gemini: {
    refs: 'inline',
    keywords: new Set([
      ...structure,
      ...['format', 'prefixItems', 'maxItems', 'minimum', 'maximum', 'additionalProperties', 'propertyOrdering'],
    ]),
    formats: new Set(['date-time', 'date', 'time', 'int32', 'int64', 'float', 'double']),
    names: /^[A-Za-z_]\w{0,63}$/,
    simpleEnums: true,
  },
}

/** Keywords that do not affect which values are valid. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...['title', 'description', 'default', 'examples', 'example', 'deprecated', 'readOnly', 'writeOnly', '$comment'],
  ...['contentMediaType', 'contentEncoding', 'contentSchema', 'propertyOrdering', 'nullable'],
])

/** Keywords whose value is a schema, a list of schemas, or an object of schemas. */
export const SCHEMA_KEYWORDS: readonly string[] = [
  ...['additionalProperties', 'propertyNames', 'unevaluatedProperties', 'items', 'contains', 'unevaluatedItems'],
  ...['not', 'if', 'then', 'else'],
]
export const SCHEMA_LIST_KEYWORDS: readonly string[] = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
export const SCHEMA_MAP_KEYWORDS: readonly string[] = [
  ...['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'],
]
