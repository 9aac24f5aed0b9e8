/** Expands URI templates (RFC 6570), and reads the values from URIs that match. */

import {
  canonical,
  type Expression,
  type Fail,
  failIn,
  type Piece,
  parsePieces,
  UriTemplateError,
  type Variable,
} from './uri-template-syntax.ts'

export { UriTemplateError }

/** A template that matches URIs. */
export interface UriMatcher {
  /** The distinct names of the variables, in the order of their first occurrence. */
  readonly variables: readonly string[]
  /**
   * Returns the values in a URI, or undefined if it does not match. Never throws. Takes time linear in the length of
   * the URI. A URI of more than 131,072 characters does not match.
   *
   * - The value of an exploded variable (`{/path*}`) is a list; all other values are strings. Missing variables have no
   * entry.
   * - `{id}` matches at least one character, and none of `/ ? #` (nor `&` behind a `?`). `{+path}` matches any.
   * `{/path*}` matches any number of segments.
   * - Variables of `{?a,b}`, `{&a,b}` and `{;a,b}` are optional and may be in any order. A name that is not in the
   * template does not match. A name that occurs twice matches only if its variable is exploded.
   * - If a URI matches in several ways, earlier variables match as much as possible.
   * - Values are percent-decoded. A broken escape does not match.
   * - A value cannot leave its path segment: `{id}`, `{/id}`, `{.id}` and `{;id}` do not match a value that is `.` or
   * `..`, or that contains `/`, `\` or NUL after decoding. `{?id}` and `{&id}` do not match NUL. `{+path}` and
   * `{#path}` match any of these, so resolve such a value and check the resulting path before you open a file.
   *
   * Some values cannot be read back from the expanded URI. An empty `{id}` or `{+path}` and an exploded map do not
   * match. A list that is not exploded becomes one string with commas. A value may differ if it contains the literal
   * that follows it, or, in `{+path}`, a complete escape.
   */
  match(uri: string): UriTemplateMatch | undefined
}

export interface UriTemplate extends UriMatcher {
  /**
   * Expands the template to a URI. Supports all four levels of RFC 6570. Variables without a value are omitted. Throws
   * `UriTemplateError` for a value that is not a string, number, boolean, list or map, or not well-formed Unicode.
   */
  expand(values: UriTemplateValues): string
  /** The template, unchanged. */
  toString(): string
}

/** Options of `parseUriTemplate`. */
export interface UriTemplateOptions {
  /**
   * Whether the template may be ambiguous for matching, such as `{a}{b}`. If true, `match` throws; if false, parsing
   * throws. Default: false.
   */
  expandOnly?: boolean
}

/**
 * Parses a template of at most 4,096 characters and 32 variables. Throws a `UriTemplateError` that names the problem and
 * its position.
 *
 * ```ts
 * const notes = parseUriTemplate('note://{user}/{id}{?rev}')
 * notes.expand({ user: 'ada', id: 7 })     // 'note://ada/7'
 * notes.match('note://ada/7?rev=2')        // { user: 'ada', id: '7', rev: '2' }
 * ```
 */
export function parseUriTemplate(template: string, options: UriTemplateOptions = {}): UriTemplate {
  const pieces = parsePieces(template)
  return {
    ...createMatcher(template, pieces, options.expandOnly),
    expand: (values) => expandPieces(pieces, values, failIn(template)),
    toString: () => template,
  }
}

/**
 * Parses a template for matching only.
 *
 * ```ts
 * createUriMatcher('note://{id}').match('note://7') // { id: '7' }
 * ```
 */
export function createUriMatcher(template: string): UriMatcher {
  return createMatcher(template, parsePieces(template))
}

function createMatcher(template: string, pieces: readonly Piece[], isLate = false): UriMatcher {
  const names = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : piece.variables.map(({ name }) => name)))
  const cut = () => cutIntoParts(pieces, failIn(template))
  let parts = isLate ? undefined : cut()
  return {
    variables: [...new Set(names)],
    match(uri) {
      parts ??= cut()
      return matchParts(parts, uri)
    },
  }
}

