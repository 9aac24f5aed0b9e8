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
  const codes = new TextEncoder().encode(text)
  const width = text.length + 1
  const rows = restMatches(parts, text, codes)
  const found: Found = new Map()
  let at = 0
  let filled = false
  for (const [index, part] of parts.entries()) {
    if (!rows[index * width + at]) return undefined
    if (typeof part === 'string') {
      at += part.length
      continue
    }
    const end = lastEnd(part, rows.subarray((index + 1) * width), codes, at)
    if (end >= 0 && part.lead === ',' && !filled) return undefined
    filled = end >= 0
    if (filled && !readSlot(part, text.slice(at + part.lead.length, end), found)) return undefined
    if (filled) at = end
  }
  return at === text.length ? valuesOf(found) : undefined
}

/**
 * One row for each part and one for the end: whether the rest of the parts matches the rest of the text, for each
 * place in it. Knowing that for every place is what makes trying again needless.
 */
function restMatches(parts: readonly Part[], text: string, codes: Uint8Array): Uint8Array {
  const width = text.length + 1
  const rows = new Uint8Array(width * (parts.length + 1))
  rows[rows.length - 1] = 1
  for (let index = parts.length - 1; index >= 0; index--) {
    const part = parts[index] ?? ''
    const row = rows.subarray(index * width, (index + 1) * width)
    const next = rows.subarray((index + 1) * width)
    if (typeof part === 'string') {
      for (let at = text.length - part.length; at >= 0; at--) {
        if (next[at + part.length] && text.startsWith(part, at)) row[at] = 1
      }
    } else {
      fillRow(row, next, part, codes)
    }
  }
  return rows
}

function fillRow(row: Uint8Array, next: Uint8Array, { lead, stops, empty }: Slot, codes: Uint8Array): void {
  const leadCode = lead.charCodeAt(0)
  /** Whether a value that begins one place further on can end where the rest matches. */
  let open = 0
  for (let at = codes.length; at >= 0; at--) {
    const code = codes[at] ?? 0
    const rest = next[at] ?? 0
    const more = stops[code] ? 0 : open
    if (lead) row[at] = code === leadCode ? rest | open : rest
    else row[at] = empty ? rest | more : more
    open = rest | more
  }
}

/** Where the longest text of the slot ends, or -1 when the slot is absent. */
function lastEnd({ lead, stops, empty }: Slot, next: Uint8Array, codes: Uint8Array, at: number): number {
  let end = -1
  if (lead && codes[at] !== lead.charCodeAt(0)) return end
  for (let here = at + lead.length; here <= codes.length; here++) {
    if (next[here] && (empty || here > at)) end = here
    if (stops[codes[here] ?? 0]) break
  }
  return end
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
