/** Generates valid values of a JSON Schema, for the keywords that the official files use. */
import fc from 'fast-check'
import { type Definitions, type JsonSchema, resolveReference } from './official.ts'

const MAX_DEPTH = 6

/** Generates values of one definition. Numbers are small enough to be exact in JSON. */
export function samplesOf(definitions: Definitions, name: string): fc.Arbitrary<unknown> {
  return arbitraryOf(definitions, { $ref: name }, 0)
}

function arbitraryOf(definitions: Definitions, schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  const { $ref, anyOf, allOf, type } = schema
  const inner = (part: JsonSchema) => arbitraryOf(definitions, part, depth + 1)
  if ($ref !== undefined) return inner(resolveReference(definitions, $ref))
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (anyOf !== undefined) return oneOf(depth > MAX_DEPTH ? nonRecursive(anyOf) : anyOf, inner)
  if (allOf !== undefined)
    return fc.tuple(...allOf.map(inner)).map((parts) => Object.assign({}, ...(parts as object[])))
  if (Array.isArray(type))
    return oneOf(
      type.map((each) => ({ ...schema, type: each })),
      inner,
    )
  switch (type) {
    case 'object':
      return objectOf(definitions, schema, depth)
    case 'array':
      return fc.array(inner(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: depth > MAX_DEPTH ? 0 : 2,
      })
    case 'string':
      return stringOf(schema.format)
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -3, max: schema.maximum ?? 100 })
    case 'number':
      return fc.double({ min: schema.minimum ?? -9, max: schema.maximum ?? 9, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.constantFrom<unknown>(null, 0, 1.5, '', 'x', true, [], [null], {}, { a: [1] })
  }
}

function oneOf(
  schemas: readonly JsonSchema[],
  inner: (part: JsonSchema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  return fc.oneof(...schemas.map(inner))
}

/** Returns the alternatives that end a recursion. */
function nonRecursive(schemas: readonly JsonSchema[]): readonly JsonSchema[] {
  const flat = schemas.filter((schema) => schema.$ref === undefined && schema.type !== 'array')
  return flat.length > 0 ? flat : schemas.slice(0, 1)
}

function objectOf(definitions: Definitions, schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema
  const isDeep = depth > MAX_DEPTH
  const members = Object.entries(properties)
    .filter(([name]) => !isDeep || required.includes(name))
    .map(([name, part]) => [name, arbitraryOf(definitions, part, depth + 1)] as const)
  const known = fc.record(Object.fromEntries(members), { requiredKeys: required.filter((name) => name in properties) })
  if (additionalProperties === undefined || typeof additionalProperties === 'boolean' || isDeep) return known
  const others = fc.dictionary(
    fc.constantFrom('a', 'b-c', 'com.example/x'),
    arbitraryOf(definitions, additionalProperties, depth + 1),
    { maxKeys: 2 },
  )
  return fc.tuple(others, known).map(([rest, own]) => ({ ...rest, ...(own as object) }))
}

function stringOf(format: string | undefined): fc.Arbitrary<string> {
  switch (format) {
    case 'uri':
      return fc.constantFrom('file:///a.txt', 'https://example.com/a?b=c', 'urn:a:b', 'data:,')
    case 'uri-template':
      return fc.constantFrom('file:///{path}', 'https://example.com/{a}{?b}')
    case 'byte':
      return fc.constantFrom('', 'YQ==', 'aGVsbG8=')
    default:
      return fc.constantFrom('', 'a', 'text/plain', '2025-01-01T00:00:00Z', 'ä"\n', '__proto__')
  }
}
