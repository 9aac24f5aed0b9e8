/** Follows references inside the document. What they lead to outside of it is refused: nothing is fetched. */

import { attempt } from './attempt.ts'
import { resolveUri } from './names.ts'
import type { Node } from './node.ts'
import { keysOf, memberOf, placeIn } from './places.ts'
import { type Reading, type Reference, readSchema } from './reading.ts'
import { excerpt, refuse } from './schema-error.ts'

/** Ties every reference to what it leads to. */
export function followReferences(document: unknown, reading: Reading): void {
  // Reading what a reference leads to can add references, which this loop comes to as well.
  for (const reference of reading.references) {
    const place = placeOfTarget(reference, reading)
    const target = reading.nodes.get(place) ?? readElsewhere(document, place, reference, reading)
    reference.from.$ref = [...(reference.from.$ref ?? []), target]
  }
}

const refuseReference = ({ place, text }: Reference, problem: string) =>
  refuse('reference', place, `"${excerpt(text, 200)}" ${problem}`)

function placeOfTarget(reference: Reference, { names, dialect }: Reading): string {
  const { keyword, text, base } = reference
  const [uri, ...rest] = text.split('#')
  const name = uri ? resolveUri(uri, base) : base
  const resource = names.places.get(name ?? '')?.place
  if (resource === undefined) {
    const home = dialect === 'draft-07' ? 'definitions' : '$defs'
    throw refuseReference(reference, `is outside of the schema, and nothing is fetched; put it under "${home}"`)
  }
  const fragment = attempt(() => decodeURIComponent(rest.join('#')))
  const pointer = fragment === '' || fragment?.startsWith('/')
  const target = pointer ? resource + fragment : names.places.get(`${name}#${fragment}`)?.place
  if (fragment === undefined || target === undefined) throw refuseReference(reference, 'leads nowhere')
  const candidates = (keyword === '$dynamicRef' && names.dynamicAnchors.get(fragment)) || []
  if (candidates.length > 1 && candidates.some(({ place }) => place === target)) {
    const choice = `has ${candidates.length} dynamic anchors to choose from, and only 1 is supported`
    throw refuseReference(reference, choice)
  }
  return target
}

/** Reads a schema that stands where the dialect has none, such as under a keyword that it does not know. */
function readElsewhere(document: unknown, target: string, reference: Reference, reading: Reading): Node {
  let raw = document
  let at = ''
  let base = reading.nodes.get(at)?.base ?? ''
  for (const key of keysOf(target)) {
    raw = memberOf(raw, key)
    at = placeIn(at, key)
    base = reading.nodes.get(at)?.base || base
  }
  if (raw === undefined) throw refuseReference(reference, 'leads nowhere')
  return readSchema(raw, { place: target, base, around: [], keyword: '' }, reading)
}
