/** The keys that a development server signs with. They live as long as it does. */

import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JSONWebKeySet, type JWK, SignJWT } from 'jose'

const ALGORITHM = 'ES256'

interface SigningKey {
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
}

export interface SigningKeys {
  jwks(): Promise<JSONWebKeySet>
  /** Signs with a new key from now on. The old ones stay published, unless they are dropped. */
  rotate(drop: boolean): Promise<void>
  /** Claims that are given take the place of the usual ones; `undefined` leaves one out. */
  sign(claims: Readonly<Record<string, unknown>>, typ: string, ttl: number): Promise<string>
}

export function createSigningKeys(issuer: string): SigningKeys {
  let keys: Promise<readonly SigningKey[]> | undefined
  const all = () => {
    keys ??= createKey().then((key) => [key])
    return keys
  }
  return {
    jwks: async () => ({ keys: (await all()).map(({ publicJwk }) => publicJwk) }),
    async rotate(drop) {
      const [key, old] = await Promise.all([createKey(), all()])
      keys = Promise.resolve(drop ? [key] : [key, ...old])
    },
    async sign(claims, typ, ttl) {
      const { kid, privateKey } = (await all())[0] as SigningKey
      const issuedAt = Math.floor(Date.now() / 1000)
      const standard = { iss: issuer, jti: crypto.randomUUID(), iat: issuedAt, exp: issuedAt + ttl }
      return new SignJWT({ ...standard, ...claims }).setProtectedHeader({ alg: ALGORITHM, kid, typ }).sign(privateKey)
    },
  }
}

async function createKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM)
  const jwk = await exportJWK(publicKey)
  const kid = await calculateJwkThumbprint(jwk)
  return { kid, privateKey, publicJwk: { ...jwk, kid, alg: ALGORITHM, use: 'sig' } }
}
