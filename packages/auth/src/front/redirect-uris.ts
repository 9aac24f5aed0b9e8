/** Checks which redirect URIs clients may register, and whether a request names a registered one (OAuth 2.1, RFC 8252). */

/** The longest redirect URI, in characters. */
const MAX_URI = 1_024

/**
 * A scheme that the browser or the operating system handles itself, that does not open an application of the user, or
 * that leads to another host, which the consent page would not show.
 */
const UNSAFE_SCHEME =
  /^(?:.|about|afp|blob|chrome|chrome-extension|content|data|davs?|edge|facetime|file|filesystem|ftps?|gopher|imaps?|intent|itms-services|jar|javascript|ldaps?|mailto|ms-.*|nfs|rdp|res|resource|rtsp|search|search-ms|sftp|shell|sips?|smb|sms|ssh|tel|telnet|vbscript|view-source|vnc|wss?):$/

/** The parameters that this server adds. */
const RESPONSE_PARAMS = ['code', 'state', 'iss', 'error', 'error_description']

const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?(?![^/?])(.*)$/

/** Returns the reason why a URI cannot be registered, or undefined if it can. */
export function redirectUriProblem(uri: string): string | undefined {
  if (uri.length > MAX_URI) return `is longer than ${MAX_URI} characters`
  // Parsers of URLs interpret spaces, these punctuation marks and characters beyond ASCII differently.
  if (!/^[\x21-\x7e]+$/.test(uri) || /[\\<>"^`{|}]/.test(uri) || !URL.canParse(uri)) return 'is not a URL'
  const { protocol, username, password, searchParams } = new URL(uri)
  if (uri.includes('#')) return 'has a fragment'
  if (username !== '' || password !== '' || /^[a-z][a-z\d+.-]*:\/*[^/?]*@/i.test(uri)) return 'contains a user name'
  const reserved = RESPONSE_PARAMS.find((name) => searchParams.has(name))
  if (reserved !== undefined) return `has the parameter ${reserved}, which is reserved for the response`
  if (UNSAFE_SCHEME.test(protocol)) return `has the scheme ${protocol}, which is not safe`
  if (protocol === 'https:') return uri.startsWith('https://') ? undefined : 'has no host'
  if (protocol !== 'http:' || LOOPBACK.test(uri)) return undefined
  return 'is not HTTPS; plain HTTP is accepted for 127.0.0.1, [::1] and localhost only'
}

/**
 * Returns whether a URI is registered. It is compared character by character, except for the port of a loopback address
 * (RFC 8252, section 7.3).
 */
export function isRegistered(registered: readonly string[], uri: string): boolean {
  if (registered.includes(uri)) return true
  const requested = LOOPBACK.exec(uri)
  if (requested === null || !URL.canParse(uri)) return false
  return registered.some((each) => {
    const known = LOOPBACK.exec(each)
    return known !== null && known[1] === requested[1] && known[2] === requested[2]
  })
}

/** Returns the kind of target that a redirect URI leads to: a site, an application on this device, or a scheme. */
export function redirectTarget(uri: string): { readonly kind: 'site' | 'device' | 'scheme'; readonly name: string } {
  const { protocol, host, hostname } = new URL(uri)
  if (protocol === 'https:') return { kind: 'site', name: host }
  return protocol === 'http:' ? { kind: 'device', name: hostname } : { kind: 'scheme', name: protocol }
}

/** Appends the parameters of a response to a redirect URI. The URI itself is not changed. */
export function withParams(uri: string, params: Readonly<Record<string, string | undefined>>): string {
  const sent = Object.entries(params).filter((param): param is [string, string] => param[1] !== undefined)
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams(sent)}`
}