// Expansion (RFC 6570, section 3)

type Scalar = string | number | boolean

/** A string, a list or a map. Undefined, null, and an empty list or map omit the variable. */
export type UriTemplateValue =
  | Scalar
  | null
  | undefined
  | readonly (Scalar | null | undefined)[]
  | { readonly [key: string]: Scalar | null | undefined }

/** The values of the variables of a template. */
export interface UriTemplateValues {
  readonly [variable: string]: UriTemplateValue
}

/** An encoded value with its optional key. */
type Item = readonly [key: string | undefined, text: string]

const toEncode = /[^\w.~-]/gu
const toEncodeInReserved = /%[\dA-Fa-f]{2}|[^\w.~:/?#[\]@!$&'()*+,;=-]/gu

/** Percent-encodes a string. The pattern for reserved values also matches complete escapes, which are kept. */
function encode(text: string, pattern: RegExp): string {
  return text.replace(pattern, (found) => {
    const encoded = found.length > 2 ? found : encodeURIComponent(found)
    return encoded.length > 1 ? encoded : `%${found.charCodeAt(0).toString(16).toUpperCase()}`
  })
}

function expandPieces(pieces: readonly Piece[], values: UriTemplateValues, fail: Fail): string {
  const expand = (expression: Expression) => {
    const { first, separator, named } = expression
    const written = expression.variables.flatMap((variable) => {
      const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined
      const refuse = (problem: string) => fail(expression.position, `the value of "${variable.name}" ${problem}`)
      return itemsOf(expression, variable, value, refuse).map(([key, text]) =>
        key === undefined ? text : text || !named || separator === '&' ? `${key}=${text}` : key,
      )
    })
    return written.length > 0 ? first + written.join(separator) : ''
  }
  return pieces.map((piece) => (typeof piece === 'string' ? piece : expand(piece))).join('')
}

function itemsOf(
  { named, reserved }: Expression,
  { name, explode, prefix }: Variable,
  value: UriTemplateValue,
  refuse: (problem: string) => Error,
): Item[] {
  const write = (scalar: unknown) => {
    if (!['string', 'number', 'boolean'].includes(typeof scalar))
      throw refuse(`contains ${typeof scalar}; expected a string, number or boolean`)
    const text = String(scalar)
    try {
      return encode(
        prefix ? Array.from(text).slice(0, prefix).join('') : text,
        reserved ? toEncodeInReserved : toEncode,
      )
    } catch {
      throw refuse('is not well-formed Unicode')
    }
  }
  const key = named ? name : undefined
  if (value == null) return []
  if (typeof value !== 'object') return [[key, write(value)]]
  if (prefix) throw refuse('is a list or a map, which cannot have a prefix')
  const items = Object.entries(value)
    .filter(([, item]) => item != null)
    .map(([itemKey, item]): Item => [Array.isArray(value) ? undefined : write(itemKey), write(item)])
  if (explode) return items.map(([itemKey, text]) => [itemKey ?? key, text])
  const texts = items.flat().filter((text) => text !== undefined)
  return texts.length > 0 ? [[key, texts.join(',')]] : []
}

// Parts: for matching, a template is split into literals, and slots for values

/** The place of one unnamed variable, or of all named variables of an expression. */
interface Slot {
  /** The first character of the slot. A slot with a lead is optional. */
  readonly lead: string
  /** The ASCII codes that the slot cannot contain. */
  readonly stops: Uint8Array
  /** Whether the slot may be empty. */
  readonly empty: boolean
  readonly expression: Expression
  readonly variables: Variable[]
}

type Part = string | Slot

function cutIntoParts(pieces: readonly Piece[], fail: Fail): readonly Part[] {
  const parts: Part[] = []
  let ends = '/?#'
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      parts.push(piece)
      if (piece.includes('?')) ends = '/?#&'
      continue
    }
    for (const slot of slotsOf(piece, ends)) {
      const last = parts.at(-1)
      if (typeof last !== 'object') parts.push(slot)
      else if (piece.named && last.expression.named && last.expression.separator === piece.separator)
        last.variables.push(...slot.variables)
      else if (endsAt(last, slot.lead)) parts.push(slot)
      else {
        const names = `"${last.variables.at(-1)?.name}" and "${slot.variables[0]?.name}"`
        throw fail(piece.position, `${names} cannot be distinguished when matching; put a literal between them`)
      }
    }
  }
  return parts
}

