/** Checks whether URLs can be trusted, and fetches JSON from them with limits on time and size. */

/** Parses a URL that credentials may be sent to. Throws a `RangeError` that begins with the name of the option. */
export function parseSecureUrl(text: string, option: string): URL {
  if (!URL.canParse(text)) throw new RangeError(`${option}: expected a URL, got ${JSON.stringify(text)}`)
  const url = new URL(text)
  const problem = problemOf(url)
  if (problem !== undefined) throw new RangeError(`${option}: ${JSON.stringify(url.origin + url.pathname)} ${problem}`)
  return url
}

/** Returns the reason why credentials must not be sent to a URL, or undefined if they may. */
export function problemOf(url: URL): string | undefined {
  if (url.username !== '' || url.password !== '') return 'contains credentials'
  if (url.hash !== '') return 'contains a fragment'
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))) return undefined
  return 'is not HTTPS; plain HTTP is for this machine only'
}

export function isLoopback({ hostname }: URL): boolean {
  return hostname === '[::1]' || /^(?:127(?:\.\d+){3}|(?:.+\.)?localhost)$/.test(hostname)
}

/** Returns whether a host is not on the public internet, as far as this is known without resolving its name. */
export function isPrivate(url: URL): boolean {
  const { hostname } = url
  if (isLoopback(url)) return true
  if (hostname.startsWith('[')) return isPrivateV6(hostname.slice(1, -1))
  const bytes = /^(\d+)\.(\d+)\.(\d+)\.\d+$/.exec(hostname)
  if (bytes !== null) return isPrivateV4(Number(bytes[1]), Number(bytes[2]), Number(bytes[3]))
  const name = hostname.replace(/\.$/, '')
  return !name.includes('.') || /\.(?:local|internal|intranet|lan|home\.arpa)$/.test(name)
}

/** Returns whether an address is in a private, link-local, shared, benchmark, multicast or reserved range. */
function isPrivateV4(first: number, second: number, third: number): boolean {
  if (first === 0 || first === 10 || first === 127 || first >= 224) return true
  if (first === 100) return second >= 64 && second <= 127
  if (first === 169) return second === 254
  if (first === 172) return second >= 16 && second <= 31
  if (first === 192) return second === 168 || (second === 0 && (third === 0 || third === 2))
  return first === 198 && (second === 18 || second === 19)
}

/** Returns whether an address is outside of the global unicast range, or contains an IPv4 address. */
function isPrivateV6(address: string): boolean {
  const first = Number.parseInt(address.split(':', 1)[0] || '0', 16)
  return (first & 0xe000) !== 0x2000 || first === 0x2002 || /^2001:0?:/.test(address) || address.startsWith('2001::')
}

/** The type of the option `fetch`, which is called with a URL as a string. */
export type Fetch = (input: string, init: RequestInit) => Promise<Response>

/** The time limit of a request, in ms. */
const TIMEOUT = 5_000

/**
 * Fetches a JSON object without following redirects. Rejects with an Error that names the problem.
 *
 * @param maxBytes The largest body, in bytes. Default: 262,144.
 */
export async function fetchObject(
  url: string,
  fetch: Fetch = (input, init) => globalThis.fetch(input, init),
  maxBytes = 256 * 1024,
): Promise<Record<string, unknown>> {
  const signal = AbortSignal.timeout(TIMEOUT)
  const response = await fetch(url, { headers: { accept: 'application/json' }, redirect: 'manual', signal })
  if (response.status !== 200) throw new Error(`expected status 200, got ${response.status}`)
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  // An error in the loop cancels the body.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new Error(`expected at most ${maxBytes} bytes, got more`)
    text += decoder.decode(chunk, { stream: true })
  }
  const value: unknown = JSON.parse(text + decoder.decode())
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('expected a JSON object')
  return value as Record<string, unknown>
}
