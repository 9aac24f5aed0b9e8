/** The keywords that are about texts. */

import { formats } from '../formats.ts'
import type { Family, Maker } from '../node.ts'
import { fail, type Run, spend } from '../run.ts'
import { excerpt } from '../schema-error.ts'
import { assertion, sized } from './assertions.ts'
import { size, text } from './shapes.ts'

const isText = (value: unknown) => typeof value === 'string'

/** In characters of Unicode. */
function lengthOf(value: string, run: Run): number {
  spend(run, value.length >> 3)
  return /[\ud800-\udfff]/.test(value) ? Array.from(value).length : value.length
}

const sayPattern = (pattern: string) => `expected text that matches /${excerpt(pattern, 100)}/`

const pattern: Maker<string> = (given, _, { limits, assertPatterns }) => {
  if (!assertPatterns) return undefined
  const expression = new RegExp(given, 'u')
  return (value, run) => {
    if (typeof value !== 'string') return true
    if (value.length > limits.maxPatternInput) return fail(run, String, 'is too long to be tested against a pattern', 0)
    spend(run, value.length >> 4)
    return expression.test(value) || fail(run, sayPattern, given, 0)
  }
}

const inFormat: Maker<string> = assertion(
  isText,
  (value, name, run) => {
    // Reading an expression takes engines a thousand times as long as reading a text by one.
    spend(run, name === 'regex' ? value.length * 16 : value.length >> 4)
    return formats[name]?.(value) ?? true
  },
  (name) => `expected text in the format ${name}`,
)

export const texts: Family = {
  pattern: [text, pattern],
  minLength: [size, sized('least', isText, lengthOf, 'character')],
  maxLength: [size, sized('most', isText, lengthOf, 'character')],
  // Formats that are not in the list are annotations.
  format: [
    text,
    (name: string, ...rest) =>
      rest[1].assertFormats && Object.hasOwn(formats, name) ? inFormat(name, ...rest) : undefined,
  ],
}
