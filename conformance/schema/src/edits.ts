/** Functions that create edits of the definitions of an official schema. */

import { type Definitions, type JsonSchema, type OfficialSchema, resolveReference } from './official.ts'
import type { Edit } from './official-validator.ts'

/** Returns the schema at a path such as `Tool > inputSchema > $schema`; `[]` is an item, `{}` an additional property. */
function schemaAt(definitions: Definitions, path: string): JsonSchema {
  const [name = '', ...members] = path.split(' > ')
  let found: JsonSchema | boolean | undefined = definitions[name]
  for (const member of members) {
    if (typeof found !== 'object') break
    if (member === '[]') found = found.items
    else found = member === '{}' ? found.additionalProperties : found.properties?.[member]
  }
  if (typeof found !== 'object') throw new Error(`The official schema has no ${path}`)
  return found
}

/** Makes the last member of each path optional. */
export function makeOptional(...paths: string[]): Edit {
  return (definitions) => {
    for (const path of paths) {
      const cut = path.lastIndexOf(' > ')
      const parent = schemaAt(definitions, path.slice(0, cut))
      const member = path.slice(cut + 3)
      if (!parent.required?.includes(member)) throw new Error(`${path} is not required`)
      parent.required = parent.required.filter((name) => name !== member)
    }
  }
}

/** Replaces the schema at the path. */
export function replaceSchema(path: string, schema: JsonSchema): Edit {
  return (definitions) => {
    const found = schemaAt(definitions, path)
    for (const key of Object.keys(found)) delete found[key as keyof JsonSchema]
    Object.assign(found, structuredClone(schema))
  }
}

/** Allows any value at each path. */
export function allowAnything(...paths: string[]): Edit {
  return combineEdits(...paths.map((path) => replaceSchema(path, {})))
}

/** Allows values of another schema at the path too. */
export function allowAlso(path: string, schema: JsonSchema): Edit {
  return (definitions) =>
    replaceSchema(path, { anyOf: [structuredClone(schemaAt(definitions, path)), schema] })(definitions)
}

/** Adds definitions of a newer revision as `New…`, with all definitions that they refer to. */
export function addNewerDefinitions(newer: OfficialSchema, ...names: string[]): Edit {
  return (definitions) => {
    const keyword = 'JSONValue' in definitions || 'Icon' in definitions ? '$defs' : 'definitions'
    const copy = (name: string): void => {
      const known = definitions[`New${name}`]
      if (known !== undefined) return
      const schema = structuredClone(resolveReference(newer.definitions, name))
      definitions[`New${name}`] = schema
      changeEverySchema((part) => {
        const target = part.$ref?.split('/').at(-1)
        if (target === undefined) return
        part.$ref = `#/${keyword}/New${target}`
        copy(target)
      })(schema as never)
    }
    names.forEach(copy)
  }
}

/** Applies a change to every nested schema. */
export function changeEverySchema(change: (schema: JsonSchema) => void): Edit {
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (!Array.isArray(value)) change(value as JsonSchema)
    Object.values(value).forEach(visit)
  }
  return visit
}

export function combineEdits(...edits: Edit[]): Edit {
  return (definitions) => {
    for (const edit of edits) edit(definitions)
  }
}
