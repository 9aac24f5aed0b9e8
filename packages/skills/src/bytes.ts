/** Hashes bytes, and converts bytes to and from the contents of resources. */

/** Returns the hash of bytes as `sha256:` and 64 hexadecimal digits. */
export async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Returns the string whose UTF-8 is exactly these bytes, a byte order mark included. Returns undefined for other bytes. */
export function toText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The number of arguments of one call of `String.fromCharCode`, which is limited. */
const CHUNK = 0x8000

export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK) {
    // Do not spread the bytes, which takes six times as long.
    binary += String.fromCharCode.apply(null, bytes.subarray(at, at + CHUNK) as unknown as number[])
  }
  return btoa(binary)
}

/** Decodes Base64. Returns undefined if the string is not Base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text)
    // Do not use `Uint8Array.from`, which takes ten times as long.
    const bytes = new Uint8Array(binary.length)
    for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at)
    return bytes
  } catch {
    return undefined
  }
}

/** MIME types and the extensions of their files. Other files are plain text, or bytes without a known type. */
const MIME_TYPES = `text/markdown md, text/html html, text/css css, text/csv csv, text/javascript js mjs, text/x-python py,
  text/x-typescript ts, application/json json, application/yaml yaml yml, application/xml xml, application/x-sh sh,
  application/pdf pdf, image/png png, image/jpeg jpg jpeg, image/gif gif, image/webp webp, image/svg+xml svg`
const mimeTypes = new Map(
  MIME_TYPES.split(',').flatMap((line) => {
    const [type = '', ...extensions] = line.trim().split(' ')
    return extensions.map((extension) => [extension, type])
  }),
)

/** Returns the MIME type of a file by its name, or undefined. */
export function mimeTypeOf(path: string): string | undefined {
  return mimeTypes.get(/[^./]+$/.exec(path)?.[0].toLowerCase() ?? '')
}
