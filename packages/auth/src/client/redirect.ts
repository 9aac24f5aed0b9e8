/** How a user gets to the authorization server, and what it says gets back. */

import type { Awaitable } from './fetch.ts'

/** Where the user came back to: the whole URL, or what stands in its query. */
export type Callback = string | URL | URLSearchParams

export interface RedirectUriOptions {
  /** Fires when the attempt is over, however it ended. */
  readonly signal: AbortSignal
  /** The redirect URIs that this client is registered with, if it is. Any other makes it register anew. */
  readonly registered: readonly string[]
}

/**
 * Takes the user to a URL, and resolves to where they were sent back to. The signal fires when the attempt is over.
 * What it rejects with ends the attempt.
 */
export interface Redirect {
  (url: URL, options: { readonly signal: AbortSignal }): Promise<Callback>
  /** Where the user is to be sent back to: `https:`, on this machine, or of a scheme that the application owns. */
  readonly redirectUri: string | ((options: RedirectUriOptions) => Awaitable<string>)
  /**
   * Where this page was just opened by an authorization server, for redirects that leave the page: the URL, once.
   * What is needed to go on from there is then kept in the store before the user leaves.
   */
  readonly returned?: (() => Callback | undefined) | undefined
}

/**
 * A redirect of your own: an address where the user comes back to, and a function that takes them away and learns of it.
 *
 * ```ts
 * const redirect = manualRedirect('https://app.example/callback', async (url) => {
 *   console.log(`Open ${url.href}`)
 *   return readline.question('Paste the address that you were sent to: ')
 * })
 * ```
 */
export function manualRedirect(
  redirectUri: string,
  visit: (url: URL, options: { readonly signal: AbortSignal }) => Awaitable<Callback>,
): Redirect {
  return Object.assign(async (url: URL, options: { readonly signal: AbortSignal }) => visit(url, options), {
    redirectUri,
  })
}
