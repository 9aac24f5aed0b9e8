/** Finds the arguments of a tool that are to travel as headers too, by what its input schema says of them. */

import { type JsonObject, quoted } from '@mcpx/protocol'

/** An argument that travels as a header too. */
export interface Annotation {
  readonly header: string
  readonly path: readonly string[]
}

const ANNOTATION = 'x-mcp-header'
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean']
/** A schema may nest this deep. */
const MOST_LEVELS = 64

/** Keywords that hold schemas by name, and those that hold one schema or a list. All others hold data. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])
const DIRECT = new Set(
  (
    'items prefixItems additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties ' +
    'propertyNames not if then else contentSchema allOf anyOf oneOf'
  ).split(' '),
)

/** The annotations of a tool's input, or what is wrong with one of them. */
export function readAnnotations(schema: JsonObject): readonly Annotation[] | string {
  const found = new Map<string, Annotation>()

  /** `path` is absent where a value cannot be told from the arguments alone. */
  function visit(node: unknown, path: readonly string[] | undefined, level: number): string | undefined {
    if (!isObject(node)) return undefined
    if (level > MOST_LEVELS) return `Its input schema nests deeper than ${MOST_LEVELS} levels`
    const problem = Object.hasOwn(node, ANNOTATION) ? add(node, path) : undefined
    return problem ?? firstProblem(childrenOf(node, path), (child) => visit(child.node, child.path, level + 1))
  }

  function add(node: JsonObject, path: readonly string[] | undefined): string | undefined {
    const header = node[ANNOTATION]
    const where = path?.length ? `Its argument ${quoted(path.join('.'))}` : 'A part of its input schema'
    if (!path?.length) return `${where} has ${ANNOTATION}, which belongs to properties within properties alone`
    if (typeof header !== 'string' || !TOKEN.test(header)) return `${where} has an ${ANNOTATION} that names no header`
    if (!TYPES.includes(node.type)) {
      return `${where} has ${ANNOTATION}, for which its type must be string, integer or boolean`
    }
    if (found.has(header.toLowerCase())) return `${where} has the ${ANNOTATION} of another argument`
    found.set(header.toLowerCase(), { header, path })
    return undefined
  }

  return visit(schema, [], 0) ?? [...found.values()]
}

interface Child {
  readonly node: unknown
  readonly path: readonly string[] | undefined
}

function childrenOf(node: JsonObject, path: readonly string[] | undefined): Child[] {
  return Object.entries(node).flatMap(([keyword, value]): Child[] => {
    if (NAMED.has(keyword) && isObject(value)) {
      const isPlain = keyword === 'properties' && path !== undefined
      return Object.entries(value).map(([name, each]) => ({ node: each, path: isPlain ? [...path, name] : undefined }))
    }
    if (!DIRECT.has(keyword)) return []
    return (Array.isArray(value) ? value : [value]).map((each) => ({ node: each, path: undefined }))
  })
}

function firstProblem<T>(items: readonly T[], look: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = look(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
