/** Who makes a request, once a guard has checked the credentials. */

export interface AuthInfo {
  /** Who it is, as the issuer calls them. */
  readonly subject: string
  /** Who says so: two issuers may give the same name to different people. Absent where there is only one. */
  readonly issuer?: string | undefined
  /** The OAuth client, where there is one. */
  readonly clientId?: string | undefined
  /** All that the credentials grant: also scopes that others imply, which whoever checks them has to add. */
  readonly scopes: readonly string[]
  /** When the credentials end, in seconds since 1970. */
  readonly expiresAt?: number | undefined
  /** What else the credentials said. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

/** Names a caller among those of all issuers: what sessions and sealed state are bound to. Nothing for nobody. */
export function principalOf(auth: AuthInfo | undefined): string | undefined {
  if (auth === undefined) return undefined
  const { issuer, subject } = auth
  // A bare subject is told from a pair by its first character.
  return issuer === undefined && !subject.startsWith('[') ? subject : JSON.stringify([issuer ?? null, subject])
}
