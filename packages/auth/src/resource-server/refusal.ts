/** Why a request is not let in: each reason has a name, and from that a status and the error of the challenge. */

import type { ProofReason } from '../dpop-proof.ts'

/** Names what was wrong with the credentials of a request. */
export type RefusalReason =
  | 'missing'
  | 'malformed'
  | 'in_query'
  | 'too_long'
  | 'not_a_token'
  | 'unknown_issuer'
  | 'algorithm'
  | 'type'
  | 'signature'
  | 'unknown_key'
  | 'expired'
  | 'not_yet_valid'
  | 'audience'
  | 'claims'
  | 'inactive'
  | 'unknown'
  | 'bound'
  | 'unbound'
  | 'other_key'
  | 'unavailable'
  | 'scope'
  | ProofReason

interface CredentialsErrorOptions extends ErrorOptions {
  readonly scopes?: readonly string[]
}

/** Credentials that were refused. It holds nothing of them. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError'
  readonly reason: RefusalReason
  /** What the challenge asks for, where it is not what any request needs. */
  readonly scopes: readonly string[] | undefined

  constructor(reason: RefusalReason, message: string, { scopes, ...options }: CredentialsErrorOptions = {}) {
    super(message, options)
    this.reason = reason
    this.scopes = scopes
  }
}

interface Verdict {
  readonly status: 400 | 401 | 403 | 503
  /** The error of the challenge; none where nobody has tried yet, and where there is no challenge. */
  readonly error?: string
}

const malformed: Verdict = { status: 400, error: 'invalid_request' }
const invalid: Verdict = { status: 401, error: 'invalid_token' }
const proof: Verdict = { status: 401, error: 'invalid_dpop_proof' }

const verdicts: Partial<Record<RefusalReason, Verdict>> = {
  missing: { status: 401 },
  malformed,
  in_query: malformed,
  too_long: malformed,
  unavailable: { status: 503 },
  scope: { status: 403, error: 'insufficient_scope' },
  proof_nonce: { status: 401, error: 'use_dpop_nonce' },
}

export function verdictOf(reason: RefusalReason): Verdict {
  return verdicts[reason] ?? (reason.startsWith('proof_') ? proof : invalid)
}
