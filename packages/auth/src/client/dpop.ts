/** Proofs of possession (RFC 9449): a fresh one for each request, with the nonce that its receiver wants. */

import type { JWK } from 'jose'
import { failure } from './failure.ts'
import { isObject } from './json-request.ts'
import { randomText, sha256 } from './random-text.ts'
import type { AuthStore } from './store.ts'

export interface DpopOptions {
  /** What proofs are signed with. Default: `ES256`. */
  readonly algorithm?: 'ES256' | 'ES384' | 'ES512' | 'EdDSA' | 'PS256' | 'RS256' | undefined
}

export interface Prover {
  readonly algorithm: string
  /** What an authorization server calls the key. */
  thumbprint(): Promise<string>
  proof(method: string, url: URL, accessToken?: string): Promise<string>
  /** Remembers the nonce that a response brings; true when it is another than before. */
  learn(url: URL, headers: Headers): boolean
}

interface Key {
  readonly privateKey: CryptoKey | Uint8Array
  readonly jwk: JWK
}

/** The key lies in the store, as tokens that are bound to it do. Nothing is loaded before the first proof. */
export function createProver({ algorithm = 'ES256' }: DpopOptions, store: AuthStore, name: string): Prover {
  const nonces = new Map<string, string>()
  let key: Promise<Key> | undefined

  function getKey(): Promise<Key> {
    key ??= loadKey(store, name, algorithm)
    key.catch(() => {
      key = undefined
    })
    return key
  }

  return {
    algorithm,
    async thumbprint() {
      const { calculateJwkThumbprint } = await import('jose')
      return calculateJwkThumbprint((await getKey()).jwk)
    },
    async proof(method, { origin, pathname }, accessToken) {
      const { SignJWT } = await import('jose')
      const { privateKey, jwk } = await getKey()
      const nonce = nonces.get(origin)
      const claims: Record<string, string> = { jti: randomText(), htm: method, htu: `${origin}${pathname}` }
      if (accessToken !== undefined) claims.ath = await sha256(accessToken)
      if (nonce !== undefined) claims.nonce = nonce
      const jwt = new SignJWT(claims).setProtectedHeader({ typ: 'dpop+jwt', alg: algorithm, jwk }).setIssuedAt()
      return jwt.sign(privateKey)
    },
    learn({ origin }, headers) {
      const nonce = headers.get('dpop-nonce')
      if (nonce === null || nonce.length > 1_024 || nonces.get(origin) === nonce) return false
      nonces.set(origin, nonce)
      return true
    },
  }
}

async function loadKey(store: AuthStore, name: string, algorithm: string): Promise<Key> {
  const get = async () => {
    const kept = await store.get(name)
    const jwk = isObject(kept) && kept.algorithm === algorithm ? kept.jwk : undefined
    return isObject(jwk) ? (jwk as JWK) : undefined
  }
  const make = async () => (await get()) ?? makeKey(store, name, algorithm)
  const kept = (await get()) ?? (await (store.lock?.(name, make) ?? make()))
  const { importJWK } = await import('jose')
  const { d: _d, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, oth: _oth, k: _k, ...jwk } = kept as Record<string, unknown>
  try {
    return { privateKey: (await importJWK(kept, algorithm)) as CryptoKey, jwk: jwk as JWK }
  } catch (cause) {
    const hint = 'Remove it from the store; what was bound to it is lost.'
    throw failure('storage', `The DPoP key ${name} is not usable`, { hint, cause })
  }
}

async function makeKey(store: AuthStore, name: string, algorithm: string): Promise<JWK> {
  const { exportJWK, generateKeyPair } = await import('jose')
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const jwk = await exportJWK(privateKey)
  await store.set(name, { algorithm, jwk })
  return jwk
}
