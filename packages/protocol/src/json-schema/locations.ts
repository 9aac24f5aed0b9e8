/** Finds what the evaluator's locations point at. */

import { LoweredSchema, type Subschema } from './lowered-schema.ts'
import { keysOf, memberOf } from './places.ts'

/** The keys on the way to a location, which is a JSON pointer as a URI fragment. */
export function keysOfLocation(location: string): string[] {
  return keysOf(decodeURIComponent(location))
}

export function valueAt(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce(memberOf, value)
}

/** A keyword in a schema, and the keywords on the way that led to that schema, each with its place among the keys. */
export interface Located {
  readonly schema: LoweredSchema
  readonly keys: readonly string[]
  readonly applicators: readonly (readonly [keyword: string, index: number])[]
}

const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies'])

/** Follows keys from a schema to the keyword that is the last of them, through references. */
export function locate(
  root: Subschema,
  keys: readonly string[],
  lookup: Readonly<Record<string, Subschema>>,
): Located | undefined {
  const applicators: [string, number][] = []
  let schema: unknown = root
  for (let index = 0; index < keys.length - 1; index++) {
    const keyword = keys[index] ?? ''
    const held = memberOf(schema, keyword)
    applicators.push([keyword, index])
    if (keyword === '$ref') schema = lookup[String(held)]
    else if (Array.isArray(held) || maps.has(keyword)) schema = memberOf(held, keys[++index] ?? '')
    else schema = held
  }
  return schema instanceof LoweredSchema ? { schema, keys, applicators } : undefined
}

/** A path such as `arguments.items[2]["odd key"]`. Long keys and long paths are cut. */
export function pathOf(name: string, value: unknown, keys: readonly string[]): string {
  let path = name
  let at = value
  for (const key of keys) {
    if (path.length > 200) return `${path}...`
    const short = key.length > 60 ? `${key.slice(0, 60)}...` : key
    if (Array.isArray(at)) path += `[${short}]`
    else path += /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(short) ? `.${short}` : `[${JSON.stringify(short)}]`
    at = memberOf(at, key)
  }
  return path
}
