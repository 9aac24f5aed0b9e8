/** Regular expressions in schemas, as ECMA-262 with the `u` flag reads them. */

/** What `\-` and the like stand for: escapes that only the older, laxer syntax knows. */
const laxEscape = /\\(?:([\\dDwWsSbBpPkuxcfnrtv0-9^$.*+?()[\]{}|/])|([ !"#%&',:;<=>@_`~-]))/g

/**
 * The pattern as the `u` flag takes it, or nothing when it is no regular expression. Published schemas often escape
 * punctuation that needs none (`\-`, `\@`), which the flag forbids; that is put right.
 */
export function strictPattern(pattern: string): string | undefined {
  if (compiles(pattern)) return pattern
  const strict = pattern.replace(laxEscape, (found, _known, lax: string | undefined) =>
    lax === undefined ? found : `\\x${lax.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return compiles(strict) ? strict : undefined
}

function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false
  }
}
