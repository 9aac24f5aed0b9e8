/**
 * Checks DPoP proofs: a request whose token is bound to a key must contain a proof of this key, and each proof is
 * accepted once (RFC 9449, section 7).
 */

import { type AuthInfo, principalOf, type ReplayStore, refuseUnknownOption } from '@mcpx/protocol'
import { createMemoryReplayStore } from '@mcpx/protocol/memory'
import { base64url, calculateJwkThumbprint, EmbeddedJWK, errors, type JWK, jwtVerify, SignJWT } from 'jose'
import { type Claims, type Credentials, CredentialsError } from './credentials.ts'

/** Options of proofs of possession. */
export interface DpopOptions {
  /** Whether tokens that are not bound to a key are refused. Default: false. */
  readonly required?: boolean | undefined
  /** The algorithms of proofs. Default: ES256, ES384, ES512, EdDSA, Ed25519, PS256, RS256. */
  readonly algorithms?: readonly string[] | undefined
  /** The largest difference between `iat` of a proof and the current time, in ms. Default: 300,000. */
  readonly maxAge?: number | undefined
  /** Stores the ids of used proofs. Default: `store.replays` of the server, or the memory of this process. */
  readonly replayStore?: ReplayStore | undefined
  /** Whether each proof must contain a nonce of this server. Default: false. */
  readonly nonces?: NonceOptions | boolean | undefined
  /** Returns the URL of a request, as the client has sent it. Default: the path of the request at the origin of the audience. */
  readonly url?: ((request: Request) => string) | undefined
}

const ALGORITHMS: readonly string[] = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'RS256']

/** The longest proof, in characters. Longer proofs are refused and not parsed. */
const MAX_PROOF_LENGTH = 8_192

/** This time is added to the storage time of an id, in ms, because clocks differ. */
const REPLAY_MARGIN = 1_000

export function createProofChecker(options: DpopOptions, resource: URL) {
  refuseUnknownOption('dpop', options, ['required', 'algorithms', 'maxAge', 'replayStore', 'nonces', 'url'])
  const { required = false, algorithms = ALGORITHMS, maxAge = 300_000, nonces: nonceOptions = false } = options
  const { replayStore = createMemoryReplayStore() } = options
  // Comparisons with NaN are false. With NaN, every proof would be accepted, and accepted again.
  if (!(maxAge > 0 && maxAge < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`dpop.maxAge: expected a positive number of ms, got ${maxAge}`)
  }
  const nonces = nonceOptions === false ? undefined : createNonces(nonceOptions === true ? {} : nonceOptions)
  const urlOf = options.url ?? (({ url }) => resource.origin + new URL(url).pathname)
  return {
    required,
    algorithms,
    nonces,
    /** Rejects with `CredentialsError` if the proof is missing or invalid, or belongs to another token. */
    async check({ scheme, token }: Credentials, auth: AuthInfo, request: Request): Promise<void> {
      const key = boundKey(auth.claims)
      if (scheme === 'Bearer') {
        if (key !== undefined) throw new CredentialsError('bound', 'the token is bound to a key: send it with a proof')
        if (required) throw new CredentialsError('unbound', 'only tokens that are bound to a key are accepted')
        return
      }
      if (key === undefined) {
        throw new CredentialsError('unbound', 'the token is not bound to a key: send it as a Bearer token')
      }
      const expected = { method: request.method, url: urlOf(request), accessToken: token, algorithms, maxAge }
      const proof = await verifyProof(request.headers.get('dpop'), expected)
      if (proof.thumbprint !== key) throw new CredentialsError('other_key', 'the token is bound to another key')
      if (nonces !== undefined && !(await nonces.accepts(proof.nonce))) {
        throw new CredentialsError('proof_nonce', 'the proof must contain the nonce of this response')
      }
      // Store the id after all checks, so that only clients with a valid token can store ids.
      const ttl = Math.max(proof.issuedAt + maxAge - Date.now(), 0) + REPLAY_MARGIN
      await useOnce(replayStore, `${key} ${proof.id}`, ttl, principalOf(auth))
    },
  }
}

/** Returns the thumbprint of the key that a token is bound to. Throws for a binding of another kind. */
export function boundKey(claims: Claims | undefined): string | undefined {
  const confirmation = claims?.cnf
  if (confirmation === undefined) return undefined
  const { jkt, ...others } = typeof confirmation === 'object' && confirmation !== null ? (confirmation as Claims) : {}
  if (typeof jkt === 'string' && Object.keys(others).length === 0) return jkt
  throw new CredentialsError('bound', 'the token is bound in a way that is not supported here')
}

async function useOnce(replayStore: ReplayStore, id: string, ttl: number, caller: string | undefined): Promise<void> {
  let isNew: boolean
  try {
    isNew = await replayStore.add(await sha256(id), ttl, caller)
  } catch (cause) {
    throw new CredentialsError('unavailable', 'proofs cannot be checked at the moment', { cause })
  }
  if (!isNew) throw new CredentialsError('proof_replayed', 'the proof was used before')
}

