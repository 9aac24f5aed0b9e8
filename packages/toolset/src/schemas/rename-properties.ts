/** Renames arguments of a tool if a model API refuses their names. */
import type { SchemaChange } from './fit-schema.ts'
import { type JsonObject, objectOf } from './json.ts'

/** Other keywords that refer to properties by their names. They are removed when a property is renamed. */
const REFERRING_KEYWORDS = [
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'if',
]

/** Returns the schema with property names that match `allowed`, and a map from each new name to the original name. */
export function renameProperties(
  schema: JsonObject,
  allowed: RegExp | undefined,
  onChange: (change: SchemaChange) => void,
): { readonly schema: JsonObject; readonly names: ReadonlyMap<string, string> } {
  const properties = objectOf(schema.properties)
  const own = Object.keys(properties)
  const originals = new Map<string, string>()
  const safe = new Map<unknown, string>()
  /** The last number that was added to a name. */
  const numbers = new Map<string, number>()
  for (const name of own) {
    if (allowed === undefined || allowed.test(name)) continue
    const valid = name.replace(/\W/g, '_').replace(/^(?![A-Za-z_])/, '_')
    const plain = valid.slice(0, 60)
    let unique = plain
    for (let n = (numbers.get(plain) ?? 1) + 1; Object.hasOwn(properties, unique) || originals.has(unique); n += 1) {
      unique = `${plain}_${n}`
      numbers.set(plain, n)
    }
    originals.set(unique, name)
    safe.set(name, unique)
    onChange({ path: '#/properties', keyword: name, effect: 'same', message: `renamed to ${unique}` })
  }
  if (safe.size === 0) return { schema, names: originals }
  const entries = Object.entries(properties).map(([name, value]) => [safe.get(name) ?? name, value])
  const renamed: JsonObject = { ...schema, properties: Object.fromEntries(entries) }
  for (const keyword of ['required', 'propertyOrdering']) {
    const names = schema[keyword]
    if (Array.isArray(names)) renamed[keyword] = names.map((name) => safe.get(name) ?? name)
  }
  for (const keyword of REFERRING_KEYWORDS.filter((each) => renamed[each] !== undefined)) {
    delete renamed[keyword]
    onChange({ path: '#', keyword, effect: 'wider', message: 'removed, because properties were renamed' })
  }
  return { schema: renamed, names: originals }
}
