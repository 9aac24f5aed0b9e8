/** Validates values with ajv and the official schemas, after some edits. */
import { Ajv, type AnySchemaObject } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formatsModule from 'ajv-formats'
import type { Definitions, JsonSchema, OfficialSchema } from './official.ts'

/** Changes a copy of the definitions in place. */
export type Edit = (definitions: Definitions) => void

/** Whether a value matches a definition. */
export type Validator = (definition: string, value: unknown) => boolean

/** Creates a validator. It compiles each definition on first use. */
export function createValidator(schema: OfficialSchema, edits: readonly Edit[]): Validator {
  const definitions = structuredClone(schema.definitions)
  for (const edit of edits) edit(definitions)
  const options = { strict: false, validateFormats: true, inlineRefs: false, logger: false } as const
  const ajv = schema.keyword === '$defs' ? new Ajv2020(options) : new Ajv(options)
  formatsModule.default(ajv)
  ajv.addSchema({ [schema.keyword]: definitions } as AnySchemaObject, 'official')
  return (definition, value) => {
    const validate = ajv.getSchema(`official#/${schema.keyword}/${definition}`)
    if (validate === undefined) throw new Error(`${schema.revision} has no ${definition}`)
    return validate(value) === true
  }
}

/**
 * Returns an edit that makes a schema reject unknown members, as a strict peer does. `isOpen` names the objects that
 * may have unknown members.
 */
export function rejectUnknownMembers(isOpen: (name: string) => boolean): Edit {
  return (definitions) => {
    const close = (schema: JsonSchema, name: string): void => {
      const { properties } = schema
      if (isOpen(name)) return
      if (properties !== undefined && schema.additionalProperties === undefined) schema.additionalProperties = false
      if (name === 'params') schema.properties = { ...properties, _meta: {} }
      for (const [member, part] of Object.entries(properties ?? {})) close(part, member)
      for (const part of schema.anyOf ?? []) close(part, name)
      for (const part of [schema.items, schema.additionalProperties]) if (typeof part === 'object') close(part, name)
    }
    for (const [name, schema] of Object.entries(definitions)) if (schema.allOf === undefined) close(schema, name)
  }
}
