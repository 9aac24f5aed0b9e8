/** The values of an elicitation form: what is wrong with them, and what stands in for those left out. */

import { isObject, notInteger, unexpected } from '../jsonrpc/check.ts'
import type { JsonObject } from '../jsonrpc/message.ts'
import { placeOf } from './check.ts'
import type { RequestedSchema } from './elicitation.ts'
import { formatProblem } from './formats.ts'

interface Choices {
  readonly enum?: readonly unknown[] | undefined
  readonly oneOf?: readonly { readonly const: unknown }[] | undefined
  readonly anyOf?: readonly { readonly const: unknown }[] | undefined
}

/** A field of any of the shapes that a form may have. */
interface Field extends Choices {
  readonly type: string
  readonly items?: Choices | undefined
  readonly format?: string | undefined
  readonly minLength?: number | undefined
  readonly maxLength?: number | undefined
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly minItems?: number | undefined
  readonly maxItems?: number | undefined
  readonly default?: unknown
}

/** What is wrong with the values of a form, as one sentence; nothing when they fit. */
export function formProblem(form: RequestedSchema, content: unknown, root = 'content'): string | undefined {
  if (!isObject(content)) return unexpected(root, 'object', content)
  for (const name of form.required ?? []) {
    if (!Object.hasOwn(content, name)) return unexpected(placeOf([name], root), 'a value', undefined)
  }
  for (const [name, field] of Object.entries(form.properties as Record<string, Field>)) {
    const value = Object.hasOwn(content, name) ? content[name] : undefined
    const problem = value === undefined ? undefined : fieldProblem(placeOf([name], root), field, value)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** The values with the defaults of the form for those that were left out. */
export function withFormDefaults(form: RequestedSchema, content: JsonObject = {}): JsonObject {
  const filled: JsonObject = { ...content }
  for (const [name, field] of Object.entries(form.properties as Record<string, Field>)) {
    if (filled[name] === undefined && field.default !== undefined) filled[name] = field.default
  }
  return filled
}

function fieldProblem(place: string, field: Field, value: unknown): string | undefined {
  const { type, format, items = field } = field
  const kind = Array.isArray(value) ? 'array' : typeof value
  if (type === 'integer' && !Number.isInteger(value)) return notInteger(place, type, value)
  if (type !== 'integer' && type !== kind) return unexpected(place, type, value)
  const choices = items.enum ?? (items.oneOf ?? items.anyOf)?.map((choice) => choice.const)
  const strays = choices && [value].flat().some((one) => !choices.includes(one))
  const expected = strays ? 'nothing but choices of the form' : boundsProblem(field, value)
  const problem = expected ?? (format && typeof value === 'string' ? formatProblem(format, value) : undefined)
  return problem && `${place}: expected ${problem}`
}

/** What is expected of the size of a value that is too small or too large. */
function boundsProblem(field: Field, value: unknown): string | undefined {
  if (Array.isArray(value)) return outside(value.length, field.minItems, field.maxItems, ' items')
  if (typeof value === 'string') return outside([...value].length, field.minLength, field.maxLength, ' characters')
  return outside(Number(value), field.minimum, field.maximum, '')
}

function outside(size: number, least = size, most = size, unit: string): string | undefined {
  if (size < least) return `at least ${least}${unit}`
  return size > most ? `at most ${most}${unit}` : undefined
}
