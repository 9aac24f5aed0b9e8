/** Escapes characters that a terminal would interpret as commands, in text that comes from servers. */

/**
 * Control characters, except line breaks and tabs, and characters that change the direction of text. In a terminal,
 * they can move the cursor, change the clipboard or hide text.
 */
const HARMFUL = /(?!\n|\t|\r\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu
/** The harmful characters that `JSON.stringify` does not escape. */
const HARMFUL_IN_JSON = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/**
 * Replaces each character that a terminal would interpret as a command with a visible escape such as `\x1b`. Keeps line
 * breaks and tabs.
 */
export function plainText(text: string): string {
  return text.replace(HARMFUL, escapeCharacter)
}

/** Like `plainText`, but returns one line: replaces each sequence of white space with one space. */
export function plainLine(text: string): string {
  return plainText(text.replace(/\s+/g, ' ').trim())
}

/** Returns the text as a literal of JSON and TypeScript. */
export function quotedText(text: string): string {
  return plainJson(text)
}

/** Returns JSON in which characters that a terminal would interpret are escaped. The JSON parses to the same value. */
export function plainJson(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent).replace(HARMFUL_IN_JSON, (character) => `\\u${hexOf(character, 4)}`)
}

function escapeCharacter(character: string): string {
  return character.charCodeAt(0) < 0x100 ? `\\x${hexOf(character, 2)}` : `\\u${hexOf(character, 4)}`
}

function hexOf(character: string, length: number): string {
  return character.charCodeAt(0).toString(16).padStart(length, '0')
}
