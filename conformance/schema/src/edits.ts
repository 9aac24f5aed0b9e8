/** Ways to change an official schema: each makes an edit of the definitions it is about. */
import type { Edit } from './judge.ts'
import { type Definitions, type JsonSchema, type OfficialSchema, referred } from './official.ts'

/** `Tool > inputSchema > $schema`: a definition and members below it; `[]` is an item, `{}` the value under any name. */
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

/** The last member of the path need not be there. */
export function absent(...paths: string[]): Edit {
  return (definitions) => {
    for (const path of paths) {
      const cut = path.lastIndexOf(' > ')
      const holder = schemaAt(definitions, path.slice(0, cut))
      const member = path.slice(cut + 3)
      if (!holder.required?.includes(member)) throw new Error(`${path} is not required`)
      holder.required = holder.required.filter((name) => name !== member)
    }
  }
}

/** What is at the path may be what `schema` says. */
export function replaced(path: string, schema: JsonSchema): Edit {
  return (definitions) => {
    const found = schemaAt(definitions, path)
    for (const key of Object.keys(found)) delete found[key as keyof JsonSchema]
    Object.assign(found, structuredClone(schema))
  }
}

/** What is at the path may be anything. */
export function anything(...paths: string[]): Edit {
  return all(...paths.map((path) => replaced(path, {})))
}

/** What is at the path may also be what `schema` says. */
export function orElse(path: string, schema: JsonSchema): Edit {
  return (definitions) => replaced(path, { anyOf: [structuredClone(schemaAt(definitions, path)), schema] })(definitions)
}

/** Definitions of a newer file, as `New…`, with all that they refer to. */
export function borrowed(newer: OfficialSchema, ...names: string[]): Edit {
  return (definitions) => {
    const keyword = 'JSONValue' in definitions || 'Icon' in definitions ? '$defs' : 'definitions'
    const copy = (name: string): void => {
      const known = definitions[`New${name}`]
      if (known !== undefined) return
      const schema = structuredClone(referred(newer.definitions, name))
      definitions[`New${name}`] = schema
      everywhere((part) => {
        const target = part.$ref?.split('/').at(-1)
        if (target === undefined) return
        part.$ref = `#/${keyword}/New${target}`
        copy(target)
      })(schema as never)
    }
    names.forEach(copy)
  }
}

/** Does whatever has to be done to each schema, wherever it is. */
export function everywhere(change: (schema: JsonSchema) => void): Edit {
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (!Array.isArray(value)) change(value as JsonSchema)
    Object.values(value).forEach(visit)
  }
  return visit
}

export function all(...edits: Edit[]): Edit {
  return (definitions) => {
    for (const edit of edits) edit(definitions)
  }
}
