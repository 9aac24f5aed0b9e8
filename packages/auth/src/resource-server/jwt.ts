/** Verifies access tokens that are JWTs (RFC 9068, section 4). */

import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { CredentialsError } from './credentials.ts'

/** The algorithms without a shared secret. */
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
  /** How far clocks may differ, in ms. */
  readonly clockTolerance: number
}

/** The accepted values of `typ`. JWTs of other types, such as ID tokens, are not access tokens. */
const TYPES: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt', 'application/jwt']

export async function verifyJwt(token: string, rules: JwtRules): Promise<JWTPayload> {
  const { issuer, audiences, algorithms, clockTolerance, keys } = rules
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer,
    audience: [...audiences],
    algorithms: [...algorithms],
    clockTolerance: clockTolerance / 1_000,
    requiredClaims: ['iss', 'aud', 'exp'],
  }).catch((error: unknown) => {
    throw refusalOf(error)
  })
  const typ: unknown = protectedHeader.typ
  if (!TYPES.includes(typeof typ === 'string' ? typ.toLowerCase() : typ)) {
    throw new CredentialsError('type', 'the token is a JWT of another type')
  }
  if (typeof payload.iat === 'number' && payload.iat * 1_000 > Date.now() + clockTolerance) {
    throw new CredentialsError('not_yet_valid', 'the token was issued in the future')
  }
  return payload
}

/** Returns the issuer in a token. The token is not verified. Returns undefined if the token is not a JWT. */
export function claimedIssuer(token: string): string | undefined {
  if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

/** The reason and the message for each class of errors. */
const refusals = [
  [errors.JWTExpired, 'expired', 'the token has expired'],
  [errors.JOSEAlgNotAllowed, 'algorithm', 'the algorithm of the token is not accepted'],
  [errors.JWSSignatureVerificationFailed, 'signature', 'the signature of the token is invalid'],
  [errors.JWKSNoMatchingKey, 'unknown_key', 'the token does not name a key of its issuer'],
  [errors.JWKSMultipleMatchingKeys, 'unknown_key', 'more than one key of its issuer matches the token'],
  [errors.JWSInvalid, 'not_a_token', 'the token is not a valid JWT'],
  [errors.JWTInvalid, 'not_a_token', 'the token is not a valid JWT'],
  [errors.JOSENotSupported, 'not_a_token', 'the token is not a valid JWT'],
] as const

function refusalOf(error: unknown): CredentialsError {
  if (error instanceof CredentialsError) return error
  if (error instanceof errors.JWTClaimValidationFailed) return claimRefusal(error)
  const [, reason, message] = refusals.find(([kind]) => error instanceof kind) ?? []
  if (reason !== undefined) return new CredentialsError(reason, message)
  // The key does not match its algorithm, or this runtime does not support it.
  return new CredentialsError('unknown_key', 'the key of the token cannot be used', { cause: error })
}

function claimRefusal({ claim }: errors.JWTClaimValidationFailed): CredentialsError {
  switch (claim) {
    case 'aud':
      return new CredentialsError('audience', 'the token is for another server')
    case 'iss':
      return new CredentialsError('unknown_issuer', 'the token is from another issuer')
    case 'nbf':
      return new CredentialsError('not_yet_valid', 'the token is not valid yet')
    default:
      return new CredentialsError('claims', `the claim ${claim} is missing or invalid`)
  }
}