function slotsOf(expression: Expression, ends: string): Slot[] {
  const { first, separator, named, variables } = expression
  const groups = named ? [variables] : variables.map((variable) => [variable])
  return groups.map((group, index) => ({
    lead: index ? separator : first,
    stops: codesOf(stopsOf(expression, group[0] as Variable, ends)),
    empty: variables.length > 1 || first !== '',
    expression,
    variables: [...group],
  }))
}

function stopsOf({ first, separator, named, reserved, variables }: Expression, { explode }: Variable, ends: string) {
  if (named) return first === ';' ? '/?#' : '#'
  const own = reserved ? '' : ends
  if (explode) return own.replace(separator, '')
  return variables.length > 1 || separator !== ',' ? own + separator : own
}

function codesOf(characters: string): Uint8Array {
  const codes = new Uint8Array(128)
  for (const character of characters) codes[character.charCodeAt(0)] = 1
  return codes
}

/**
 * Adds the first character of the next slot to the stops of this one, unless the value of this slot may contain that
 * character.
 */
function endsAt(slot: Slot, lead: string): boolean {
  if (!lead) return false
  if (slot.stops[lead.charCodeAt(0)]) return true
  const { reserved, separator } = slot.expression
  if (lead === separator || (reserved && '/.'.includes(lead))) return false
  slot.stops[lead.charCodeAt(0)] = 1
  return true
}

// Matching, in time linear in the length of the URI

/** The longest URI that is matched, in characters after percent-encoding. */
const MAX_URI_LENGTH = 131_072

/** The values of the variables in a URI. */
export type UriTemplateMatch = Record<string, string | string[]>

/** The values that were found for each variable. An exploded variable may have several. */
type Found = Map<Variable, string[]>

/** Matches a URI. Returns the values, or undefined if it does not match. Earlier slots match as much as possible. */
function matchParts(parts: readonly Part[], uri: string): UriTemplateMatch | undefined {
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

/** The entry for a position where the rest of the URI does not match. */
const NONE = -1

/**
 * Returns a row for each part. For each start position of the part, the row contains the last end position from which the
 * following parts match the rest of the URI. Matching then needs no backtracking.
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
  /** The last possible end of a value that starts at the current position. */
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

/** Adds the values in a slot to `found`. Returns false if the slot cannot contain the string. */
function readSlot({ expression, variables }: Slot, text: string, found: Found): boolean {
  const { named, separator } = expression
  for (const item of named || variables[0]?.explode ? text.split(separator) : [text]) {
    const [name, ...rest] = named ? item.split('=') : [variables[0]?.name, item]
    const variable = variables.find((candidate) => candidate.name === name)
    if (!variable) return false
    const texts = found.get(variable) ?? []
    const value = decodeURIComponent(rest.join('='))
    if (!isConfined(value, expression)) return false
    if (texts.push(value) > 1 && !variable.explode) return false
    found.set(variable, texts)
  }
  return true
}

/** Returns whether a value stays within its segment, so that `..%2F..%2Fetc%2Fpasswd` does not match `{name}`. */
function isConfined(value: string, { first, reserved }: Expression): boolean {
  if (reserved) return true
  if (value.includes('\0')) return false
  return first === '?' || first === '&' || !/[/\\]|^\.\.?$/.test(value)
}

/**
 * Returns the values by name. If a variable occurs twice, the values must be equal, or one must be the declared prefix
 * of the other.
 */
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
