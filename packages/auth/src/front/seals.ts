/** Encrypts values that clients and browsers store for this server. They can neither read nor change these values. */

import { base64url, EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose'

/** The purpose of a sealed value. It can be opened only for the same purpose. */
type Purpose = 'client' | 'consent' | 'code' | 'access' | 'refresh' | 'upstream'

/** The fewest characters of a secret. */
const MIN_SECRET = 32

/** The longest sealed value, in characters. Longer values are not decrypted. */
const MAX_SEALED = 65_536

/** Seals values with AES-GCM. Each purpose has a separate key, which is derived from a secret. */
export class Seals {
  readonly #secrets: readonly string[]
  readonly #context: string
  /** The keys by purpose. A key is derived when it is first needed. */
  readonly #keys = new Map<Purpose, Promise<CryptoKey[]>>()

  /**
   * @param secrets the first secret encrypts; all secrets decrypt
   * @param context distinguishes servers that have the same secrets
   */
  constructor(secrets: readonly string[], context: string) {
    const isUsable = Array.isArray(secrets) && secrets.length > 0
    const isLong = (secret: unknown) => typeof secret === 'string' && secret.length >= MIN_SECRET
    if (!isUsable || !secrets.every(isLong)) {
      throw new RangeError(`secrets: expected one or more random strings, each of at least ${MIN_SECRET} characters`)
    }
    this.#secrets = secrets
    this.#context = context
  }

  /** @param ttl in ms. Default: the value does not expire. */
  async seal(purpose: Purpose, value: object, ttl?: number): Promise<string> {
    const [key] = (await this.#keysFor(purpose)) as [CryptoKey]
    const jwt = new EncryptJWT({ ...value }).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    if (ttl !== undefined) jwt.setExpirationTime(new Date(Date.now() + ttl))
    return jwt.encrypt(key)
  }

  /**
   * Decrypts a value. Returns undefined if it was changed, has expired, or was sealed for another purpose or with other
   * secrets.
   */
  async open<T extends object>(purpose: Purpose, sealed: string): Promise<(T & JWTPayload) | undefined> {
    if (sealed.length > MAX_SEALED) return undefined
    for (const key of await this.#keysFor(purpose)) {
      try {
        const options = { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] }
        return (await jwtDecrypt<T>(sealed, key, options)).payload
      } catch {
        // Try the next secret.
      }
    }
    return undefined
  }

  /** Returns the accepted secrets of a client, the current secret first. They are derived from the client id. */
  async clientSecrets(clientId: string): Promise<string[]> {
    const bits = this.#secrets.map((secret) => deriveBits(secret, `${this.#context} secret of ${clientId}`))
    return (await Promise.all(bits)).map((each) => base64url.encode(new Uint8Array(each)))
  }

  #keysFor(purpose: Purpose): Promise<CryptoKey[]> {
    let keys = this.#keys.get(purpose)
    if (keys === undefined) {
      keys = Promise.all(this.#secrets.map((secret) => this.#deriveKey(secret, purpose)))
      this.#keys.set(purpose, keys)
    }
    return keys
  }

  async #deriveKey(secret: string, purpose: Purpose): Promise<CryptoKey> {
    const bits = await deriveBits(secret, `${this.#context} key for ${purpose}`)
    return crypto.subtle.importKey('raw', bits, 'AES-GCM', false, ['encrypt', 'decrypt'])
  }
}

async function deriveBits(secret: string, info: string): Promise<ArrayBuffer> {
  const encode = (text: string) => new TextEncoder().encode(text)
  const material = await crypto.subtle.importKey('raw', encode(secret), 'HKDF', false, ['deriveBits'])
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt: encode('mcpx oauth front'), info: encode(info) }
  return crypto.subtle.deriveBits(algorithm, material, 256)
}

/** Returns an unguessable id. */
export function randomId(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(32)))
}
