/** Regular expressions in schemas, as ECMA-262 with the `u` flag reads them. */

import { attempt } from './attempt.ts'

/**
 * The pattern as the `u` flag takes it, or nothing when it is no regular expression. Published schemas often escape
 * punctuation that needs none (`\-`, `\@`), which the flag forbids; that is put right.
 */
export function strictPattern(pattern: string): string | undefined {
  if (isPattern(pattern)) return pattern
  const strict = pattern.replace(/\\([\s\S])/g, (found, escaped: string) =>
    /[ !"#%&',:;<=>@_`~-]/.test(escaped) ? `\\x${escaped.charCodeAt(0).toString(16)}` : found,
  )
  return isPattern(strict) ? strict : undefined
}

export function isPattern(pattern: string): boolean {
  return attempt(() => new RegExp(pattern, 'u')) !== undefined
}
