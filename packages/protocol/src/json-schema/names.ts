/** By what names the schemas of a document can be referred to (JSON Schema core, section 8.2). */

import { attempt } from './attempt.ts'
import { type Dialect, dialectOf } from './dialects.ts'
import type { JsonObject } from './places.ts'
import { excerpt, refuse } from './schema-error.ts'

interface Named {
  readonly place: string
  /** Schemas are told apart as objects, for one object may stand in several places. */
  readonly raw: object
}

/** Every name in a document. */
export interface Names {
  /** By URI, and by URI, "#" and anchor. */
  readonly places: Map<string, Named>
  readonly dynamicAnchors: Map<string, Named[]>
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** Adds the names of a schema, and returns the URI that references in it are relative to. */
export function nameSchema(
  raw: JsonObject,
  place: string,
  outer: string,
  dialect: Dialect,
  { places, dynamicAnchors }: Names,
): string {
  const isOld = dialect === 'draft-07'
  const { $schema, $id, $ref, $anchor, $dynamicAnchor } = raw
  if (dialectOf($schema, place, dialect) !== dialect) {
    throw refuse('dialect', `${place}/$schema`, `must be left out or ${dialect}, as around it`)
  }
  const [uri, fragment] = isOld && $ref !== undefined ? [] : textOf($id).split('#')
  const base = uri ? resolveUri(uri, outer) : outer
  if (!base) throw refuse('malformed', `${place}/$id`, 'must be a URI')
  if (fragment && !isOld) throw refuse('malformed', `${place}/$id`, 'must have no fragment; use "$anchor"')
  const dynamic = isOld ? '' : textOf($dynamicAnchor)
  const anchors = [isOld ? fragment : textOf($anchor), dynamic].flatMap((anchor) => (anchor ? `${base}#${anchor}` : []))
  for (const name of uri || !place ? [base, ...anchors] : anchors) {
    const known = places.get(name)
    if (known && known.raw !== raw) {
      throw refuse('malformed', place, `has the same "$id" or anchor as #${excerpt(known.place, 200)}`)
    }
    if (!known) places.set(name, { place, raw })
  }
  const same = dynamicAnchors.get(dynamic) ?? []
  if (dynamic && same.every((other) => other.raw !== raw)) dynamicAnchors.set(dynamic, [...same, { place, raw }])
  return base
}

/** The absolute form of a URI reference, or nothing when it has none. */
export function resolveUri(reference: string, base: string): string | undefined {
  return attempt(() => new URL(reference, base).href)
}
