/** Writes values into a template (RFC 6570, section 3). */

import type { Expression, Piece, Variable } from './syntax.ts'
import type { Fail } from './template-error.ts'

type Scalar = string | number | boolean

/** A text, a list or a map. Nothing, and an empty list or map, leave the variable out. */
export type UriTemplateValue =
  | Scalar
  | null
  | undefined
  | readonly (Scalar | null | undefined)[]
  | { readonly [key: string]: Scalar | null | undefined }

export interface UriTemplateValues {
  readonly [variable: string]: UriTemplateValue
}

/** A key, where one is written before the text, and the encoded text. */
type Item = readonly [key: string | undefined, text: string]

const toEncode = /[^\w.~-]/gu
const toEncodeInReserved = /%[\dA-Fa-f]{2}|[^\w.~:/?#[\]@!$&'()*+,;=-]/gu

/** Percent-encodes a text. A finished escape, which only the pattern for reserved values finds, stays. */
function encode(text: string, pattern: RegExp): string {
  return text.replace(pattern, (found) => {
    const encoded = found.length > 2 ? found : encodeURIComponent(found)
    return encoded.length > 1 ? encoded : `%${found.charCodeAt(0).toString(16).toUpperCase()}`
  })
}

export function expandPieces(pieces: readonly Piece[], values: UriTemplateValues, fail: Fail): string {
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
    if (!['string', 'number', 'boolean'].includes(typeof scalar)) throw refuse(`holds ${typeof scalar}, not text`)
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
  if (prefix) throw refuse('is a list or a map, of which no prefix can be taken')
  const items = Object.entries(value)
    .filter(([, item]) => item != null)
    .map(([itemKey, item]): Item => [Array.isArray(value) ? undefined : write(itemKey), write(item)])
  if (explode) return items.map(([itemKey, text]) => [itemKey ?? key, text])
  const texts = items.flat().filter((text) => text !== undefined)
  return texts.length > 0 ? [[key, texts.join(',')]] : []
}
