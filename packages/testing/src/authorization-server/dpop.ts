/** Checks DPoP proofs: https://www.rfc-editor.org/rfc/rfc9449#section-4.3 */

import { calculateJwkThumbprint, EmbeddedJWK, type JWK, jwtVerify } from 'jose'
import { OAuthError } from './http.ts'
import { endpointUrl, type ServerState, useOnce } from './state.ts'

export const PROOF_ALGORITHMS: readonly string[] = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'PS256', 'RS256']

/** Limit of a proof, in characters. */
const MAX_PROOF = 8_192

/** How far the time of a proof may differ from now, in seconds. */
const MAX_SKEW = 300

/** Returns the thumbprint of the key that a token request proves to have, or undefined without a proof. */
export async function proveKey(state: ServerState, request: Request): Promise<string | undefined> {
  const { dpop = 'optional' } = state.options
  const proof = request.headers.get('dpop')
  if (proof === null && dpop === 'optional') return undefined
  if (proof === null) throw invalidProof('expected a DPoP header, got none')
  if (proof.length > MAX_PROOF) throw invalidProof(`expected at most ${MAX_PROOF} characters, got ${proof.length}`)
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
    typ: 'dpop+jwt',
    algorithms: [...PROOF_ALGORITHMS],
    requiredClaims: ['jti', 'iat'],
  }).catch((error: Error) => {
    throw invalidProof(error.message)
  })
  const { htm, htu, iat = 0, jti, nonce } = payload
  const url = endpointUrl(state, 'token')
  if (htm !== 'POST' || withoutQuery(htu) !== withoutQuery(url)) throw invalidProof(`expected htm POST and htu ${url}`)
  if (Math.abs(Date.now() / 1000 - iat) > MAX_SKEW) throw invalidProof(`expected iat within ${MAX_SKEW} s of now`)
  state.nonce ??= crypto.randomUUID()
  if (dpop === 'nonce' && nonce !== state.nonce) {
    const headers = { 'dpop-nonce': state.nonce }
    throw new OAuthError('use_dpop_nonce', 'The proof must contain the nonce of the DPoP-Nonce header', 400, headers)
  }
  useOnce(state, `proof ${jti}`, () => invalidProof('the proof was used before'))
  return calculateJwkThumbprint(protectedHeader.jwk as JWK)
}

function invalidProof(problem: string): OAuthError {
  return new OAuthError('invalid_dpop_proof', `DPoP: ${problem}`)
}

function withoutQuery(htu: unknown): string | undefined {
  if (typeof htu !== 'string' || !URL.canParse(htu)) return undefined
  const { origin, pathname } = new URL(htu)
  return origin + pathname
}
