/** Who makes a request, once a guard has checked the credentials. */

export interface AuthInfo {
  /** The principal: whom sessions and sealed state are bound to. */
  readonly subject: string
  /** The OAuth client, where there is one. */
  readonly clientId?: string | undefined
  /** All that the credentials grant: also scopes that others imply, which whoever checks them has to add. */
  readonly scopes: readonly string[]
  /** When the credentials end, in seconds since 1970. */
  readonly expiresAt?: number | undefined
  /** What else the credentials said. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}
