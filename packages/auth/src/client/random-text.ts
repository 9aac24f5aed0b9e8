/** Texts that nobody can guess, and their digests, as URLs and headers carry them. */

export function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}

/** 256 bits: 43 characters, as many as a PKCE verifier needs. */
export function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)))
}

export async function sha256(text: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}
