/** Tells from a host's name how far it reaches: what the public names must not lead into somebody's own network. */

/** `forbidden`: addresses that no server of the protocol has, such as those of cloud metadata services. */
export type Reach = 'public' | 'private' | 'loopback' | 'forbidden'

/** Names that only resolve inside of a network. */
const INNER_NAMES = /(?:^|\.)(?:local|internal|intranet|lan|corp|home|private|home\.arpa)$/

/** @param hostname as `URL` writes it: lowercase, IPv4 in four decimal parts, IPv6 in brackets */
export function reachOf(hostname: string): Reach {
  const name = hostname.replace(/\.$/, '')
  if (name.startsWith('[')) return reachOfIpv6(groupsOf(name.slice(1, -1)))
  if (name.includes(':')) return reachOfIpv6(groupsOf(name))
  const parts = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(name)
  if (parts !== null) return reachOfIpv4(parts.slice(1).map(Number))
  if (name === 'localhost' || name.endsWith('.localhost')) return 'loopback'
  return INNER_NAMES.test(name) || !name.includes('.') ? 'private' : 'public'
}

function reachOfIpv4([a = 0, b = 0, c = 0]: readonly number[]): Reach {
  if (a === 127) return 'loopback'
  if (a === 0 || a >= 224 || (a === 169 && b === 254)) return 'forbidden'
  if (a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168)) return 'private'
  const shared = a === 100 && b >= 64 && b < 128
  const special = (a === 192 && b === 0 && c === 0) || (a === 198 && (b === 18 || b === 19))
  return shared || special ? 'private' : 'public'
}

function reachOfIpv6(groups: readonly number[]): Reach {
  const [first = 0, second = 0] = groups
  const embedded = ipv4In(groups)
  if (embedded !== undefined) return embedded
  if ((first & 0xffc0) === 0xfe80 || (first & 0xff00) === 0xff00) return 'forbidden'
  const unique = (first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfec0
  const documentation = first === 0x2001 && second === 0xdb8
  if (unique || documentation) return 'private'
  // Teredo hides an IPv4 address, and what lies outside of 2000::/3 is nobody's on the public internet.
  const teredo = first === 0x2001 && second === 0
  return teredo || (first & 0xe000) !== 0x2000 ? 'forbidden' : 'public'
}

/** The reach of the IPv4 address that an IPv6 address stands for: mapped, compatible, translated or tunnelled. */
function ipv4In(groups: readonly number[]): Reach | undefined {
  const [first = 0, second = 0, third = 0] = groups
  const zeros = groups.slice(0, 5).every((group) => group === 0)
  const [, , , , , sixth = 0, high = 0, low = 0] = groups
  if (zeros && sixth === 0 && high === 0 && low <= 1) return low === 1 ? 'loopback' : 'forbidden'
  if (zeros && (sixth === 0 || sixth === 0xffff)) return reachOfIpv4(bytesOf(high, low))
  const translated = first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((group) => group === 0)
  if (translated) return reachOfIpv4(bytesOf(high, low))
  return first === 0x2002 ? reachOfIpv4(bytesOf(second, third)) : undefined
}

function bytesOf(high: number, low: number): number[] {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff]
}

/** The eight groups of an address as `URL` or a resolver writes it. */
function groupsOf(address: string): number[] {
  const [plain = ''] = address.split('%')
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(plain)
  const hex = dotted === null ? plain : `${dotted[1]}${dottedGroups(dotted.slice(2).map(Number))}`
  const [before = '', after] = hex.split('::')
  const head = numbersOf(before)
  const tail = after === undefined ? [] : numbersOf(after)
  return [...head, ...new Array<number>(Math.max(0, 8 - head.length - tail.length)).fill(0), ...tail]
}

function dottedGroups([a = 0, b = 0, c = 0, d = 0]: readonly number[]): string {
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}

function numbersOf(groups: string): number[] {
  return groups === '' ? [] : groups.split(':').map((group) => Number.parseInt(group, 16))
}
