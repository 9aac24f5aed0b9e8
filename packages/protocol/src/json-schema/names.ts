/** By what names the schemas of a document can be referred to (JSON Schema core, section 8.2). */

import { type Dialect, dialectOf } from './dialects.ts'
import { excerpt, JsonSchemaError } from './schema-error.ts'

interface Named {
  readonly place: string
  readonly raw: object
}

/** Every name in a document. Schemas are told apart as objects, for one object may stand in several places. */
export class Names {
  /** By URI, and by URI, "#" and anchor. */
  readonly #places = new Map<string, Named>()
  readonly #dynamicAnchors = new Map<string, Named[]>()
  /** The URI that references in the schema at a place are relative to. */
  readonly #bases = new Map<string, string>()

  /** Adds the names of a schema, and returns the URI that references in it are relative to. */
  add(raw: Readonly<Record<string, unknown>>, place: string, outer: string, dialect: Dialect): string {
    if (dialectOf(raw.$schema, `#${place}`, dialect) !== dialect) {
      throw new JsonSchemaError('dialect', `#${place}/$schema`, `must be left out or ${dialect.name}, as around it`)
    }
    const old = dialect.name === 'draft-07'
    const id = typeof raw.$id === 'string' && !(old && raw.$ref !== undefined) ? raw.$id : ''
    const [uri = '', fragment = ''] = id.split('#')
    const base = uri ? resolveUri(uri, outer) : outer
    if (base === undefined) throw new JsonSchemaError('malformed', `#${place}/$id`, 'must be a URI')
    if (fragment && !old)
      throw new JsonSchemaError('malformed', `#${place}/$id`, 'must have no fragment; use "$anchor"')
    this.#bases.set(place, base)
    if (uri || place === '') this.#name(base, place, raw)
    if (fragment) this.#name(`${base}#${fragment}`, place, raw)
    if (old) return base
    for (const anchor of [raw.$anchor, raw.$dynamicAnchor]) {
      if (typeof anchor === 'string') this.#name(`${base}#${anchor}`, place, raw)
    }
    if (typeof raw.$dynamicAnchor === 'string') {
      const same = this.#dynamicAnchors.get(raw.$dynamicAnchor) ?? []
      if (!same.some((other) => other.raw === raw)) same.push({ place, raw })
      this.#dynamicAnchors.set(raw.$dynamicAnchor, same)
    }
    return base
  }

  #name(name: string, place: string, raw: object): void {
    const known = this.#places.get(name)
    if (known && known.raw !== raw) {
      throw new JsonSchemaError(
        'malformed',
        `#${place}`,
        `has the same "$id" or anchor as #${excerpt(known.place, 200)}`,
      )
    }
    this.#places.set(name, known ?? { place, raw })
  }

  /** The place that has a URI, or a URI and an anchor. */
  placeOf(name: string): string | undefined {
    return this.#places.get(name)?.place
  }

  /** What references at a place are relative to, when a schema was read there. */
  baseAt(place: string): string | undefined {
    return this.#bases.get(place)
  }

  /** The places of a dynamic anchor, when the schema at this place has it. */
  dynamicPlaces(anchor: string, place: string): readonly string[] {
    const places = (this.#dynamicAnchors.get(anchor) ?? []).map((named) => named.place)
    return places.includes(place) ? places : []
  }
}

/** The absolute form of a URI reference, or nothing when it has none. */
export function resolveUri(reference: string, base: string): string | undefined {
  try {
    return new URL(reference, base).href
  } catch {
    return undefined
  }
}
