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
const KEYWORDS =
  /^(?:type|title|description|default|enum|enumNames|oneOf|format|minimum|maximum|items|(?:min|max)(?:Length|Items))$/
const FORMATS = /^(?:email|uri|date|date-time)$/

const made = new WeakMap<object, RequestedSchema>()

/** The form for a schema. Throws for a schema that no form can show, naming the field. */
export function toRequestedSchema(schema: FormSchema): RequestedSchema {
  if (!isStandard(schema)) return schema
  const known = made.get(schema)
  if (known !== undefined) return known
  const { type, properties = {}, required = [] } = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' })
  const fields = Object.entries(properties as Record<string, JsonObject>)
  const form: JsonObject = {
    type,
    properties: Object.fromEntries(fields.map(([name, field]) => [name, toField(field)])),
  }
  if (Array.isArray(required) && required.length > 0) form.required = required
  const { problem } = check(RequestedSchema, form, 'schema')
  if (problem !== undefined) {
    throw new QuestionError(`A form can only ask for strings, numbers, booleans and choices. ${problem}`)
  }
  made.set(schema, form as unknown as RequestedSchema)
  return form as unknown as RequestedSchema
}

function toField(field: JsonObject): JsonObject {
  const options = field.anyOf
  // Libraries write titled choices as a union of constants.
  const isChoice = Array.isArray(options) && options.every((option) => typeof option?.const === 'string')
  const oneOf = isChoice && options.map((option) => ({ const: option.const, title: option.title ?? option.const }))
  const source = oneOf ? { ...field, type: 'string', oneOf } : field
  return Object.fromEntries(Object.entries(source).filter(([key, value]) => KEYWORDS.test(key) && isSaid(key, value)))
}

/** Not bounds that only repeat what an integer is, nor formats that a form does not have. */
function isSaid(key: string, value: unknown): boolean {
  if (key === 'format') return FORMATS.test(String(value))
  return !/imum$/.test(key) || Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER
}

/** The outcome that the handler gets, or why the user is to be asked again. */
export async function checkForm(
  schema: FormSchema,
  form: RequestedSchema,
  response: InputResponse,
): Promise<{ value: unknown } | { problem: string }> {
  const { action, content = {} } = response as ElicitResult
  if (action !== 'accept') return { value: { action } }
  const problem = formProblem(form, content)
  if (problem !== undefined) return { problem }
  if (!isStandard(schema)) return { value: { action, content } }
  const result = await schema['~standard'].validate(content)
  if (result.issues === undefined) return { value: { action, content: result.value } }
  return { problem: result.issues.map((issue) => issue.message).join('; ') }
}

function isStandard(schema: FormSchema): schema is StandardSchema {
  return '~standard' in schema
}
