/** Local references of a schema: `#`, and JSON pointers such as `#/$defs/node`. */
import { ANNOTATIONS } from './dialects.ts'
import { isObject, isString, type JsonObject, omit } from './json.ts'

/** A schema that is not a reference, and its location in the document. */
export interface Resolved {
  readonly schema: JsonObject
  /**
   * The references that were followed from the root of the document to this schema. If the schema contains one of them,
   * it is recursive.
   */
  readonly refs: readonly string[]
  /** The reference that could not be resolved, and the reason. */
  readonly failure?: { readonly ref: string; readonly reason: string } | undefined
}

/** How many references may be followed to reach a schema. */
const MAX_REFERENCES = 100

/** Keywords that do not describe the value, and have no meaning in another place of the document. */
const IDENTITY = [
  '$schema',
  '$id',
  'id',
  '$anchor',
  '$dynamicAnchor',
  '$comment',
  '$defs',
  'definitions',
  '$vocabulary',
]

/** Replaces `$ref` by its target. If the target is recursive or unknown, only removes `$ref`. */
export function resolveReference(schema: JsonObject, refs: readonly string[], document: JsonObject): Resolved {
  const { $ref: ref } = schema
  const rest = omit(schema, ['$ref', '$dynamicRef', '$recursiveRef', ...IDENTITY])
  if (!isString(ref)) {
    const dynamic = schema.$dynamicRef ?? schema.$recursiveRef
    return { schema: rest, refs, failure: dynamic === undefined ? undefined : unsupported(String(dynamic)) }
  }
  const target = findTarget(ref, document)
  if (target === undefined) return { schema: rest, refs, failure: unsupported(ref) }
  const isRecursive = refs.includes(ref)
  if (isRecursive || refs.length >= MAX_REFERENCES) {
    const { type, description } = target
    const outline = { ...(type !== undefined && { type }), ...(description !== undefined && { description }) }
    const reason = isRecursive ? 'is recursive' : 'is nested too deep'
    return { schema: { ...outline, ...rest }, refs, failure: { ref, reason } }
  }
  const inner = resolveReference(target, [...refs, ref], document)
  if (isDraft7(document)) return inner
  const constraints = omit(rest, ANNOTATIONS)
  const isAnnotated = Object.keys(constraints).length === 0
  return { ...inner, schema: isAnnotated ? { ...inner.schema, ...rest } : { allOf: [inner.schema, rest] } }
}

function unsupported(ref: string): { ref: string; reason: string } {
  return { ref, reason: 'names no schema of this document' }
}

/** Returns whether a schema is of draft-07, in which `$ref` replaces all keywords beside it. */
export function isDraft7({ $schema }: JsonObject): boolean {
  return isString($schema) && /draft-0[4-7]/.test($schema)
}

/**
 * Finds the target of a local reference. Returns undefined if the document has several resources, because a pointer
 * alone is then not enough.
 */
function findTarget(ref: string, document: JsonObject): JsonObject | undefined {
  if (ref === '#') return document
  if (!ref.startsWith('#/')) return undefined
  let target: unknown = document
  for (const part of ref.slice(2).split('/')) {
    const name = decodePointerPart(part)
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name)) return undefined
    target = (target as JsonObject)[name]
    if (isObject(target) && isString(target.$id) && !target.$id.startsWith('#')) return undefined
  }
  if (target === true) return {}
  return isObject(target) ? target : undefined
}

function decodePointerPart(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return part
  }
}
