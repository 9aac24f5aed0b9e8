/** The signing keys of a server; they exist as long as it does. */

import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JSONWebKeySet, type JWK, SignJWT } from 'jose'

const ALGORITHM = 'ES256'

interface SigningKey {
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
}

export class SigningKeys {
  readonly #issuer: string
  /** The newest key is first. Created when it is first needed. */
  #keys: Promise<readonly SigningKey[]> | undefined

  constructor(issuer: string) {
    this.#issuer = issuer
  }

  async jwks(): Promise<JSONWebKeySet> {
    return { keys: (await this.#load()).map(({ publicJwk }) => publicJwk) }
  }

  /** Signs with a new key from now on; `drop` removes the old ones from `jwks`. */
  async rotate(drop: boolean): Promise<void> {
    const [key, old] = await Promise.all([createKey(), this.#load()])
    this.#keys = Promise.resolve(drop ? [key] : [key, ...old])
  }

  /**
   * Signs a JWT. The claims replace the standard ones; a claim that is undefined is left out.
   *
   * @param ttl Lifetime, in ms.
   */
  async sign(claims: Readonly<Record<string, unknown>>, typ: string, ttl: number): Promise<string> {
    const [{ kid, privateKey }] = (await this.#load()) as [SigningKey]
    const issuedAt = Math.floor(Date.now() / 1000)
    const standard = { iss: this.#issuer, jti: crypto.randomUUID(), iat: issuedAt, exp: issuedAt + ttl / 1000 }
    return new SignJWT({ ...standard, ...claims }).setProtectedHeader({ alg: ALGORITHM, kid, typ }).sign(privateKey)
  }

  #load(): Promise<readonly SigningKey[]> {
    this.#keys ??= createKey().then((key) => [key])
    return this.#keys
  }
}

async function createKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM)
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  return { kid, privateKey, publicJwk: { ...jwk, kid, alg: ALGORITHM, use: 'sig' } }
}
