/** Reads header values that carry any text: plain, or as base64 between `=?base64?` and `?=`. */

const PREFIX = '=?base64?'
const SUFFIX = '?='

/** The text that a header value stands for; nothing when it is marked as base64 and is none. */
export function decodeHeaderValue(value: string): string | undefined {
  const isMarked = value.length >= PREFIX.length + SUFFIX.length && value.startsWith(PREFIX) && value.endsWith(SUFFIX)
  if (!isMarked) return value
  const payload = value.slice(PREFIX.length, -SUFFIX.length)
  try {
    const binary = atob(payload)
    // `atob` also takes white space and missing padding; what it gives must be written as it was sent.
    if (btoa(binary) !== payload) return undefined
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
