/** Cursors of lists: a text that says where a list goes on, for whoever wrote it. */

import { invalidParams } from '@mcpx/protocol'
import { fromBase64Url, toBase64Url } from './base64url.ts'

/** A cursor of this many characters at most; a longer one is refused unread. */
const MAX_LENGTH = 64 * 1024

export const writeCursor: (text: string) => string = toBase64Url

/** What the text of a cursor says, by the groups of the pattern. Throws `RpcError` for what was not written here. */
export function readCursor<Place>(
  cursor: string,
  pattern: RegExp,
  placeOf: (groups: (string | undefined)[]) => Place | undefined,
): Place {
  const bytes = fromBase64Url(cursor, MAX_LENGTH)
  try {
    const text = bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const groups = text === undefined ? null : pattern.exec(text)
    const place = groups && placeOf(groups)
    if (place) return place
  } catch {
    // No text: it did not come from here.
  }
  throw invalidParams('Invalid cursor: it does not belong to this list; ask again without one')
}
