/** Checks the values of an elicitation form, and adds defaults. */

import { isObject, notInteger, placeOf, unexpected } from './json.ts'
import type { JsonObject } from './messages.ts'
import type { RequestedSchema } from './schemas/client-features.ts'

interface Choices {
  readonly enum?: readonly unknown[] | undefined
  readonly oneOf?: readonly { readonly const: unknown }[] | undefined
  readonly anyOf?: readonly { readonly const: unknown }[] | undefined
}

/** A form field of any type. */
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

/** Checks the values of a form. Returns a sentence about the first problem, or undefined if they are valid. */
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

/** Returns the values of a form. Missing values are replaced by defaults. */
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
  const hasOtherChoice = choices && [value].flat().some((one) => !choices.includes(one))
  const choice = kind === 'array' ? 'only choices of this field' : 'one of the choices of this field'
  const expected = hasOtherChoice ? choice : boundsProblem(field, value)
  const problem = expected ?? (format && typeof value === 'string' ? formatProblem(format, value) : undefined)
  return problem && `${place}: expected ${problem}`
}

/** Returns the expected size if a value is too small or too large. */
function boundsProblem(field: Field, value: unknown): string | undefined {
  if (Array.isArray(value)) return outside(value.length, field.minItems, field.maxItems, ' items')
  if (typeof value === 'string') return outside([...value].length, field.minLength, field.maxLength, ' characters')
  return outside(Number(value), field.minimum, field.maximum, '')
}

function outside(size: number, least = size, most = size, unit: string): string | undefined {
  if (size < least) return `at least ${least}${unit}`
  return size > most ? `at most ${most}${unit}` : undefined
}

// Formats. Each check takes time linear in the length of the string.

const EMAIL = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*$/
const DATE = /^\d{4}-\d\d-\d\d$/
/** The time part of a date-time (RFC 3339), with leap seconds. */
const TIME = /^t(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i

const formats: Readonly<Record<string, readonly [expected: string, fits: (text: string) => boolean]>> = {
  email: ['an email address', (text) => EMAIL.test(text)],
  uri: ['an absolute URI', (text) => URL.canParse(text) && !/\s/.test(text)],
  date: ['a date (YYYY-MM-DD)', isDate],
  'date-time': ['a date and time (YYYY-MM-DDThh:mm:ssZ)', isDateTime],
}

/** Returns the expected format if a string does not match it. Returns undefined for formats that forms do not have. */
function formatProblem(format: string, text: string): string | undefined {
  const known = Object.hasOwn(formats, format) ? formats[format] : undefined
  return known === undefined || known[1](text) ? undefined : known[0]
}

function isDate(text: string): boolean {
  if (!DATE.test(text)) return false
  const date = new Date(text)
  // Some runtimes parse February 30 as March 2.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

function isDateTime(text: string): boolean {
  return isDate(text.slice(0, 10)) && TIME.test(text.slice(10))
}
