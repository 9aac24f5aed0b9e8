/**
 * Looks over a plain JSON Schema when it is registered, for what is wrong in any dialect. The validator finds the rest;
 * it is large, and loaded later.
 */

import { type JsonObject, quoted } from '@mcpx/protocol'
import { resolveWithin } from './object-root.ts'
import { isObject, LISTS, MAPS, type Place, placesIn } from './subschemas.ts'

type Fits = (value: unknown) => boolean

const TYPES: readonly unknown[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']
const isType: Fits = (value) => TYPES.includes(value)
const isText: Fits = (value) => typeof value === 'string'
const isTexts: Fits = (value) => Array.isArray(value) && value.every(isText)

const rules: readonly (readonly [keywords: RegExp, must: string, fits: Fits])[] = [
  [
    /^type$/,
    `one of ${TYPES.join(', ')}, or a list of them`,
    (v) => isType(v) || (Array.isArray(v) && v.every(isType)),
  ],
  [/^enum$/, 'a list', Array.isArray],
  [/^required$/, 'a list of strings', isTexts],
  [/^(?:format|\$ref|\$id)$/, 'a string', isText],
  [/^(?:(?:exclusiveM|m)(?:in|ax)imum|multipleOf)$/, 'a number', Number.isFinite],
  [
    /^(?:min|max)(?:Length|Items|Properties)$/,
    'a whole number, 0 or more',
    (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  ],
  [/^uniqueItems$/, 'true or false', (value) => typeof value === 'boolean'],
  [/^pattern$/, 'a regular expression', isPattern],
  [/^(?:all|any|one)Of$/, 'a list of schemas', (value) => Array.isArray(value) && value.length > 0],
]

/** What is wrong with a schema, beginning with the path; nothing where that takes the validator. */
export function schemaFault(root: JsonObject, where: string): string | undefined {
  const isOld = String(root.$schema).includes('draft-07')
  // Each dialect ignores keywords of the other; the older one ignores whatever stands beside a reference, too.
  const ignores = (keyword: string, { $ref }: JsonObject) =>
    (isOld ? ($ref === undefined ? NEWER : BESIDE_REFERENCE) : OLDER).test(keyword)
  for (const place of placesIn(root, where, ignores)) {
    const { schema, path } = place
    if (!isObject(schema)) {
      if (typeof schema !== 'boolean' && !isDependency(place)) return notASchema(place)
      continue
    }
    for (const [keyword, value] of Object.entries(schema)) {
      const must = ignores(keyword, schema) ? undefined : faultOf(keyword, value)
      if (must !== undefined) return `${path}: "${keyword}" must be ${must}`
    }
    if (isText(schema.$ref) && leadsNowhere(schema.$ref as string, root)) {
      return `${path}: "$ref" leads nowhere: ${quoted(schema.$ref as string)}`
    }
  }
  return undefined
}

const OLDER = /^additionalItems$/
const NEWER = /^(?:dependentSchemas|prefixItems|unevaluated(?:Items|Properties))$/
const BESIDE_REFERENCE = /^(?!\$ref$|\$defs$|definitions$)/

/** What the value of a keyword must be, and is not. */
function faultOf(keyword: string, value: unknown): string | undefined {
  const broken = rules.find(([keywords, , fits]) => keywords.test(keyword) && !fits(value))
  if (broken !== undefined) return broken[1]
  if (MAPS.has(keyword)) return isObject(value) ? undefined : 'an object of schemas'
  return LISTS.has(keyword) && keyword !== 'items' && !Array.isArray(value) ? 'a list of schemas' : undefined
}

/** The older dialects may list names in the place of a schema. */
function isDependency({ key, schema }: Place): boolean {
  return key.startsWith('dependencies/') && isTexts(schema)
}

function notASchema({ path, key, holder }: Place): string {
  return path === holder?.path ? `${path}: "${key}" must be a schema` : `${path}: must be a schema`
}

/** Only references that are told apart at once: an `$id` within would give them another base. */
function leadsNowhere(ref: string, root: JsonObject): boolean {
  if (!ref.startsWith('#/') || JSON.stringify(root).includes('"$id"')) return false
  return resolveWithin(ref, root) === undefined
}

/** Published schemas escape more than the newer syntax allows. */
function isPattern(value: unknown): boolean {
  return typeof value === 'string' && ['u', ''].some((flags) => compiles(value, flags))
}

function compiles(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp
  } catch {
    return false
  }
}
