/** Walks from a server to the authorization server that gives out its tokens. */

import { failure, quote } from './failure.ts'
import type { Link } from './link.ts'
import { canonicalResource, type ResourceMetadata, readResourceMetadata } from './resource-metadata.ts'
import { assumedMetadata, missingServerMetadata, readServerMetadata, type ServerMetadata } from './server-metadata.ts'

export interface Discovery {
  readonly resource: string
  /** What the server says it may ever want. */
  readonly scopesSupported: readonly string[]
  readonly server: ServerMetadata
}

export interface DiscoveryRequest {
  /** The server of the protocol. */
  readonly url: URL
  /** What its challenge names. */
  readonly resourceMetadata?: string | undefined
  /** The only authorization server that will do. */
  readonly issuer?: string | undefined
  /** The one that was used before: it stays in use while the server still names it. */
  readonly preferred?: string | undefined
}

/** @throws AuthError that says which document is missing, wrong, or not to be believed */
export async function discover(link: Link, request: DiscoveryRequest): Promise<Discovery> {
  const { url } = request
  // Whatever is learned here ends in a token that is sent to this URL.
  link.read('discovery', 'The URL of the server', url, url)
  const metadata = await readResourceMetadata(link, url, request.resourceMetadata)
  if (metadata === undefined) return discoverWithoutResource(link, request)
  const issuer = choose(metadata, request)
  // An authorization server that the user names is trusted as much as its name; others as much as who names them.
  const by = issuer === request.issuer ? new URL(issuer) : url
  const server = await readServerMetadata(link, { issuer, by })
  if (server === undefined) throw missingServerMetadata(issuer)
  return { resource: metadata.resource, scopesSupported: metadata.scopesSupported, server }
}

function choose({ authorizationServers }: ResourceMetadata, { url, issuer, preferred }: DiscoveryRequest): string {
  const [first = ''] = authorizationServers
  if (issuer === undefined)
    return preferred !== undefined && authorizationServers.includes(preferred) ? preferred : first
  if (authorizationServers.includes(issuer)) return issuer
  const named = quote(authorizationServers.slice(0, 3).join(', '))
  const message = `The server names ${named} as its authorization server, and this client is bound to ${issuer}`
  const hint = 'Nothing was sent there. If the server has moved, register with its new authorization server.'
  throw failure('discovery', message, { url, hint })
}

/** Servers of the first revisions are their own authorization server, and may take the paths of its endpoints for known. */
async function discoverWithoutResource(link: Link, { url, issuer }: DiscoveryRequest): Promise<Discovery> {
  const { origin } = url
  const candidate =
    issuer === undefined ? { issuer: origin, by: url, aliases: [`${origin}/`] } : { issuer, by: new URL(issuer) }
  const server = await readServerMetadata(link, candidate)
  if (server === undefined && issuer !== undefined) throw missingServerMetadata(issuer)
  return { resource: canonicalResource(url), scopesSupported: [], server: server ?? assumedMetadata(origin) }
}
