/** Why an authorization step failed: what was tried, where, and what to do about it. */

/** Which step of a flow failed. */
export type AuthStep =
  | 'discovery'
  | 'registration'
  | 'authorization'
  | 'token'
  | 'refresh'
  | 'verification'
  | 'revocation'
  | 'storage'

export interface AuthErrorOptions {
  readonly step: AuthStep
  /** The URL that was asked, without credentials. */
  readonly url?: string | undefined
  /** What to do about it. */
  readonly hint?: string | undefined
  readonly cause?: unknown
}

/** An authorization step that failed. It never crosses the wire and never holds a token. */
export class AuthError extends Error {
  override readonly name = 'AuthError'
  readonly step: AuthStep
  readonly url: string | undefined
  readonly hint: string | undefined

  constructor(message: string, { step, url, hint, cause }: AuthErrorOptions) {
    const where = url === undefined ? '' : ` (${url})`
    const advice = hint === undefined ? '' : ` ${hint}`
    super(`${step}: ${message}${where}.${advice}`, cause === undefined ? undefined : { cause })
    this.step = step
    this.url = url
    this.hint = hint
  }
}
