/** The values of an elicitation form: what is wrong with them, and what stands in for those left out. */

import { kindOf } from '../jsonrpc/check.ts'
import type { JsonObject } from '../jsonrpc/message.ts'
import { placeOf } from './check.ts'
import type { RequestedSchema } from './elicitation.ts'
import { formatProblem } from './formats.ts'

/** A field of any of the shapes that a form may have. */
interface Field {
  readonly type: string
  readonly enum?: readonly string[] | undefined
  readonly oneOf?: readonly { readonly const: string }[] | undefined
  readonly items?:
    | { readonly enum?: readonly string[]; readonly anyOf?: readonly { readonly const: string }[] }
    | undefined
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
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    return `${root}: expected object, got ${kindOf(content)}`
  }
  for (const name of form.required ?? []) {
    if (!Object.hasOwn(content, name)) return `${placeOf([name], root)}: expected a value, got nothing`
  }
  for (const [name, field] of Object.entries(form.properties as Record<string, Field>)) {
    const value = Object.hasOwn(content, name) ? (content as JsonObject)[name] : undefined
    const problem = value === undefined ? undefined : fieldProblem(field, value)
    if (problem !== undefined) return `${placeOf([name], root)}: ${problem}`
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

function fieldProblem(field: Field, value: unknown): string | undefined {
  if (field.type === 'array') return itemsProblem(field, value)
  if (field.type === 'string') return textProblem(field, value)
  if (field.type === 'boolean') return typeof value === 'boolean' ? undefined : `expected boolean, got ${kindOf(value)}`
  if (typeof value !== 'number') return `expected ${field.type}, got ${kindOf(value)}`
  if (field.type === 'integer' && !Number.isInteger(value))
    return 'expected integer, got a number that is not an integer'
  return boundsProblem(value, field.minimum, field.maximum, '')
}

function textProblem(field: Field, value: unknown): string | undefined {
  if (typeof value !== 'string') return `expected string, got ${kindOf(value)}`
  const choices = field.enum ?? field.oneOf?.map((choice) => choice.const)
  if (choices !== undefined && !choices.includes(value)) return 'expected one of the choices of the form'
  const problem = boundsProblem([...value].length, field.minLength, field.maxLength, ' characters')
  return problem ?? (field.format && formatProblem(field.format, value))
}

function itemsProblem(field: Field, value: unknown): string | undefined {
  if (!Array.isArray(value)) return `expected array, got ${kindOf(value)}`
  const choices = field.items?.enum ?? field.items?.anyOf?.map((choice) => choice.const) ?? []
  if (!value.every((item) => choices.includes(item))) return 'expected only choices of the form'
  return boundsProblem(value.length, field.minItems, field.maxItems, ' items')
}

function boundsProblem(
  size: number,
  least: number | undefined,
  most: number | undefined,
  unit: string,
): string | undefined {
  if (least !== undefined && size < least) return `expected at least ${least}${unit}`
  return most !== undefined && size > most ? `expected at most ${most}${unit}` : undefined
}
