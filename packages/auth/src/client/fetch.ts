/** The `fetch` that this half wraps and is. */

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

export type Awaitable<T> = T | Promise<T>

/** What whoever sends requests tells about them. */
export interface AuthTarget {
  /** The URL of the server of the protocol. */
  readonly url: URL
  /** Stops the clock of the request with this signal while somebody is asked; the result lets it run on. */
  readonly hold?: ((signal: AbortSignal) => () => void) | undefined
}

/**
 * Wraps `fetch` so that it proves who is asking. Without a target the URL of the first request is the server's.
 *
 * It is the `auth` option of `http()`, and works around any other `fetch`.
 */
export type Auth = (fetch: Fetch, target?: AuthTarget) => Fetch

/** An `Auth` that keeps tokens, and forgets them when it is told to. */
export interface Login extends Auth {
  /**
   * Forgets the tokens of the server at this URL, and revokes them where its authorization server can. The client stays
   * registered. Waits for a login or a refresh that is under way. Rejects with `AuthError` when nothing was revoked though
   * it should have been; the tokens are forgotten then as well.
   *
   * @param fetch reaches the authorization server. Default: the global one
   */
  signOut(server: string | URL, fetch?: Fetch): Promise<void>
}
