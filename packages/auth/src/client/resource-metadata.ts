/** Finds out which authorization servers stand before a server, and what it is called there (RFC 9728). */

import { failure, quote } from './failure.ts'
import { isObject } from './json-request.ts'
import type { Link } from './link.ts'
import { trustHint } from './url-guard.ts'

export interface ResourceMetadata {
  /** What tokens for the server are asked for: sent as it is written. */
  readonly resource: string
  readonly authorizationServers: readonly string[]
  readonly scopesSupported: readonly string[]
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const HINT = 'Tell whoever runs the server: its metadata must name the URL that clients use.'

/**
 * Reads the document that the challenge names, or else the well-known ones; nothing where the server has none, as
 * servers of the first revisions.
 *
 * @throws AuthError for a document that may not be asked for, is none, or speaks of another server
 */
export async function readResourceMetadata(
  link: Link,
  server: URL,
  named: string | undefined,
): Promise<ResourceMetadata | undefined> {
  if (named !== undefined) {
    const url = await link.check('discovery', 'resource_metadata', named, server)
    if (!link.trusts(url)) refuseElsewhere(url, server)
    return readDocument(await get(link, url), url, server)
  }
  for (const path of wellKnownPaths(server)) {
    const url = new URL(path, server.origin)
    const { status, body } = await get(link, url)
    if (status >= 500) throw refused(url, status)
    if (status === 200 && isObject(body)) return readDocument({ status, body }, url, server)
  }
  return undefined
}

/** Who serves the document decides who gets the tokens: only the server itself may. */
function refuseElsewhere(url: URL, server: URL): void {
  if (url.origin === server.origin) return
  const hint = `The metadata of ${server.origin} must come from there. ${trustHint(url)}`
  throw failure('discovery', `resource_metadata leads to another origin than ${server.origin}`, { url, hint })
}

function wellKnownPaths({ pathname, search }: URL): string[] {
  const path = pathname.replace(/\/$/, '')
  return path === '' && search === '' ? [WELL_KNOWN] : [`${WELL_KNOWN}${path}${search}`, WELL_KNOWN]
}

function get(link: Link, url: URL) {
  return link.request({ step: 'discovery', url, method: 'GET' })
}

function refused(url: URL, status: number) {
  const hint = 'See that the server runs and serves its metadata.'
  return failure('discovery', `The metadata of the server was refused with HTTP status ${status}`, { url, hint })
}

function readDocument(
  { status, body }: { readonly status: number; readonly body: unknown },
  url: URL,
  server: URL,
): ResourceMetadata {
  if (status !== 200) throw refused(url, status)
  if (!isObject(body)) throw failure('discovery', 'The metadata of the server is no JSON object', { url, hint: HINT })
  const { resource, authorization_servers: servers, scopes_supported: scopes } = body
  if (typeof resource !== 'string' || !covers(resource, server, url)) {
    const message = `The metadata speaks of ${quote(resource)}, not of ${server.origin}${server.pathname}`
    throw failure('discovery', message, { url, hint: `No token is asked for. ${HINT}` })
  }
  const authorizationServers = strings(servers)
  if (authorizationServers.length === 0) {
    throw failure('discovery', 'The metadata names no authorization_servers', { url, hint: HINT })
  }
  return { resource, authorizationServers, scopesSupported: strings(scopes) }
}

/**
 * Whether a document may speak of this server: it names its URL, or, at a well-known path, which only who owns the
 * origin can write, a URL that the server's lies under.
 */
function covers(resource: string, server: URL, document: URL): boolean {
  if (!URL.canParse(resource)) return false
  const named = new URL(resource)
  if (named.origin !== server.origin || named.hash !== '' || named.username !== '') return false
  const own = withSlash(server.pathname)
  const path = withSlash(named.pathname)
  if (path === own) return named.search === server.search || named.search === ''
  return document.pathname.startsWith(WELL_KNOWN) && own.startsWith(path) && named.search === ''
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`
}

/** What a server is called that has no metadata: its URL, without what means nothing. */
export function canonicalResource(server: URL): string {
  const { origin, pathname, search } = server
  return pathname === '/' && search === '' ? origin : `${origin}${pathname}${search}`
}

/** How many entries of a list are looked at. */
const MOST_ENTRIES = 1_000

/** The texts in a list of a peer. */
export function strings(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, MOST_ENTRIES).filter((entry) => typeof entry === 'string')
}
