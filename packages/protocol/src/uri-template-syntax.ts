/** Parses URI templates into literals and expressions (RFC 6570, section 2). */

/**
 * The error of a URI template that is malformed, exceeds a limit or is ambiguous for matching, or of a value that
 * cannot be expanded.
 */
export class UriTemplateError extends Error {
  override readonly name = 'UriTemplateError'
  /** The template. */
  readonly template: string
  /** The position in the template, in UTF-16 code units from 0. */
  readonly position: number

  constructor(template: string, position: number, problem: string) {
    const shown = template.length > 80 ? `${template.slice(0, 80)}...` : template
    super(`URI template "${shown}", position ${position}: ${problem}`)
    this.template = template
    this.position = position
  }
}

/** Creates the error for a problem at a position in a template. */
export type Fail = (position: number, problem: string) => UriTemplateError

export function failIn(template: string): Fail {
  return (position, problem) => new UriTemplateError(template, position, problem)
}

/** The longest template, in UTF-16 code units. */
const MAX_TEMPLATE_LENGTH = 4096
/** The largest number of variables in one template, counting repeated ones. */
const MAX_VARIABLES = 32

export interface Variable {
  readonly name: string
  readonly explode: boolean
  /** The number of characters of the value that are used. 0 means all. */
  readonly prefix: number
}

/** The variables between two braces, and the rules to expand them (RFC 6570, appendix A). */
export interface Expression {
  /** The string before the first variable. */
  readonly first: string
  /** The string between two variables. */
  readonly separator: string
  /** Whether each value follows its name. */
  readonly named: boolean
  /** Whether reserved characters stay unencoded. */
  readonly reserved: boolean
  readonly variables: readonly Variable[]
  /** The position in the template. */
  readonly position: number
}

/** A percent-encoded literal, or an expression. */
export type Piece = string | Expression

/** Matches a literal or an expression. The closing brace of an expression may be missing. */
const piece = /\{([^}]*)\}?|[^{]+/g
const notLiteral = /%(?![\dA-F]{2})|[^%!#$&-;=?-[\]_a-z~\u{a0}-\u{d7ff}\u{e000}-\u{10ffff}]/iu
const variableSpec = /^((?:\w|%[\dA-Fa-f]{2})(?:\.?(?:\w|%[\dA-Fa-f]{2}))*)(?:(\*)|:([1-9]\d{0,3}))?$/

/** Normalizes a URI, so that equivalent URIs are equal: escapes become upper-case, and invalid characters are encoded. */
export function canonical(uri: string): string {
  return uri.replace(/%[\da-f]{2}|[^!-~]/giu, (found) =>
    found[0] === '%' ? found.toUpperCase() : encodeURIComponent(found),
  )
}

export function parsePieces(template: string): Piece[] {
  const fail = failIn(template)
  if (template.length > MAX_TEMPLATE_LENGTH) {
    throw fail(MAX_TEMPLATE_LENGTH, `a template has at most ${MAX_TEMPLATE_LENGTH} characters`)
  }
  let count = 0
  return Array.from(template.matchAll(piece), ({ 0: text, 1: inner, index }) => {
    if (inner === undefined) return parseLiteral(text, index, fail)
    if (!text.endsWith('}')) throw fail(index, '"{" is never closed')
    const expression = parseExpression(inner, index, fail)
    count += expression.variables.length
    if (count > MAX_VARIABLES) throw fail(index, `a template has at most ${MAX_VARIABLES} variables`)
    return expression
  })
}

function parseLiteral(text: string, position: number, fail: Fail): string {
  const wrong = text.search(notLiteral)
  if (wrong >= 0) throw fail(position + wrong, `"${text[wrong]}" is not allowed here; percent-encode it`)
  return canonical(text)
}

function parseExpression(text: string, position: number, fail: Fail): Expression {
  const [sign = ''] = /^[=,!@|+#./;?&]?/.exec(text) ?? []
  if (sign && '=,!@|'.includes(sign)) throw fail(position + 1, `the operator "${sign}" is reserved`)
  let at = position + 1 + sign.length
  const variables = text
    .slice(sign.length)
    .split(',')
    .map((spec): Variable => {
      const [, name, star, prefix = 0] = variableSpec.exec(spec) ?? []
      if (!name) throw fail(at, `"${spec}" is not a variable such as id, path* or id:3`)
      at += spec.length + 1
      return { name, explode: star !== undefined, prefix: Number(prefix) }
    })
  const reserved = sign === '+' || sign === '#'
  return {
    first: sign === '+' ? '' : sign,
    separator: sign === '?' ? '&' : !sign || reserved ? ',' : sign,
    named: sign !== '' && ';?&'.includes(sign),
    reserved,
    variables,
    position,
  }
}
