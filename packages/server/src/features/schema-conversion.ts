/** Makes JSON Schema of a schema of any library, and finds the place that cannot be said in it. */

import type { JsonObject, StandardSchema } from '@mcpx/protocol'
import { RegistrationError } from './registration-error.ts'
import { isObject, placesIn } from './subschemas.ts'

/** Stands where a library could not say something. */
const UNSAID = '~unsaid'

/** A library that would leave out silently what it cannot say asks this first. What it can say in part is kept. */
function fallback({ code, base }: { readonly code?: unknown; readonly base?: unknown }): unknown {
  if (code === 'defaultValue') return undefined
  return isObject(base) && Object.keys(base).length > 0 ? base : { [UNSAID]: `${code} cannot be said in JSON Schema` }
}

/** For libraries that throw without a place: asked again with these, they leave a mark there instead. */
const marking = {
  fallback,
  unrepresentable: ({ message }: { readonly message?: unknown }) => ({ [UNSAID]: message }),
  errorMode: 'ignore',
  overrideSchema: ({ errors }: { readonly errors?: readonly unknown[] }) =>
    errors === undefined ? undefined : { [UNSAID]: errors[0] },
}

/** Throws a `RegistrationError` that begins with `where` and the path of what cannot be said. */
export function convertSchema(schema: StandardSchema, side: 'input' | 'output', where: string): JsonObject {
  const convert = (schema['~standard'].jsonSchema as StandardSchema['~standard']['jsonSchema'] | undefined)?.[side]
  if (typeof convert !== 'function') {
    const remedy = 'wrap it by z.toJSONSchema of zod/mini or toStandardJsonSchema of Valibot, or give a JSON Schema'
    throw new RegistrationError(`${where}: the schema (of ${schema['~standard'].vendor}) cannot show itself; ${remedy}`)
  }
  const converted = (libraryOptions: object): JsonObject => {
    const options = { target: 'draft-2020-12', libraryOptions } as const
    return copyJson(convert(options))
  }
  let json: JsonObject
  try {
    json = converted({ fallback })
  } catch (cause) {
    throw new RegistrationError(placed(() => converted(marking), where) ?? `${where}: ${reasonOf(cause)}`, { cause })
  }
  const unsaid = findUnsaid(json, where)
  if (unsaid !== undefined) throw new RegistrationError(unsaid)
  return json
}

/** A private copy, of nothing but JSON. Throws for what is circular. */
export function copyJson(schema: object): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject
}

function placed(convert: () => JsonObject, where: string): string | undefined {
  try {
    return findUnsaid(convert(), where)
  } catch {
    return undefined
  }
}

function findUnsaid(root: JsonObject, where: string): string | undefined {
  if (!JSON.stringify(root).includes(UNSAID)) return undefined
  for (const { schema, path } of placesIn(root, where)) {
    if (isObject(schema) && Object.hasOwn(schema, UNSAID)) return `${path}: ${schema[UNSAID]}`
  }
  return undefined
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
