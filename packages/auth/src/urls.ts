/**
 * Checks URLs that receive credentials, lists the metadata URLs of an issuer, and finds out in which network a host is.
 */

import { printable } from './auth-error.ts'

/**
 * Parses a URL that credentials may be sent to: `https:`, or `http:` on this machine.
 *
 * @throws RangeError for any other URL; the message begins with `option`
 */
export function secureUrl(text: string, option: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw new RangeError(`${option}: expected a URL, got ${JSON.stringify(printable(text))}`)
  const problem = problemOf(url)
  if (problem === undefined) return url
  throw new RangeError(`${option}: ${JSON.stringify(printable(url.origin + url.pathname))} ${problem}`)
}

function problemOf({ username, password, hash, protocol, hostname }: URL): string | undefined {
  if (username !== '' || password !== '') return 'contains credentials: pass them in their own options'
  if (hash !== '') return 'has a fragment, which is never sent to a server'
  // Of the IPv6 addresses, only `[::1]` is accepted: a request to one that contains 127.0.0.1 may leave this machine.
  const isThisMachine = networkZone(hostname) === 'loopback' && (hostname === '[::1]' || !hostname.startsWith('['))
  if (protocol === 'https:' || (protocol === 'http:' && isThisMachine)) return undefined
  return 'is not HTTPS; plain HTTP is accepted on this machine only'
}

/** Returns the URLs at which an issuer may have its metadata, by RFC 8414 and OpenID Connect Discovery. */
export function issuerMetadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
  return [...new Set(urls)]
}

/**
 * The networks that a host can be in. `reserved` addresses, for example of cloud metadata services, never belong to an
 * MCP server.
 */
export type NetworkZone = 'public' | 'private' | 'loopback' | 'reserved'

/** Names that are resolved only inside a private network. */
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
  // A Teredo address leads to an IPv4 address that is not checked here. Addresses outside 2000::/3 are not on the public
  // internet.
  const isTeredo = first === 0x2001 && second === 0
  return isTeredo || (first & 0xe000) !== 0x2000 ? 'reserved' : 'public'
}

/** Returns the zone of the IPv4 address in an IPv6 address that is mapped, compatible, translated or 6to4. */
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

/** Returns the eight groups of an address. The last two groups may be written as IPv4. */
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
