/**
 * Looks over a plain JSON Schema when it is registered, for what is wrong in any dialect. The validator finds the rest;
 * it is large, and loaded later.
 */

import { type JsonObject, quoted } from '@mcpx/protocol'
import { resolveWithin } from './object-root.ts'
import { isObject, LISTS, MAPS, pathInto, SINGLE, subschemasOf } from './subschemas.ts'

type Fits = (value: unknown) => boolean

const TYPES: readonly unknown[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']
const isType: Fits = (value) => TYPES.includes(value)
const isCount: Fits = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const isText: Fits = (value) => typeof value === 'string'
const isTexts: Fits = (value) => Array.isArray(value) && value.every(isText)
const isSchema: Fits = (value) => typeof value === 'boolean' || isObject(value)

const values: readonly (readonly [keywords: string, must: string, fits: Fits])[] = [
  ['type', `one of ${TYPES.join(', ')}, or a list of them`, (v) => isType(v) || (Array.isArray(v) && v.every(isType))],
  ['enum', 'a list', Array.isArray],
  ['required', 'a list of strings', isTexts],
  ['format $ref $id', 'a string', isText],
  ['minimum maximum exclusiveMinimum exclusiveMaximum multipleOf', 'a number', Number.isFinite],
  ['minLength maxLength minItems maxItems minProperties maxProperties', 'a whole number, 0 or more', isCount],
  ['uniqueItems', 'true or false', (value) => typeof value === 'boolean'],
  ['pattern', 'a regular expression', isPattern],
]
const rules = new Map(values.flatMap(([keywords, ...rule]) => keywords.split(' ').map((each) => [each, rule] as const)))

/** What is wrong with a schema, beginning with the path; nothing where that takes the validator. */
export function schemaFault(whole: JsonObject, path: string, root = whole): string | undefined {
  const schema = withoutIgnored(whole, root)
  for (const [keyword, value] of Object.entries(schema)) {
    const rule = rules.get(keyword)
    if (rule !== undefined && !rule[1](value)) return `${path}: "${keyword}" must be ${rule[0]}`
    const fault = holderFault(keyword, value, path)
    if (fault !== undefined) return fault
  }
  if (typeof schema.$ref === 'string' && leadsNowhere(schema.$ref, root)) {
    return `${path}: "$ref" leads nowhere: ${quoted(schema.$ref)}`
  }
  for (const sub of subschemasOf(schema)) {
    const fault = schemaFault(sub.schema, pathInto(path, sub), root)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Each dialect ignores keywords of the other; the older one ignores whatever stands beside a reference, too. */
function withoutIgnored(schema: JsonObject, root: JsonObject): JsonObject {
  const isOld = String(root.$schema).includes('draft-07')
  const ignored = isOld && schema.$ref !== undefined ? BESIDE_REFERENCE : isOld ? NEWER : OLDER
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !ignored.test(keyword)))
}

const OLDER = /^additionalItems$/
const NEWER = /^(?:dependentSchemas|prefixItems|unevaluated(?:Items|Properties))$/
const BESIDE_REFERENCE = /^(?!\$ref$|\$defs$|definitions$)/

/** A keyword that holds schemas must hold schemas. */
function holderFault(keyword: string, value: unknown, path: string): string | undefined {
  if (LISTS.has(keyword) && Array.isArray(value)) {
    const mayBeEmpty = keyword === 'items' || keyword === 'prefixItems'
    if ((value.length > 0 || mayBeEmpty) && value.every(isSchema)) return undefined
    return `${path}: "${keyword}" must be a list of schemas`
  }
  if (SINGLE.has(keyword)) return isSchema(value) ? undefined : notASchema(path, keyword)
  if (LISTS.has(keyword)) return `${path}: "${keyword}" must be a list of schemas`
  if (!MAPS.has(keyword)) return undefined
  if (!isObject(value)) return `${path}: "${keyword}" must be an object of schemas`
  const stray = Object.keys(value).find((name) => {
    return !isSchema(value[name]) && !(keyword === 'dependencies' && isTexts(value[name]))
  })
  return stray === undefined ? undefined : notASchema(path, keyword, stray)
}

function notASchema(path: string, keyword: string, name?: string): string {
  const at = pathInto(path, { keyword, name, schema: {} })
  if (at !== path) return `${at}: must be a schema`
  return `${path}: "${name === undefined ? keyword : `${keyword}/${name}`}" must be a schema`
}

/** Only references that are told apart at once: an `$id` within would give them another base. */
function leadsNowhere(ref: string, root: JsonObject): boolean {
  if (!ref.startsWith('#/') || JSON.stringify(root).includes('"$id"')) return false
  return resolveWithin(ref, root) === undefined
}

/** Published schemas escape more than the newer syntax allows. */
function isPattern(value: unknown): boolean {
  if (typeof value !== 'string') return false
  return ['u', ''].some((flag) => {
    try {
      return new RegExp(value, flag) instanceof RegExp
    } catch {
      return false
    }
  })
}
