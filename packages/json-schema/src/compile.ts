/** Compiles a schema: reads it, resolves its references, rejects endless recursion, and builds the checks. */

import { appendToPointer, getMember, type JsonSchema, parsePointer, tryOrUndefined } from './json.ts'
import type { CompileOptions, SchemaNode } from './keyword.ts'
import { buildCheck } from './keyword-table.ts'
import { truncate } from './messages.ts'
import { dialectOf, type Reference, readSchema, resolveUri, type SchemaDocument } from './read-schema.ts'
import { type JsonSchemaError, schemaError } from './schema-error.ts'

/** The base URI of a document without `$id`. It differs from the URI of every other document. */
const DEFAULT_BASE = 'json-schema:///'

export function compileSchema(schema: JsonSchema, options: CompileOptions): SchemaNode {
  const document: SchemaDocument = {
    options,
    dialect: dialectOf(getMember(schema, '$schema'), ''),
    nodes: new Map(),
    targets: new Map(),
    dynamicAnchors: new Map(),
    references: [],
  }
  const root = readSchema(schema, { pointer: '', base: DEFAULT_BASE, ancestors: [], keyword: '' }, document)
  resolveReferences(schema, document)
  assertFiniteRecursion(document)
  for (const node of document.nodes.values()) if (node.base) node.check = buildCheck(node.keywords, options)
  return root
}

/** Sets the target node of each reference. Fetches nothing. */
function resolveReferences(schema: unknown, document: SchemaDocument): void {
  // Reading a target may append references to the list, so this loop visits them too.
  for (const reference of document.references) {
    const pointer = findTarget(reference, document)
    const target = document.nodes.get(pointer) ?? readTarget(schema, pointer, reference, document)
    reference.from.$ref = [...(reference.from.$ref ?? []), target]
  }
}

function referenceError({ pointer, text }: Reference, problem: string): JsonSchemaError {
  return schemaError('reference', pointer, `"${truncate(text, 200)}" ${problem}`)
}

/** Returns the JSON pointer that a reference leads to. */
function findTarget(reference: Reference, { targets, dynamicAnchors, dialect }: SchemaDocument): string {
  const { keyword, text, base } = reference
  const [uri, ...rest] = text.split('#')
  const absoluteUri = uri ? resolveUri(uri, base) : base
  const resource = targets.get(absoluteUri ?? '')?.pointer
  if (resource === undefined) {
    const definitions = dialect === 'draft-07' ? 'definitions' : '$defs'
    const problem = `is outside of the schema, and nothing is fetched; put it under "${definitions}"`
    throw referenceError(reference, problem)
  }
  const fragment = tryOrUndefined(() => decodeURIComponent(rest.join('#')))
  const isPointer = fragment === '' || fragment?.startsWith('/')
  const target = isPointer ? resource + fragment : targets.get(`${absoluteUri}#${fragment}`)?.pointer
  if (fragment === undefined || target === undefined) throw referenceError(reference, 'leads nowhere')
  const candidates = (keyword === '$dynamicRef' && dynamicAnchors.get(fragment)) || []
  if (candidates.length > 1 && candidates.some(({ pointer }) => pointer === target)) {
    const problem = `has ${candidates.length} dynamic anchors to choose from, and only 1 is supported`
    throw referenceError(reference, problem)
  }
  return target
}

/** Reads the target of a reference that is not a regular subschema, for example under an unknown keyword. */
function readTarget(schema: unknown, target: string, reference: Reference, document: SchemaDocument): SchemaNode {
  let raw = schema
  let pointer = ''
  let base = document.nodes.get(pointer)?.base ?? ''
  const keys = parsePointer(target)
  const { maxDepth } = document.options.limits
  if (keys.length > maxDepth) {
    const problem = `a reference below an ignored keyword leads at most ${maxDepth} levels deep (maxDepth)`
    throw schemaError('limit', reference.pointer, problem)
  }
  for (const key of keys) {
    raw = getMember(raw, key)
    pointer = appendToPointer(pointer, key)
    base = document.nodes.get(pointer)?.base || base
  }
  if (raw === undefined) throw referenceError(reference, 'leads nowhere')
  return readSchema(raw, { pointer: target, base, ancestors: [], keyword: '' }, document)
}

const IN_PLACE_KEYWORDS = '$ref allOf anyOf oneOf not if then else dependentSchemas dependencies'.split(' ')

/** Returns the subschemas that a schema applies to the same value. */
function nodesInPlace({ keywords }: SchemaNode): SchemaNode[] {
  const held: readonly unknown[] = IN_PLACE_KEYWORDS.flatMap((keyword) => keywords[keyword])
  // The flattened maps also contain member names and lists of names, which are strings.
  return held.flat(2).filter((item): item is SchemaNode => typeof item === 'object')
}

/** Throws for a schema that applies itself to the same value, or a chain of more than `maxDepth` schemas. */
function assertFiniteRecursion({ options, nodes }: SchemaDocument): void {
  const { maxDepth } = options.limits
  /** The length of the longest chain of schemas from each node. 0 while it is being computed. */
  const heights = new Map<SchemaNode, number>()
  const measure = (node: SchemaNode, pointer: string, depth: number): number => {
    const known = heights.get(node)
    if (known === 0) {
      const problem = 'leads back to itself without going into the value, so checking would not end'
      throw schemaError('recursion', pointer, problem)
    }
    if (depth + (known ?? 1) > maxDepth) {
      const problem = `more than ${maxDepth} schemas in a row apply to the same value (maxDepth)`
      throw schemaError('limit', pointer, problem)
    }
    if (known) return known
    heights.set(node, 0)
    let height = 1
    for (const next of nodesInPlace(node)) height = Math.max(height, 1 + measure(next, pointer, depth + 1))
    heights.set(node, height)
    return height
  }
  for (const [pointer, node] of nodes) measure(node, pointer, 0)
}
