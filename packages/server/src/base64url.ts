/** Bytes and texts in the Base64 of URLs, which needs no escapes anywhere. */

import { toBase64 } from './content.ts'

export function toBase64Url(plain: Uint8Array | string): string {
  const bytes = typeof plain === 'string' ? new TextEncoder().encode(plain) : plain
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Nothing for what is none, or is longer than that. */
export function fromBase64Url(text: string, longest: number): Uint8Array<ArrayBuffer> | undefined {
  if (text.length > longest || !/^[\w-]+=*$/.test(text)) return undefined
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}
