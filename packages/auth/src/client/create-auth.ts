/** Makes a `fetch` that proves who is asking, of a way to get tokens. */

import { createAuthorizedFetch } from './authorized-fetch.ts'
import { scopesOf } from './challenge.ts'
import { createProver, type DpopOptions } from './dpop.ts'
import type { Auth, AuthTarget, Awaitable, Fetch, Login } from './fetch.ts'
import type { Flow } from './flow.ts'
import { createLinkRules, positive } from './link.ts'
import { keyOf } from './records.ts'
import { createSession, type Session } from './session.ts'
import { type AuthStore, memoryStore } from './store.ts'

/** What all ways to get tokens have in common. */
export interface CommonOptions {
  /** Where credentials and tokens are kept: those of one user. Default: `memoryStore()`. */
  readonly store?: AuthStore | undefined
  /**
   * Scopes that are asked for beside those that the server's challenge names. Default: those of the challenge, or else
   * all that the server's metadata lists, or else none.
   */
  readonly scope?: string | readonly string[] | undefined
  /** The only authorization server that will do. Default: the first that the server names. */
  readonly issuer?: string | undefined
  /** Asks for tokens that are bound to a key of this client, and proves for each request that it has it. Default: false. */
  readonly dpop?: boolean | DpopOptions | undefined
  /** How often one call, or calls that need the same scopes, may ask for more rights in vain. Default: 2. */
  readonly maxStepUps?: number | undefined
  /** How long one answer of an authorization server may take, in ms. Over: `AuthError`. Default: 10,000. */
  readonly timeout?: number | undefined
  /** The largest answer of an authorization server, in bytes. Over: `AuthError`. Default: 131,072 (128 Ki). */
  readonly maxResponseSize?: number | undefined
  /**
   * Origins that a server may name though they lie in a private network, do not use `https:`, or hold its metadata in
   * its place. Default: none, but a server in a private network may name its neighbours, and one on this machine anybody.
   */
  readonly trustedOrigins?: readonly string[] | undefined
  /**
   * Looks up the addresses of a public name, so that none that leads into a private network is asked; for clients
   * that run on servers. Default: names are not looked up.
   */
  readonly resolve?: ((hostname: string) => Awaitable<readonly string[]>) | undefined
}

/** How many servers one `auth` keeps tokens in mind for. */
const MOST_SESSIONS = 1_000

export function createAuth(options: CommonOptions, flow: Flow): Login {
  const { store = memoryStore(), dpop = false, issuer } = options
  const rules = createLinkRules(options)
  const scope = scopesOf(options.scope)
  const maxStepUps = positive('maxStepUps', options.maxStepUps ?? 2)
  if (issuer !== undefined && !URL.canParse(issuer)) throw new TypeError(`issuer: expected a URL, got ${issuer}`)
  const sessions = new Map<string, Session>()

  function sessionOf(given: URL): Session {
    const url = new URL(given)
    url.hash = ''
    const known = sessions.get(url.href)
    if (known !== undefined) return known
    const key = keyOf('dpop', url.href, flow.kind)
    const prover = dpop === false ? undefined : createProver(dpop === true ? {} : dpop, store, key)
    const session = createSession({ url, store, rules, flow, prover, scope, issuer })
    if (sessions.size < MOST_SESSIONS) sessions.set(url.href, session)
    return session
  }

  function wrap(fetch: Fetch, target: AuthTarget): Fetch {
    const session = sessionOf(target.url)
    session.revive()
    return createAuthorizedFetch(fetch, session, target, maxStepUps)
  }

  const auth: Auth = (fetch, target) => {
    if (target !== undefined) return wrap(fetch, target)
    let wrapped: Fetch | undefined
    return (input, init) => {
      wrapped ??= wrap(fetch, { url: new URL(input instanceof Request ? input.url : input) })
      return wrapped(input, init)
    }
  }
  const globalFetch: Fetch = (input, init) => globalThis.fetch(input, init)
  return Object.assign(auth, {
    signOut: (server: string | URL, fetch = globalFetch) => sessionOf(new URL(server)).end(fetch),
  })
}
