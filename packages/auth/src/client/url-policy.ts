/**
 * Decides which URLs that a server names may be requested: `https:` except on this machine, and nothing that is further
 * inside a network than the server itself.
 */

import { AuthError, type AuthStep, printable } from '../auth-error.ts'
import type { Awaitable } from './auth.ts'

export interface UrlPolicy {
  /** Whether the origin of a URL is listed in `trustedOrigins`. */
  isTrusted(url: URL): boolean
  /**
   * Parses a URL that another URL's server has named, and looks its host up if there is a `resolve` option. Rejects with
   * `AuthError` unless it may be requested.
   *
   * @param name what the URL is, for the message
   */
  check(step: AuthStep, name: string, url: unknown, namedBy: URL): Promise<URL>
  /** The same without a lookup, for a URL that only a browser opens. */
  checkWithoutLookup(step: AuthStep, name: string, url: unknown, namedBy: URL): URL
}

export interface UrlPolicyOptions {
  readonly trustedOrigins?: readonly string[] | undefined
  readonly resolve?: ((hostname: string) => Awaitable<readonly string[]>) | undefined
}

/** In characters. */
const MAX_URL_LENGTH = 8_192

export function createUrlPolicy({ trustedOrigins = [], resolve }: UrlPolicyOptions): UrlPolicy {
  const trusted = new Set(trustedOrigins.map(parseOrigin))
  const isTrusted = ({ origin }: URL) => trusted.has(origin)

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
    isTrusted,
    checkWithoutLookup,
    async check(step, name, given, namedBy) {
      const url = checkWithoutLookup(step, name, given, namedBy)
      if (resolve === undefined || isTrusted(url) || networkZone(url.hostname) !== 'public') return url
      for (const address of await lookUp(step, name, url, resolve)) {
        refuseInnerZone(step, name, url, networkZone(address), namedBy)
      }
      return url
    },
  }
}

/** The remedy for a URL that is refused although it may belong to the user. */
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

/** How far inside a network an address is. */
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
  const message = `${name} leads to ${ZONE_NAMES[zone]}, which ${namedBy.origin} must not name`
  throw new AuthError(message, { step, url, hint: trustHint(url) })
}

async function lookUp(
  step: AuthStep,
  name: string,
  url: URL,
  resolve: NonNullable<UrlPolicyOptions['resolve']>,
): Promise<readonly string[]> {
  const hint = 'Check that the name exists, and that this machine can resolve names.'
  let cause: unknown
  try {
    const addresses = await resolve(url.hostname)
    // A name without addresses may get some before the request is sent.
    if (addresses.length > 0) return addresses
  } catch (error) {
    cause = error
  }
  throw new AuthError(`The address of ${name} was not found`, { step, url, hint, cause })
}

// Addresses

/** `reserved`: addresses that no MCP server has, such as those of cloud metadata services. */
export type NetworkZone = 'public' | 'private' | 'loopback' | 'reserved'

/** Names that are resolved inside a network only. */
const PRIVATE_NAMES = /(?:^|\.)(?:local|internal|intranet|lan|corp|home|private|home\.arpa)$/

/** @param hostname as `URL` or a resolver writes it: IPv4 in four decimal parts, IPv6 with or without brackets */
export function networkZone(hostname: string): NetworkZone {
  const name = hostname.replace(/\.$/, '')
  if (name.includes(':')) return zoneOfIpv6(parseIpv6(name.replace(/^\[|\]$/g, '')))
  const parts = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(name)
  if (parts !== null) return zoneOfIpv4(parts.slice(1).map(Number))
  if (name === 'localhost' || name.endsWith('.localhost')) return 'loopback'
  return PRIVATE_NAMES.test(name) || !name.includes('.') ? 'private' : 'public'
}

function zoneOfIpv4([a = 0, b = 0, c = 0]: readonly number[]): NetworkZone {
  if (a === 127) return 'loopback'
  if (a === 0 || a >= 224 || (a === 169 && b === 254)) return 'reserved'
  if (a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168)) return 'private'
  const isShared = a === 100 && b >= 64 && b < 128
  const isSpecial = (a === 192 && b === 0 && c === 0) || (a === 198 && (b === 18 || b === 19))
  return isShared || isSpecial ? 'private' : 'public'
}

function zoneOfIpv6(groups: readonly number[]): NetworkZone {
  const [first = 0, second = 0] = groups
  const embedded = embeddedIpv4(groups)
  if (embedded !== undefined) return embedded
  if ((first & 0xffc0) === 0xfe80 || (first & 0xff00) === 0xff00) return 'reserved'
  const isUniqueLocal = (first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfec0
  const isDocumentation = first === 0x2001 && second === 0xdb8
  if (isUniqueLocal || isDocumentation) return 'private'
  // Teredo addresses contain an IPv4 address, and nothing outside of 2000::/3 is on the public internet.
  const isTeredo = first === 0x2001 && second === 0
  return isTeredo || (first & 0xe000) !== 0x2000 ? 'reserved' : 'public'
}

/** The zone of the IPv4 address in an IPv6 address that is mapped, compatible, translated or 6to4. */
function embeddedIpv4(groups: readonly number[]): NetworkZone | undefined {
  const [first = 0, second = 0, third = 0, , , sixth = 0, high = 0, low = 0] = groups
  const startsWithZeros = groups.slice(0, 5).every((group) => group === 0)
  if (startsWithZeros && sixth === 0 && high === 0 && low <= 1) return low === 1 ? 'loopback' : 'reserved'
  if (startsWithZeros && (sixth === 0 || sixth === 0xffff)) return zoneOfIpv4(bytesOf(high, low))
  const isTranslated = first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((group) => group === 0)
  if (isTranslated) return zoneOfIpv4(bytesOf(high, low))
  return first === 0x2002 ? zoneOfIpv4(bytesOf(second, third)) : undefined
}

function bytesOf(high: number, low: number): number[] {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff]
}

/** The eight groups of an address, of which the last two may be written as IPv4. */
function parseIpv6(address: string): number[] {
  const [plain = ''] = address.split('%')
  const ipv4 = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(plain)
  const [a = 0, b = 0, c = 0, d = 0] = ipv4?.slice(2).map(Number) ?? []
  const hex = ipv4 === null ? plain : `${ipv4[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  const [before = '', after = ''] = hex.split('::')
  const head = parseGroups(before)
  const tail = parseGroups(after)
  return [...head, ...new Array<number>(Math.max(0, 8 - head.length - tail.length)).fill(0), ...tail]
}

function parseGroups(groups: string): number[] {
  return groups === '' ? [] : groups.split(':').map((group) => Number.parseInt(group, 16))
}
