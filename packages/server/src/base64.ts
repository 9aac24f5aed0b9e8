/** Base64 and Base64url without dependencies on a runtime. */

/** The number of arguments of one call of `String.fromCharCode`, which is limited. */
const CHUNK = 0x8000

export function toBase64(bytes: Uint8Array): string {
  const native = (bytes as { toBase64?: () => string }).toBase64
  if (native !== undefined) return native.call(bytes)
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(binary)
}

export function toBase64Url(plain: Uint8Array | string): string {
  const bytes = typeof plain === 'string' ? new TextEncoder().encode(plain) : plain
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Returns undefined for invalid or too long input. */
export function fromBase64Url(text: string, maxLength: number): Uint8Array<ArrayBuffer> | undefined {
  if (text.length > maxLength || !/^[\w-]+=*$/.test(text)) return undefined
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}
