/** Which URLs may be trusted with credentials: HTTPS ones, and plain HTTP on this machine. */

/** A URL that may carry credentials. Throws a `RangeError` that names `what` for any other. */
export function secureUrl(text: string, what: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw new RangeError(`${what}: expected a URL, got ${shown(text)}`)
  const problem = insecurity(url)
  if (problem !== undefined) throw new RangeError(`${what}: ${shown(url.origin + url.pathname)} ${problem}`)
  return url
}

/** Why a URL may not carry credentials; nothing when it may. */
export function insecurity(url: URL): string | undefined {
  if (url.username !== '' || url.password !== '') return 'holds credentials: give them by an option of their own'
  if (url.hash !== '') return 'has a fragment, which no server ever sees'
  if (url.protocol === 'https:') return undefined
  if (url.protocol === 'http:' && isLoopback(url)) return undefined
  return 'is not HTTPS; plain HTTP is for this machine only'
}

/** Whether a URL names this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(?:\.\d+){3}$/.test(hostname)
  )
}

/** Whether a URL names, without any look-up, a host that is not on the public internet. */
export function isPrivate(url: URL): boolean {
  const { hostname } = url
  if (isLoopback(url)) return true
  if (hostname.startsWith('[')) return isPrivateV6(hostname.slice(1, -1))
  const bytes = /^(\d+)\.(\d+)\.(\d+)\.\d+$/.exec(hostname)
  if (bytes !== null) return isPrivateV4(Number(bytes[1]), Number(bytes[2]), Number(bytes[3]))
  const name = hostname.replace(/\.$/, '')
  return !name.includes('.') || /\.(?:localhost|local|internal|intranet|lan|home\.arpa)$/.test(name)
}

/** Private, link-local, shared, benchmark, multicast and reserved ranges. */
function isPrivateV4(first: number, second: number, third: number): boolean {
  if (first === 0 || first === 10 || first === 127 || first >= 224) return true
  if (first === 100) return second >= 64 && second <= 127
  if (first === 169) return second === 254
  if (first === 172) return second >= 16 && second <= 31
  if (first === 192) return second === 168 || (second === 0 && (third === 0 || third === 2))
  return first === 198 && (second === 18 || second === 19)
}

/** Only the global unicast range is public, without the parts of it that carry IPv4 addresses. */
function isPrivateV6(address: string): boolean {
  const first = Number.parseInt(address.split(':', 1)[0] || '0', 16)
  return (first & 0xe000) !== 0x2000 || first === 0x2002 || /^2001:0?:/.test(address) || address.startsWith('2001::')
}

const SHOWN = 200

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)
}