// Proofs

interface ExpectedProof {
  readonly method: string
  /** The URL of the request. Its query is ignored. */
  readonly url: string
  readonly accessToken: string
  readonly algorithms: readonly string[]
  /** The largest difference between `iat` and the current time, in ms. */
  readonly maxAge: number
}

/** Returns the thumbprint of the key, the id, the time in ms since 1970, and the nonce of a proof. */
async function verifyProof(proof: string | null, expected: ExpectedProof) {
  if (proof === null) throw new CredentialsError('proof_missing', 'the DPoP header is missing')
  if (proof.length > MAX_PROOF_LENGTH) {
    throw new CredentialsError('proof_malformed', `the proof is longer than ${MAX_PROOF_LENGTH} characters`)
  }
  const algorithms = [...expected.algorithms]
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { algorithms, typ: 'dpop+jwt' }).catch(
    (error: unknown) => {
      throw proofRefusal(error)
    },
  )
  const { htm, htu, iat, jti, ath, nonce } = payload
  if (typeof jti !== 'string' || jti === '' || typeof iat !== 'number') {
    throw new CredentialsError('proof_claims', 'the proof has no jti or iat')
  }
  if (htm !== expected.method) throw new CredentialsError('proof_method', 'htm is not the method of this request')
  if (typeof htu !== 'string' || !URL.canParse(htu) || withoutQuery(htu) !== withoutQuery(expected.url)) {
    throw new CredentialsError('proof_url', 'htu is not the URL of this request')
  }
  const issuedAt = iat * 1_000
  if (Math.abs(Date.now() - issuedAt) > expected.maxAge) {
    throw new CredentialsError('proof_time', `iat is more than ${expected.maxAge} ms from now`)
  }
  if (ath !== (await sha256(expected.accessToken))) {
    throw new CredentialsError('proof_token', 'ath is not the hash of the token')
  }
  const thumbprint = await calculateJwkThumbprint(protectedHeader.jwk as JWK)
  return { thumbprint, id: jti, issuedAt, nonce: typeof nonce === 'string' ? nonce : undefined }
}

function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** Returns the SHA-256 digest of a string, as base64url. */
export async function sha256(text: string): Promise<string> {
  return base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
}

function proofRefusal(error: unknown): CredentialsError {
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return new CredentialsError('proof_algorithm', 'the algorithm of the proof is not accepted')
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new CredentialsError('proof_signature', 'the signature of the proof is invalid')
  }
  if (error instanceof errors.JWTExpired) return new CredentialsError('proof_time', 'the proof has expired')
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'typ') return new CredentialsError('proof_type', 'the type of the proof is not dpop+jwt')
    return new CredentialsError('proof_claims', `the claim ${error.claim} of the proof is invalid`)
  }
  if (error instanceof errors.JWSInvalid && error.message.includes('"jwk"')) {
    return new CredentialsError('proof_key', 'the proof must contain its public key, and no private key')
  }
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) {
    return new CredentialsError('proof_malformed', 'the proof is not a signed JWT, or there are several')
  }
  return new CredentialsError('proof_key', 'the key of the proof cannot be used')
}

// Nonces

/** Options of nonces. They are signed and contain their expiry, so nothing is stored. */
export interface NonceOptions {
  /**
   * The key of signatures, of at least 32 characters. Processes that serve one endpoint share it. Default: a random one
   * for this process.
   */
  readonly secret?: string | undefined
  /** How long a nonce can be used, in ms. Default: 300,000. */
  readonly ttl?: number | undefined
}

const NONCE_TYPE = 'dpop-nonce'
const MIN_SECRET_LENGTH = 32

export function createNonces(options: NonceOptions) {
  refuseUnknownOption('dpop.nonces', options, ['secret', 'ttl'])
  const { secret, ttl = 300_000 } = options
  if (secret !== undefined && secret.length < MIN_SECRET_LENGTH) {
    const got = `got ${secret.length}`
    throw new RangeError(`dpop.nonces.secret: expected at least ${MIN_SECRET_LENGTH} characters, ${got}`)
  }
  let key = secret === undefined ? undefined : new TextEncoder().encode(secret)
  // Create the key on first use, because some runtimes have no random values while modules are loaded.
  const keyOf = () => {
    key ??= crypto.getRandomValues(new Uint8Array(MIN_SECRET_LENGTH))
    return key
  }
  return {
    issue: () =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'HS256', typ: NONCE_TYPE })
        .setExpirationTime(Math.floor((Date.now() + ttl) / 1_000))
        .sign(keyOf()),
    async accepts(nonce: string | undefined): Promise<boolean> {
      if (nonce === undefined) return false
      try {
        await jwtVerify(nonce, keyOf(), { algorithms: ['HS256'], typ: NONCE_TYPE, requiredClaims: ['exp'] })
        return true
      } catch {
        return false
      }
    },
  }
}
