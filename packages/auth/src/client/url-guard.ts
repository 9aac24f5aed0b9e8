/**
 * Decides which of the URLs that a server names may be asked: `https:` unless on this machine, and nothing that lies
 * deeper in a network than the server itself.
 */

import type { AuthStep } from '../auth-error.ts'
import { type Reach, reachOf } from './address.ts'
import { failure, quote } from './failure.ts'
import type { Awaitable } from './fetch.ts'

export interface UrlGuard {
  /** Whether the user vouches for the origin of a URL. */
  trusts(url: URL): boolean
  /** Reads a URL that `by` names. Rejects with `AuthError` unless it may be asked. */
  check(step: AuthStep, what: string, url: unknown, by: URL): Promise<URL>
  /** The same for a URL that is only shown to a user: where its name leads is not looked up. */
  read(step: AuthStep, what: string, url: unknown, by: URL): URL
}

export interface UrlGuardOptions {
  readonly trustedOrigins?: readonly string[] | undefined
  readonly resolve?: ((hostname: string) => Awaitable<readonly string[]>) | undefined
}

const DEPTH: Readonly<Record<Reach, number>> = { public: 0, private: 1, loopback: 2, forbidden: 3 }

/** The longest URL that is taken, in characters. */
const LONGEST_URL = 8_192

export function createUrlGuard({ trustedOrigins = [], resolve }: UrlGuardOptions): UrlGuard {
  const trusted = new Set(trustedOrigins.map(originOf))

  function read(step: AuthStep, what: string, given: unknown, by: URL): URL {
    const url = parse(step, what, given)
    if (trusted.has(url.origin)) return url
    const reach = reachOf(url.hostname)
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && reach === 'loopback')) {
      throw failure(step, `${what} must use https:`, { url, hint: trustHint(url) })
    }
    refuseDeeper(step, what, url, reach, by)
    return url
  }

  return {
    trusts: ({ origin }) => trusted.has(origin),
    read,
    async check(step, what, given, by) {
      const url = read(step, what, given, by)
      if (resolve === undefined || trusted.has(url.origin) || reachOf(url.hostname) !== 'public') return url
      for (const address of await addressesOf(step, what, url, resolve)) {
        refuseDeeper(step, what, url, reachOf(address), by)
      }
      return url
    },
  }
}

function refuseDeeper(step: AuthStep, what: string, url: URL, reach: Reach, by: URL): void {
  const allowed = Math.min(DEPTH[reachOf(by.hostname)], DEPTH.loopback)
  if (DEPTH[reach] <= allowed) return
  const where = { public: '', private: 'a private network', loopback: 'this machine', forbidden: 'a reserved address' }
  throw failure(step, `${what} leads to ${where[reach]}, and ${by.origin} may not send anyone there`, {
    url,
    hint: trustHint(url),
  })
}

async function addressesOf(
  step: AuthStep,
  what: string,
  url: URL,
  resolve: NonNullable<UrlGuardOptions['resolve']>,
): Promise<readonly string[]> {
  const lost = (cause?: unknown) => {
    const hint = 'See that the name exists, and that this machine can resolve names.'
    return failure(step, `The address of ${what} was not found`, { url, hint, cause })
  }
  let found: readonly string[]
  try {
    found = await resolve(url.hostname)
  } catch (cause) {
    throw lost(cause)
  }
  // A name without addresses may have some by the time it is asked.
  if (found.length === 0) throw lost()
  return found
}

function parse(step: AuthStep, what: string, given: unknown): URL {
  const text = given instanceof URL ? given.href : given
  if (typeof text !== 'string' || text.length > LONGEST_URL || !URL.canParse(text)) {
    throw failure(step, `${what} is no URL: ${quote(text)}`, { hint: 'Tell whoever runs the server.' })
  }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    throw failure(step, `${what} holds a name or a password`, { url, hint: 'Tell whoever runs the server.' })
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw failure(step, `${what} must use https:, not ${quote(url.protocol)}`, {
      hint: 'Tell whoever runs the server.',
    })
  }
  return url
}

export function trustHint({ origin }: URL): string {
  return `If this is your own server, name it: trustedOrigins: ['${origin}'].`
}

function originOf(given: string): string {
  if (!URL.canParse(given))
    throw new TypeError(`trustedOrigins: expected origins such as https://a.example, got ${given}`)
  return new URL(given).origin
}
