/** Checks values with the schemas of libraries, so that each refinement runs once and its failure reaches the caller. */

import type { SchemaResult, StandardSchema } from '@mcpx/protocol'

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
 * `validate` of zod tries without promises first: it starts an asynchronous refinement, drops its promise and starts it
 * again. A dropped promise that rejects ends the process. So a schema of zod with functions of its author is run
 * asynchronously from the start. Others stay synchronous, which takes a third of the time for large values.
 */
export function createStandardCheck(schema: StandardSchema): StandardCheck {
  if (!isZod(schema) || !holdsFunction(schema, new Set())) return schema['~standard'].validate
  return async (value) => {
    const result = await schema.safeParseAsync(value)
    return result.success ? { value: result.data } : { issues: result.error.issues }
  }
}

function isZod(schema: StandardSchema): schema is ZodSchema {
  return '_zod' in schema && typeof (schema as Partial<ZodSchema>).safeParseAsync === 'function'
}

/** Functions that zod does not wait for: of messages, conditions, `trim()` and the like, and `catch()`. */
const SYNCHRONOUS = ['error', 'when', 'tx', 'catchValue']

/** Whether a definition of zod holds a function that may be asynchronous. */
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
