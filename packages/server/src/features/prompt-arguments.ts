/** Reads off a JSON Schema which arguments a prompt has. They are texts on the wire. */

import type { JsonObject, PromptArgument } from '@mcpx/protocol'
import { quoted } from '@mcpx/protocol'
import { RegistrationError } from './registration-error.ts'
import { isObject } from './subschemas.ts'

/** Throws a `RegistrationError` for an argument that takes no text. */
export function argumentsOf({ properties, required }: JsonObject, where: string): PromptArgument[] {
  if (!isObject(properties)) throw new RegistrationError(`${where}: expected one object whose properties are known`)
  return Object.entries(properties).map(([name, property]) => {
    if (!takesText(property)) {
      throw new RegistrationError(`${where}.${name}: arguments of prompts are strings; convert inside of the schema`)
    }
    const argument: PromptArgument = { name }
    const { title, description } = isObject(property) ? property : {}
    if (typeof title === 'string') argument.title = title
    if (typeof description === 'string') argument.description = description
    if (Array.isArray(required) && required.includes(name)) argument.required = true
    return argument
  })
}

/** Whether some text may fit; references are taken on trust. */
function takesText(schema: unknown): boolean {
  if (!isObject(schema)) return schema !== false
  const { type, anyOf, oneOf, const: only, enum: choices } = schema
  if (type !== undefined) return [type].flat().includes('string')
  if ('const' in schema) return typeof only === 'string'
  if (Array.isArray(choices)) return choices.some((choice) => typeof choice === 'string')
  const options = Array.isArray(anyOf) ? anyOf : oneOf
  return !Array.isArray(options) || options.some(takesText)
}

/** The first argument that has to be there and is not. */
export function missingArgument(declared: readonly PromptArgument[], given: JsonObject): string | undefined {
  const missing = declared.find(({ name, required }) => required === true && given[name] === undefined)
  return missing === undefined ? undefined : `Missing argument: ${quoted(missing.name)}`
}
