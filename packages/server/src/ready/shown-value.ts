/** Values as text that a human reads before saying yes: nothing in it is hidden, and it has an end. */

/** A text within the value is shown up to this many characters, so that it cannot push the rest out of sight. */
const LONGEST_TEXT = 300

/**
 * Characters that are not seen, or that change how others are: control, format, line and paragraph separators.
 * Their classes take long to look up: that is left to the first value.
 */
const unseen = () => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** JSON over several lines, of about `limit` characters at most. What is left out is counted. */
export function shownValue(value: unknown, limit: number): string {
  const text = JSON.stringify(value, (_, member) => (typeof member === 'string' ? shortened(member) : member), 2) ?? ''
  const lines = text.split('\n').map((line) => line.replace(unseen(), escaped))
  const shown = lines.join('\n')
  return shown.length <= limit ? shown : `${shown.slice(0, limit)}\n… (${shown.length - limit} more characters)`
}

function shortened(text: string): string {
  if (text.length <= LONGEST_TEXT) return text
  return `${text.slice(0, LONGEST_TEXT)}… (${text.length - LONGEST_TEXT} more characters)`
}

function escaped(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
}
