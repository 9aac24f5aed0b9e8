/** Follows references inside the document. What they lead to outside of it is refused: nothing is fetched. */

import { isolated } from './isolation.ts'
import { LoweredSchema, type Subschema } from './lowered-schema.ts'
import { resolveUri } from './names.ts'
import { keysOf, memberOf, placeIn } from './places.ts'
import { type Reading, type Reference, readSchema, refuse } from './reading.ts'
import { excerpt } from './schema-error.ts'

/** Ties every reference to what it leads to, and returns the table that they name it by. */
export function followReferences(document: unknown, reading: Reading): Record<string, Subschema> {
  const lookup: Record<string, Subschema> = Object.create(null)
  // Reading what a reference leads to can add references, which this loop comes to as well.
  for (const reference of reading.references) {
    const place = placeOfTarget(reference, reading)
    const target = reading.schemas.get(place) ?? readElsewhere(document, place, reference, reading)
    const key = `#${place}`
    lookup[key] = isolated(target, reading)
    const { from } = reference
    if (from.$ref === undefined) from.set('$ref', key)
    else from.set('allOf', [...(from.allOf ?? []), new LoweredSchema(reading.meter, { $ref: key })])
  }
  return lookup
}

function placeOfTarget({ keyword, text, base, place }: Reference, { names, dialect }: Reading): string {
  const shown = `"${excerpt(text, 200)}"`
  const [uri = '', ...rest] = text.split('#')
  const name = uri ? resolveUri(uri, base) : base
  const resource = name === undefined ? undefined : names.placeOf(name)
  if (resource === undefined) {
    const home = dialect.name === 'draft-07' ? 'definitions' : '$defs'
    throw refuse(
      'reference',
      place,
      `${shown} is outside of the schema, and nothing is fetched; put it under "${home}"`,
    )
  }
  const fragment = decodeFragment(rest.join('#'))
  const target = !fragment || fragment.startsWith('/') ? resource + fragment : names.placeOf(`${name}#${fragment}`)
  if (fragment === undefined || target === undefined) throw refuse('reference', place, `${shown} leads nowhere`)
  const candidates = keyword === '$dynamicRef' ? names.dynamicPlaces(fragment, target) : []
  if (candidates.length > 1) {
    throw refuse(
      'reference',
      place,
      `${shown} has ${candidates.length} dynamic anchors to choose from, and only 1 is supported`,
    )
  }
  return target
}

function decodeFragment(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return undefined
  }
}

/** Reads a schema that stands where the dialect has none, such as under a keyword that it does not know. */
function readElsewhere(document: unknown, target: string, { text, place }: Reference, reading: Reading): Subschema {
  let raw = document
  let at = ''
  let base = reading.names.baseAt(at) ?? ''
  for (const key of keysOf(target)) {
    raw = memberOf(raw, key)
    at = placeIn(at, key)
    base = reading.names.baseAt(at) ?? base
  }
  if (raw === undefined) throw refuse('reference', place, `"${excerpt(text, 200)}" leads nowhere`)
  return readSchema(raw, { place: target, base, around: [] }, reading)
}
