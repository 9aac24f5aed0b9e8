/** The interfaces between an authorizing `fetch` and the code that uses it. */

/** A function with the signature of the global `fetch`. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>

/** Describes the requests that a wrapped `fetch` sends. */
export interface AuthTarget {
  /** The URL of the MCP server. */
  readonly url: URL
  /** Stops the clock of the request with this signal during a login. The returned function starts it again. */
  readonly hold?: ((signal: AbortSignal) => () => void) | undefined
}

/**
 * Wraps `fetch` so that it authorizes its requests. Without a target, the URL of the first request is the URL of the
 * server.
 *
 * It is the `auth` option of `http()`, and can wrap any other `fetch`.
 */
export type Auth = (fetch: Fetch, target?: AuthTarget) => Fetch

/** An `Auth` that stores tokens and can delete them. */
export interface Login extends Auth {
  /**
   * Deletes the tokens of a server, and revokes them if its authorization server supports that. The client stays
   * registered. Waits for a login or a refresh that is in progress. Rejects with `AuthError` if the revocation failed; the
   * tokens are deleted in that case too.
   *
   * @param server the URL of the MCP server
   * @param fetch sends the requests to the authorization server. Default: the global `fetch`
   */
  signOut(server: string | URL, fetch?: Fetch): Promise<void>
}
