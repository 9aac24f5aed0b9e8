/**
 * Decides whether the client may request a URL that it has received from a server. The URL must use `https:`, except on
 * this machine. A server on the internet must not name a URL in a private network or on this machine.
 */

import { AuthError, type AuthStep, printable } from '../auth-error.ts'
import { type NetworkZone, networkZone } from '../urls.ts'
import type { CommonOptions } from './create-login.ts'

export type UrlPolicy = ReturnType<typeof createUrlPolicy>

export type UrlPolicyOptions = Pick<CommonOptions, 'trustedOrigins' | 'resolve'>

/** The longest URL, in characters. */
const MAX_URL_LENGTH = 8_192

export function createUrlPolicy({ trustedOrigins = [], resolve }: UrlPolicyOptions) {
  const trusted = new Set(trustedOrigins.map(parseOrigin))
  const isTrusted = ({ origin }: URL) => trusted.has(origin)

  /** Like `check`, but without resolving the host, for a URL that only a browser opens. */
  function checkWithoutLookup(step: AuthStep, name: string, given: unknown, namedBy: URL): URL {
    const url = parseUrl(step, name, given)
    if (isTrusted(url)) return url
    const zone = networkZone(url.hostname)
    if (url.protocol !== 'https:' && zone !== 'loopback') {
      throw new AuthError(`${name} must use https:`, { step, url, hint: trustHint(url) })
    }
    refuseInnerZone(step, name, url, zone, namedBy)
    return url
  }

  return {
    /** Returns whether the origin of a URL is listed in `trustedOrigins`. */
    isTrusted,
    checkWithoutLookup,
    /**
     * Parses a URL that a server has named, and resolves its host if the option `resolve` is set. Rejects with
     * `AuthError` if the URL must not be requested.
     *
     * @param name the description of the URL in error messages
     */
    async check(step: AuthStep, name: string, given: unknown, namedBy: URL): Promise<URL> {
      const url = checkWithoutLookup(step, name, given, namedBy)
      if (resolve === undefined || isTrusted(url) || networkZone(url.hostname) !== 'public') return url
      for (const address of await lookUp(step, name, url, resolve)) {
        refuseInnerZone(step, name, url, networkZone(address), namedBy)
      }
      return url
    },
  }
}

/** Returns the remedy for a refused URL, in case the user trusts its server. */
export function trustHint({ origin }: URL): string {
  return `If this is your own server, trust its origin: trustedOrigins: ['${origin}'].`
}

function parseOrigin(origin: string): string {
  if (URL.canParse(origin)) return new URL(origin).origin
  throw new TypeError(`trustedOrigins: expected origins such as https://a.example, got ${origin}`)
}

function parseUrl(step: AuthStep, name: string, given: unknown): URL {
  const hint = 'Report it to the operator of the server.'
  const text = given instanceof URL ? given.href : given
  if (typeof text !== 'string' || text.length > MAX_URL_LENGTH || !URL.canParse(text)) {
    throw new AuthError(`${name} is not a URL: ${printable(text)}`, { step, hint })
  }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    throw new AuthError(`${name} contains a user name or a password`, { step, url, hint })
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new AuthError(`${name} must use https:, not ${printable(url.protocol)}`, { step, url, hint })
  }
  return url
}

/** The order of the zones. A server may name URLs in zones up to its own, but never in the zone `reserved`. */
const DEPTH: Readonly<Record<NetworkZone, number>> = { public: 0, private: 1, loopback: 2, reserved: 3 }
const ZONE_NAMES: Readonly<Record<NetworkZone, string>> = {
  public: 'the internet',
  private: 'a private network',
  loopback: 'this machine',
  reserved: 'a reserved address',
}

function refuseInnerZone(step: AuthStep, name: string, url: URL, zone: NetworkZone, namedBy: URL): void {
  const allowed = Math.min(DEPTH[networkZone(namedBy.hostname)], DEPTH.loopback)
  if (DEPTH[zone] <= allowed) return
  const message = `${name} leads to ${ZONE_NAMES[zone]}: ${namedBy.origin} must not name such a URL`
  throw new AuthError(message, { step, url, hint: trustHint(url) })
}

async function lookUp(
  step: AuthStep,
  name: string,
  url: URL,
  resolve: NonNullable<UrlPolicyOptions['resolve']>,
): Promise<readonly string[]> {
  const hint = 'Check that the host name exists, and that DNS works on this machine.'
  let cause: unknown
  try {
    const addresses = await resolve(url.hostname)
    // Treat a name without addresses as an error, because it may get addresses before the request is sent.
    if (addresses.length > 0) return addresses
  } catch (error) {
    cause = error
  }
  throw new AuthError(`The address of ${name} was not found`, { step, url, hint, cause })
}
