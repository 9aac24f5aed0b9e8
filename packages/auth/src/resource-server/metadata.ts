/** The metadata of a protected server, with which clients find its authorization servers (RFC 9728). */

import type { Guard } from '@mcpx/protocol'
import { secureUrl } from '../urls.ts'

/** The metadata of a protected server. */
export interface ResourceMetadata {
  /** The URL of this server. */
  readonly resource: string
  /** The issuers whose tokens it accepts; at least one. */
  readonly authorizationServers: readonly string[]
  /** The scopes that every request needs. Default: none. */
  readonly scopes?: readonly string[] | undefined
  /** A name that is shown to users. Default: none. */
  readonly name?: string | undefined
  /** The URL of documentation for users. Default: none. */
  readonly documentation?: string | undefined
  /** More members of the document. Default: none. */
  readonly more?: Readonly<Record<string, unknown>> | undefined
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** Returns the URL of the metadata: the well-known path, followed by the path of the resource. */
export function metadataUrlOf({ origin, pathname }: URL): string {
  return origin + WELL_KNOWN + (pathname === '/' ? '' : pathname)
}

/**
 * Parses the URL of a protected server.
 *
 * @throws RangeError if the URL is not secure (see `secureUrl`) or has a query
 */
export function resourceUrl(text: string): URL {
  const url = secureUrl(text, 'audience')
  if (url.search !== '') throw new RangeError('audience: expected a URL without a query')
  return url
}

/** Serves metadata. Returns undefined for other requests. */
export type MetadataHandler = (request: Request) => Response | undefined

export function createMetadataHandler(metadata: ResourceMetadata): MetadataHandler {
  const { resource, authorizationServers, scopes = [], name, documentation, more } = metadata
  if (authorizationServers.length === 0) {
    throw new RangeError('metadata.authorizationServers: expected at least one issuer, got none')
  }
  for (const issuer of authorizationServers) secureUrl(issuer, 'authorizationServers')
  if (scopes.includes('offline_access')) {
    throw new RangeError('scopes: offline_access is requested by clients; a server must not require it')
  }
  const document = JSON.stringify({
    resource,
    authorization_servers: authorizationServers,
    scopes_supported: scopes.length === 0 ? undefined : scopes,
    bearer_methods_supported: ['header'],
    resource_name: name,
    resource_documentation: documentation,
    ...more,
  })
  const paths: readonly string[] = [new URL(metadataUrlOf(resourceUrl(resource))).pathname, WELL_KNOWN]
  return ({ method, url }) => {
    if (!url.includes(WELL_KNOWN) || !paths.includes(new URL(url).pathname)) return undefined
    if (method === 'GET') return new Response(document, { headers: HEADERS })
    if (method === 'HEAD') return new Response(null, { headers: HEADERS })
    return method === 'OPTIONS' ? new Response(null, { status: 204, headers: PREFLIGHT_HEADERS }) : undefined
  }
}

const ANY_ORIGIN = { 'access-control-allow-origin': '*' }
const HEADERS = { ...ANY_ORIGIN, 'content-type': 'application/json', 'cache-control': 'public, max-age=300' }
const PREFLIGHT_HEADERS = {
  ...ANY_ORIGIN,
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': '*, mcp-protocol-version',
  'access-control-max-age': '7200',
}

/**
 * Returns a handler that serves the metadata of a guard at the well-known paths. Use it if the server is mounted below a
 * path of a larger app: the well-known paths begin at the root of the origin, so the server does not receive these
 * requests. Responds with 404 to other requests.
 *
 * ```ts
 * const guard = bearer({ issuer, audience: 'https://example.com/mcp' })
 * app.route('/mcp', mcp(server, { authenticate: guard }))
 * app.all('/.well-known/*', (context) => protectedResourceMetadata(guard)(context.req.raw))
 * ```
 */
export function protectedResourceMetadata(
  source: Pick<Guard, 'metadata'> | ResourceMetadata,
): (request: Request) => Response {
  const handler = 'resource' in source ? createMetadataHandler(source) : source.metadata
  return (request) => handler?.(request) ?? new Response(null, { status: 404 })
}
