/** Finds the values that a template was written with, in time linear in the length of the URI. */

import type { Part, Slot } from './slots.ts'
import { canonical, type Variable } from './syntax.ts'

/** Longest URI that is matched, in characters, counted after what is not ASCII was percent-encoded. */
const MAX_URI_LENGTH = 131_072

export type UriTemplateMatch = Record<string, string | string[]>

/** What one variable of the template was found to hold: several texts when it is exploded. */
type Found = Map<Variable, string[]>

/** The values, or nothing when the URI cannot come from the template. Earlier slots take as much as they can. */
export function matchParts(parts: readonly Part[], uri: string): UriTemplateMatch | undefined {
  try {
    const text = uri.length > MAX_URI_LENGTH ? uri : canonical(uri)
    const [start = ''] = parts
    if (text.length > MAX_URI_LENGTH || (typeof start === 'string' && !text.startsWith(start))) return undefined
    return readSlots(parts, text)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

function readSlots(parts: readonly Part[], text: string): UriTemplateMatch | undefined {
  const found: Found = new Map()
  const rows = endsOf(parts, text)
  let at = 0
  let filled = false
  for (const [index, part] of parts.entries()) {
    const start = at
    at = rows[index]?.[start] ?? NONE
    if (at === NONE) return undefined
    if (typeof part === 'string') continue
    const wasFilled = filled
    filled = part.lead === '' || at > start
    if (!filled) continue
    if (part.lead === ',' && !wasFilled) return undefined
    if (!readSlot(part, text.slice(start + part.lead.length, at), found)) return undefined
  }
  return at === text.length ? valuesOf(found) : undefined
}

/** The rest of the text does not match. */
const NONE = -1

/**
 * A row for each part: where it ends at the latest, for each place in the text where it may begin, if the parts behind it
 * match the rest. Knowing that for every place is what makes trying again needless.
 */
function endsOf(parts: readonly Part[], text: string): Int32Array[] {
  const codes = new TextEncoder().encode(text)
  let next = new Int32Array(text.length + 1).fill(NONE)
  next[text.length] = text.length
  return parts
    .toReversed()
    .map((part) => {
      const row = new Int32Array(text.length + 1).fill(NONE)
      if (typeof part === 'string') fillLiteral(row, next, part, text)
      else fillSlot(row, next, part, codes)
      next = row
      return row
    })
    .reverse()
}

function fillLiteral(row: Int32Array, next: Int32Array, literal: string, text: string): void {
  for (let at = text.length - literal.length; at >= 0; at--) {
    const end = at + literal.length
    if (next[end] !== NONE && text.startsWith(literal, at)) row[at] = end
  }
}

function fillSlot(row: Int32Array, next: Int32Array, { lead, stops, empty }: Slot, codes: Uint8Array): void {
  const leadCode = lead.charCodeAt(0)
  /** Where a value that begins here can end at the latest. */
  let end = NONE
  for (let at = codes.length; at >= 0; at--) {
    const code = codes[at] ?? 0
    const absent = next[at] === NONE ? NONE : at
    const behindLead = code === leadCode ? end : NONE
    if (end === NONE || stops[code]) end = absent
    if (lead) row[at] = behindLead === NONE ? absent : behindLead
    else if (empty || end > at) row[at] = end
  }
}

/** Adds what the text of a slot says to what was found. False when the slot cannot hold that text. */
function readSlot({ expression, variables }: Slot, text: string, found: Found): boolean {
  const { named, separator } = expression
  for (const item of named || variables[0]?.explode ? text.split(separator) : [text]) {
    const [name, ...rest] = named ? item.split('=') : [variables[0]?.name, item]
    const variable = variables.find((candidate) => candidate.name === name)
    if (!variable) return false
    const texts = found.get(variable) ?? []
    if (texts.push(decodeURIComponent(rest.join('='))) > 1 && !variable.explode) return false
    found.set(variable, texts)
  }
  return true
}

/** The values by name. A variable that stands in a template twice has one value, and a prefix is a prefix of it. */
function valuesOf(found: Found): UriTemplateMatch | undefined {
  const values = new Map<string, string | string[]>()
  const length = ({ prefix }: Variable) => prefix || MAX_URI_LENGTH
  for (const [variable, texts] of [...found].sort(([a], [b]) => length(b) - length(a))) {
    const [text = ''] = texts
    const value = variable.explode ? texts : text
    const known = values.get(variable.name) ?? value
    const fits = variable.prefix ? known.slice(0, text.length) === text : String(known) === String(value)
    if (!fits || Array.from(text).length > length(variable)) return undefined
    values.set(variable.name, known)
  }
  return Object.fromEntries(values)
}
