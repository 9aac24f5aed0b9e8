/** URI templates (RFC 6570): names a family of resources, writes the URI of one, and reads one back. */

import { expandPieces, type UriTemplateValues } from './uri-template/expansion.ts'
import { matchParts, type UriTemplateMatch } from './uri-template/matching.ts'
import { cutIntoParts } from './uri-template/slots.ts'
import { type Piece, parsePieces } from './uri-template/syntax.ts'
import { failIn } from './uri-template/template-error.ts'

export type { UriTemplateValue, UriTemplateValues } from './uri-template/expansion.ts'
export type { UriTemplateMatch } from './uri-template/matching.ts'
export { UriTemplateError } from './uri-template/template-error.ts'

/** A template that URIs are held against. */
export interface UriMatcher {
  /** The names of the variables, each once, in the order of their first appearance. */
  readonly variables: readonly string[]
  /**
   * Reads the values back out of a URI; nothing when the template cannot have made it. Never throws, takes time
   * linear in the length of the URI, and refuses a URI of more than 131,072 characters.
   *
   * - An exploded variable (`{/path*}`) gives a list; every other gives a text. Absent variables have no entry.
   * - `{id}` takes at least one character, and none of `/ ? #` (nor `&` behind a `?`). `{+path}` takes any.
   *   `{/path*}` takes any number of segments.
   * - Variables of `{?a,b}`, `{&a,b}` and `{;a,b}` are optional and come in any order. A name that the template does
   *   not have, or one that comes twice without being exploded, is no match.
   * - Where a text can be shared out in several ways, earlier variables take as much as they can.
   * - Values are percent-decoded, so `{id}` can hold a `/` that came as `%2F`. A broken escape is no match.
   *
   * Not every URI tells its values: an empty `{id}` or `{+path}` does not match; a list that is not exploded comes
   * back as one text with commas; an exploded map is not read; a value that contains the literal which follows it,
   * or, in `{+path}`, a finished escape, may come back different.
   */
  match(uri: string): UriTemplateMatch | undefined
}

export interface UriTemplate extends UriMatcher {
  /**
   * Writes a URI, as RFC 6570 says for all four levels. What has no value is left out.
   * Throws `UriTemplateError` for a value that is no text, list or map of texts, or no well-formed Unicode.
   */
  expand(values: UriTemplateValues): string
  /** The template as it was given. */
  toString(): string
}

export interface UriTemplateOptions {
  /**
   * Default: false. A template that is only expanded may have variables that a match could not tell apart, such as
   * `{a}{b}`; without this option parsing refuses it, with this option `match` throws the same error.
   */
  expandOnly?: boolean
}

/**
 * Reads a template of at most 4,096 characters and 32 variables, or throws a `UriTemplateError` that says what is
 * wrong and where.
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
 * The same without the code that writes URIs, for programs that should be small.
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
