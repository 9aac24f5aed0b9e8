/** Checks access tokens that are JWTs: https://www.rfc-editor.org/rfc/rfc9068#section-4 */

import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { CredentialsError } from './refusal.ts'

/** Those that need no secret on this side. */
export const ALGORITHMS: readonly string[] = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
]

export interface JwtRules {
  readonly issuer: string
  readonly keys: JWTVerifyGetKey
  readonly audiences: readonly string[]
  readonly algorithms: readonly string[]
  /** How far clocks may be apart, in seconds. */
  readonly clockTolerance: number
}

/** Other kinds of JWT are signed by the same keys, and are no access tokens. */
const TYPES: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt', 'application/jwt']

export async function verifyJwt(token: string, rules: JwtRules): Promise<JWTPayload> {
  const { issuer, audiences, algorithms, clockTolerance, keys } = rules
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer,
    audience: [...audiences],
    algorithms: [...algorithms],
    clockTolerance,
    requiredClaims: ['iss', 'aud', 'exp'],
  }).catch((error: unknown) => {
    throw problemOf(error)
  })
  const typ: unknown = protectedHeader.typ
  if (!TYPES.includes(typeof typ === 'string' ? typ.toLowerCase() : typ)) {
    throw new CredentialsError('type', 'the token is a JWT of another kind')
  }
  if (typeof payload.iat === 'number' && payload.iat > Date.now() / 1000 + clockTolerance) {
    throw new CredentialsError('not_yet_valid', 'the token was issued in the future')
  }
  return payload
}

/** Who a JWT says that it comes from, unchecked; nothing where it is no JWT. */
export function claimedIssuer(token: string): string | undefined {
  if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

function problemOf(error: unknown): unknown {
  if (error instanceof CredentialsError) return error
  if (error instanceof errors.JWTExpired) return new CredentialsError('expired', 'the token has expired')
  if (error instanceof errors.JWTClaimValidationFailed) return claimProblem(error)
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return new CredentialsError('algorithm', 'the token is signed by an algorithm that is not taken')
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new CredentialsError('signature', 'the signature of the token is wrong')
  }
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
    return new CredentialsError('unknown_key', 'the token does not name one key of its issuer')
  }
  const isUnreadable = [errors.JWSInvalid, errors.JWTInvalid, errors.JOSENotSupported].some(
    (kind) => error instanceof kind,
  )
  if (isUnreadable) {
    return new CredentialsError('not_a_token', 'the token is no JWT that can be read')
  }
  // What is left is a key that does not fit its algorithm, or that this runtime cannot use.
  return new CredentialsError('unknown_key', 'the key of the token cannot be used', { cause: error })
}

function claimProblem({ claim }: errors.JWTClaimValidationFailed): CredentialsError {
  switch (claim) {
    case 'aud':
      return new CredentialsError('audience', 'the token is for another server')
    case 'iss':
      return new CredentialsError('unknown_issuer', 'the token is of another issuer')
    case 'nbf':
      return new CredentialsError('not_yet_valid', 'the token is not valid yet')
    default:
      return new CredentialsError('claims', `the claim ${claim} is missing or wrong`)
  }
}
