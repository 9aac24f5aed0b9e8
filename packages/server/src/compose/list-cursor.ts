/** Where a list that is made of the lists of several parts goes on: in which part, and where in it. */

import { invalidParams } from '@mcpx/protocol'
import { toBase64 } from '../content.ts'

export interface ListPosition {
  /** Of the part. */
  readonly index: number
  /** The part's own cursor; nothing for its first page. */
  readonly cursor: string | undefined
}

/** A cursor of this many characters at most; a longer one is refused unread. */
const MAX_LENGTH = 64 * 1024

export function writeCursor({ index, cursor }: ListPosition): string {
  const text = cursor === undefined ? `${index}` : `${index}:${cursor}`
  return toBase64(new TextEncoder().encode(text)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Throws `RpcError` for what was not written here, or for other parts. */
export function readCursor(text: string, parts: number): ListPosition {
  const [, index, cursor] = /^(0|[1-9]\d{0,5})(?::(.*))?$/s.exec(plainText(text) ?? '') ?? []
  if (index !== undefined && Number(index) < parts) return { index: Number(index), cursor }
  throw invalidParams('Invalid cursor: it does not belong to this list; ask again without one')
}

function plainText(text: string): string | undefined {
  if (text.length > MAX_LENGTH || !/^[\w-]+$/.test(text)) return undefined
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (byte) => byte.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
