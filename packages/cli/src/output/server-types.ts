/** Writes the tools and prompts of a server as TypeScript, for `connect<Server>(...)`. */

import type { Prompt, Tool } from '@mcpx/client'
import { docComment, propertyName, typeOfSchema } from './schema-type.ts'

/** The lists of a server. */
export interface TypedItems {
  readonly tools: readonly Tool[]
  readonly prompts: readonly Prompt[]
}

/**
 * Returns a module that exports an interface with the types of a server. The order in which the server lists its items
 * does not change the text.
 *
 * @param name the name of the interface
 */
export function typesOfServer(name: string, title: string, { tools, prompts }: TypedItems): string {
  const writer = new ModuleWriter([name])
  const toolTypes = uniqueByName(tools).map((tool) => writer.writeTool(tool))
  const promptTypes = uniqueByName(prompts).map(writePrompt)
  const catalogue = [
    '  readonly "~catalogue"?: {',
    `    tools: ${blockOf(toolTypes)}`,
    `    prompts: ${blockOf(promptTypes)}`,
    '  }',
  ]
  const interfaceText = `${docComment(`The tools and prompts of ${title}: \`connect<${name}>(…)\`.`)}export interface ${name} {\n${catalogue.join('\n')}\n}`
  return `${['// Written by `mcpx types`. Run it again instead of editing this file.', interfaceText, ...writer.declarations].join('\n\n')}\n`
}

function blockOf(members: readonly string[]): string {
  return members.length === 0 ? 'Record<never, never>' : `{\n${members.join('\n')}\n    }`
}

/** Sorts items by name. If several items have the same name, keeps the first. */
function uniqueByName<Item extends { readonly name: string }>(items: readonly Item[]): Item[] {
  const byName = new Map(items.toReversed().map((item) => [item.name, item]))
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function writePrompt({ name, title, description, arguments: parameters = [] }: Prompt): string {
  const members = parameters.map((each) => `${propertyName(each.name)}${each.required === true ? '' : '?'}: string`)
  const type = members.length === 0 ? 'Record<never, never>' : `{ ${members.join('; ')} }`
  return `${docComment(description ?? title, '      ')}      ${propertyName(name)}: ${type}`
}

/** Writes the types of tools as declarations with unique names. */
class ModuleWriter {
  readonly declarations: string[] = []
  readonly #names: Set<string>

  constructor(names: readonly string[]) {
    this.#names = new Set(names)
  }

  /** Writes the declarations of a tool, and returns its member of the catalogue. */
  writeTool({ name, title, description, inputSchema, outputSchema }: Tool): string {
    const input = this.#declare(`${pascalCase(name)}Input`, inputSchema)
    const output = outputSchema === undefined ? 'unknown' : this.#declare(`${pascalCase(name)}Output`, outputSchema)
    return `${docComment(description ?? title, '      ')}      ${propertyName(name)}: { input: ${input}; output: ${output} }`
  }

  /** Declares the type of a schema, and the types of the references in it. Returns its name. */
  #declare(wanted: string, root: object): string {
    const name = this.#uniqueName(wanted)
    const referenced = new Map([['#', name]])
    const pending: [name: string, reference: string][] = []
    const nameOf = (reference: string): string => {
      const known = referenced.get(reference)
      if (known !== undefined) return known
      const own = this.#uniqueName(`${wanted}${pascalCase(reference.split('/').at(-1) ?? '')}`)
      referenced.set(reference, own)
      pending.push([own, reference])
      return own
    }
    this.#write(name, root, root, nameOf)
    for (const [each, reference] of pending) this.#write(each, { $ref: reference }, root, nameOf)
    return name
  }

  #write(name: string, schema: object, root: object, nameOf: (reference: string) => string): void {
    const type = typeOfSchema(schema, { root, nameOf, multiline: true })
    this.declarations.push(`export type ${name} = ${type}`)
  }

  #uniqueName(wanted: string): string {
    let name = wanted
    for (let number = 2; this.#names.has(name); number++) name = `${wanted}${number}`
    this.#names.add(name)
    return name
  }
}

/** Returns a name that is an identifier, such as `GetItem` for `get-item`. */
function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter(Boolean)
  const joined = words.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`).join('')
  return /^[A-Za-z]/.test(joined) ? joined : `Item${joined}`
}
