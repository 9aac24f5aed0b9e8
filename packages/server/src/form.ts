/** Forms that a handler asks the user to fill in: made from a schema, and checked against it when they come back. */

import {
  check,
  type ElicitResult,
  type FormSchema,
  formProblem,
  type InputResponse,
  type JsonObject,
  RequestedSchema,
  type StandardSchema,
} from '@mcpx/protocol'
import { QuestionError } from './questions.ts'

/** What a form can say of a field; the rest of a library's JSON Schema is left out. */
const KEYWORDS = new Set(
  'type title description default enum enumNames oneOf minLength maxLength format minimum maximum items minItems maxItems'.split(
    ' ',
  ),
)
const FORMATS = new Set(['email', 'uri', 'date', 'date-time'])

const made = new WeakMap<object, RequestedSchema>()

/** The form for a schema. Throws for a schema that no form can show, naming the field. */
export function toRequestedSchema(schema: FormSchema): RequestedSchema {
  if (!isStandard(schema)) return schema
  const known = made.get(schema)
  if (known !== undefined) return known
  const { type, properties, required } = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  const fields = Object.entries((properties ?? {}) as Record<string, JsonObject>).map(([name, field]) => [
    name,
    toField(field),
  ])
  const form: JsonObject = { type, properties: Object.fromEntries(fields) }
  if (Array.isArray(required) && required.length > 0) form.required = required
  const checked = check(RequestedSchema, form, 'schema')
  if (checked.problem !== undefined) {
    throw new QuestionError(`A form can only ask for strings, numbers, booleans and choices. ${checked.problem}`)
  }
  made.set(schema, form as unknown as RequestedSchema)
  return form as unknown as RequestedSchema
}

function toField(field: JsonObject): JsonObject {
  const { anyOf } = field
  // Libraries write titled choices as a union of constants.
  const isChoice = Array.isArray(anyOf) && anyOf.every((option) => typeof option?.const === 'string')
  const source: JsonObject = isChoice
    ? {
        ...field,
        type: 'string',
        oneOf: anyOf.map((option) => ({ const: option.const, title: option.title ?? option.const })),
      }
    : field
  const kept = Object.entries(source).filter(([key, value]) => KEYWORDS.has(key) && !says(key, value))
  return Object.fromEntries(kept)
}

/** Bounds that only repeat what an integer is, and formats that a form does not have. */
function says(key: string, value: unknown): boolean {
  if (key === 'format') return !FORMATS.has(String(value))
  return (key === 'minimum' || key === 'maximum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER
}

/** The outcome that the handler gets, or why the user is to be asked again. */
export async function checkForm(
  schema: FormSchema,
  form: RequestedSchema,
  response: InputResponse,
): Promise<{ value: unknown } | { problem: string }> {
  const { action, content } = response as ElicitResult
  if (action !== 'accept') return { value: { action } }
  const problem = formProblem(form, content ?? {})
  if (problem !== undefined) return { problem }
  if (!isStandard(schema)) return { value: { action, content: content ?? {} } }
  const result = await schema['~standard'].validate(content ?? {})
  if (result.issues === undefined) return { value: { action, content: result.value } }
  return { problem: result.issues.map((issue) => issue.message).join('; ') }
}

function isStandard(schema: FormSchema): schema is StandardSchema {
  return '~standard' in schema
}
