/** Reads a URI template into literals and expressions (RFC 6570, section 2). */

import { type Fail, failIn } from './template-error.ts'

/** Longest template, in UTF-16 code units. */
const MAX_TEMPLATE_LENGTH = 4096
/** Most variables in one template, counted with repetition. */
const MAX_VARIABLES = 32

export interface Variable {
  readonly name: string
  readonly explode: boolean
  /** How many characters of the value are used; 0 for all of them. */
  readonly prefix: number
}

/** Variables, and how they are written (RFC 6570, appendix A). */
export interface Expression {
  /** What is written before the first. */
  readonly first: string
  /** What is written between two. */
  readonly separator: string
  /** Whether each is written behind its name. */
  readonly named: boolean
  /** Whether reserved characters stay as they are. */
  readonly reserved: boolean
  readonly variables: readonly Variable[]
  /** Where in the template. */
  readonly position: number
}

/** A literal, already percent-encoded where a URI needs it, or an expression. */
export type Piece = string | Expression

const notLiteral = /%(?![\dA-F]{2})|[^%!#$&-;=?-[\]_a-z~\u{a0}-\u{d7ff}\u{e000}-\u{10ffff}]/iu
const variableSpec = /^((?:\w|%[\dA-Fa-f]{2})(?:\.?(?:\w|%[\dA-Fa-f]{2}))*)(\*|:([1-9]\d{0,3}))?$/

/** Upper-cases escapes and encodes what a URI may not hold, so that two spellings of one URI are one text. */
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
  const pieces: Piece[] = []
  let count = 0
  for (let at = 0; at < template.length; ) {
    const open = template.indexOf('{', at)
    const literal = template.slice(at, open < 0 ? undefined : open)
    const wrong = literal.search(notLiteral)
    if (wrong >= 0) throw fail(at + wrong, `"${literal[wrong]}" is not allowed here; percent-encode it`)
    if (literal) pieces.push(canonical(literal))
    if (open < 0) break
    const close = template.indexOf('}', open)
    if (close < 0) throw fail(open, '"{" is never closed')
    const expression = parseExpression(template.slice(open + 1, close), open, fail)
    count += expression.variables.length
    if (count > MAX_VARIABLES) throw fail(open, `a template has at most ${MAX_VARIABLES} variables`)
    pieces.push(expression)
    at = close + 1
  }
  return pieces
}

function parseExpression(text: string, position: number, fail: Fail): Expression {
  const [sign = ''] = /^[=,!@|+#./;?&]?/.exec(text) ?? []
  let at = position + 1 + sign.length
  if (sign && '=,!@|'.includes(sign)) throw fail(position + 1, `the operator "${sign}" is reserved`)
  const variables = text
    .slice(sign.length)
    .split(',')
    .map((spec): Variable => {
      const [, name, modifier, prefix] = variableSpec.exec(spec) ?? []
      if (!name) throw fail(at, `"${spec}" is not a variable such as id, path* or id:3`)
      at += spec.length + 1
      return { name, explode: modifier === '*', prefix: Number(prefix ?? 0) }
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
