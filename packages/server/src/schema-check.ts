/** Checks values with schemas of libraries. Each refinement runs once, and its failure is returned. */

import { type AnySchema, isObject, type SchemaResult, type StandardSchema } from '@mcpx/protocol'

export type StandardCheck = (value: unknown) => SchemaResult<unknown> | Promise<SchemaResult<unknown>>

interface ZodSchema extends StandardSchema {
  readonly _zod: { readonly def: object }
  safeParseAsync(value: unknown): Promise<
    | { readonly success: true; readonly data: unknown }
    | {
        readonly success: false
        readonly error: { readonly issues: readonly { message: string; path: PropertyKey[] }[] }
      }
  >
}

/**
 * Creates the check of a schema. zod schemas that contain functions of the author run asynchronously. Reason:
 * `validate` of zod first runs synchronously. It starts an asynchronous refinement, drops its promise, and starts the
 * refinement again; if the dropped promise rejects, the process ends. Other schemas run synchronously, which takes a
 * third of the time.
 */
export function createStandardCheck(schema: StandardSchema): StandardCheck {
  const standard = schema['~standard']
  if (!isZod(schema) || !holdsFunction(schema, new Set())) return (value) => standard.validate(value)
  return async (value) => {
    const result = await schema.safeParseAsync(value)
    return result.success ? { value: result.data } : { issues: result.error.issues }
  }
}

function isZod(schema: StandardSchema): schema is ZodSchema {
  return '_zod' in schema && typeof (schema as Partial<ZodSchema>).safeParseAsync === 'function'
}

/** The members of zod definitions whose functions are synchronous: messages, conditions, `trim()` and others, `catch()`. */
const SYNCHRONOUS = ['error', 'when', 'tx', 'catchValue']

/** Returns whether a zod definition contains a function that may be asynchronous. */
function holdsFunction(part: unknown, seen: Set<unknown>): boolean {
  if (typeof part === 'function') return true
  if (typeof part !== 'object' || part === null || seen.has(part)) return false
  seen.add(part)
  const members: object = isSchema(part) ? part._zod.def : part
  return Object.entries(members).some(([key, member]) => !SYNCHRONOUS.includes(key) && holdsFunction(member, seen))
}

function isSchema(part: object): part is ZodSchema {
  return '_zod' in part
}

/** The members of a zod definition that contain an inner schema for the same value. For a pipe, this is its input. */
const INNER = ['innerType', 'in'] as const

/**
 * Returns whether a property of a zod object converts every value, as `z.coerce.number()` does. Its JSON Schema shows only
 * the type that it converts to.
 */
export function coerces(schema: AnySchema | undefined, property: string): boolean {
  const { shape } = definitionOf(schema)
  let definition = definitionOf(isObject(shape) && Object.hasOwn(shape, property) ? shape[property] : undefined)
  for (;;) {
    if (definition.coerce === true) return true
    const inner = INNER.find((member) => definition[member] !== undefined)
    if (inner === undefined) return false
    definition = definitionOf(definition[inner])
  }
}

function definitionOf(schema: unknown): Readonly<Record<string, unknown>> {
  return isObject(schema) && isSchema(schema) ? (schema._zod.def as Record<string, unknown>) : {}
}
