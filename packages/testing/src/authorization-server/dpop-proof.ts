/** Checks a proof of possession, but for what only its receiver knows: https://www.rfc-editor.org/rfc/rfc9449#section-4.3 */

import { calculateJwkThumbprint, EmbeddedJWK, errors, type JWK, jwtVerify } from 'jose'

export const PROOF_ALGORITHMS: readonly string[] = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'RS256']

/** Longer ones are refused unread. */
const MAX_LENGTH = 8_192

export type ProofReason =
  | 'proof_missing'
  | 'proof_malformed'
  | 'proof_type'
  | 'proof_algorithm'
  | 'proof_key'
  | 'proof_signature'
  | 'proof_claims'
  | 'proof_method'
  | 'proof_url'
  | 'proof_time'
  | 'proof_token'
  | 'proof_replayed'
  | 'proof_nonce'

/** Why a proof does not hold. */
export class ProofError extends Error {
  override readonly name = 'ProofError'
  readonly reason: ProofReason

  constructor(reason: ProofReason, message: string) {
    super(message)
    this.reason = reason
  }
}

export interface ProofExpectations {
  readonly method: string
  /** The URL that was asked, as the sender knows it; its query does not count. */
  readonly url: string
  /** The token that the proof is sent with; none at a token endpoint. */
  readonly accessToken?: string | undefined
  readonly algorithms?: readonly string[] | undefined
  /** How many seconds its `iat` may lie from now, before or after. */
  readonly maxAge: number
}

export interface Proof {
  /** The thumbprint of the key. */
  readonly jkt: string
  readonly jti: string
  /** In seconds since 1970. */
  readonly iat: number
  readonly nonce: string | undefined
}

export async function verifyProof(proof: string | null, expected: ProofExpectations): Promise<Proof> {
  if (proof === null) throw new ProofError('proof_missing', 'the DPoP header is missing')
  if (proof.length > MAX_LENGTH) throw new ProofError('proof_malformed', `the proof is longer than ${MAX_LENGTH}`)
  const algorithms = [...(expected.algorithms ?? PROOF_ALGORITHMS)]
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { algorithms, typ: 'dpop+jwt' }).catch(
    (error: unknown) => {
      throw problemOf(error)
    },
  )
  const { htm, htu, iat, jti, ath, nonce } = payload
  if (typeof jti !== 'string' || jti === '' || typeof iat !== 'number') {
    throw new ProofError('proof_claims', 'the proof lacks jti or iat')
  }
  if (htm !== expected.method) throw new ProofError('proof_method', 'htm is not the method of this request')
  if (typeof htu !== 'string' || bare(htu) === undefined || bare(htu) !== bare(expected.url)) {
    throw new ProofError('proof_url', 'htu is not the URL of this request')
  }
  if (Math.abs(Date.now() / 1000 - iat) > expected.maxAge) {
    throw new ProofError('proof_time', `iat is more than ${expected.maxAge} s from now`)
  }
  if (expected.accessToken !== undefined && ath !== (await tokenHash(expected.accessToken))) {
    throw new ProofError('proof_token', 'ath is not the hash of the token')
  }
  const jkt = await calculateJwkThumbprint(protectedHeader.jwk as JWK)
  return { jkt, jti, iat, nonce: typeof nonce === 'string' ? nonce : undefined }
}

/** The value of `ath`: what a proof says of the token that it is sent with. */
export async function tokenHash(token: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
  const text = String.fromCharCode(...new Uint8Array(digest))
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function bare(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { origin, pathname } = new URL(text)
  return origin + pathname
}

function problemOf(error: unknown): ProofError {
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return new ProofError('proof_algorithm', 'the algorithm of the proof is not taken here')
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new ProofError('proof_signature', 'the signature of the proof is wrong')
  }
  if (error instanceof errors.JWTExpired) return new ProofError('proof_time', 'the proof has expired')
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'typ') return new ProofError('proof_type', 'the proof is not of the type dpop+jwt')
    return new ProofError('proof_claims', `the claim ${error.claim} of the proof is wrong`)
  }
  if (error instanceof errors.JWSInvalid && error.message.includes('"jwk"')) {
    return new ProofError('proof_key', 'the proof must hold its public key, and only that')
  }
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) {
    return new ProofError('proof_malformed', 'the proof is no signed JWT, or there are several')
  }
  return new ProofError('proof_key', 'the key of the proof cannot be used')
}
