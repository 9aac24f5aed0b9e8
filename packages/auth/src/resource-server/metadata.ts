/** Tells clients where to get tokens for this server: https://www.rfc-editor.org/rfc/rfc9728 */

import type { Guard } from '@mcpx/protocol'
import { secureUrl } from '../secure-url.ts'

export interface ResourceMetadata {
  /** The URL of this server. */
  readonly resource: string
  /** The issuers whose tokens it takes; at least one. */
  readonly authorizationServers: readonly string[]
  /** The scopes that any use of it needs. */
  readonly scopes?: readonly string[] | undefined
  /** A name to show to people. */
  readonly name?: string | undefined
  /** Where people can read about it. */
  readonly documentation?: string | undefined
  /** Other members of the document. */
  readonly more?: Readonly<Record<string, unknown>> | undefined
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** Where the document of a resource is: its path comes behind the well-known one. */
export function metadataUrlOf({ origin, pathname }: URL): string {
  return origin + WELL_KNOWN + (pathname === '/' ? '' : pathname)
}

export function resourceUrl(text: string): URL {
  const url = secureUrl(text, 'audience')
  if (url.search !== '') throw new RangeError('audience: expected a URL without a query')
  return url
}

export type MetadataHandler = (request: Request) => Response | undefined

export function createMetadataHandler(metadata: ResourceMetadata): MetadataHandler {
  const { resource, authorizationServers, scopes = [], name, documentation, more } = metadata
  if (authorizationServers.length === 0)
    throw new RangeError('metadata.authorizationServers: expected at least one issuer, for clients to get tokens at')
  for (const issuer of authorizationServers) secureUrl(issuer, 'authorizationServers')
  if (scopes.includes('offline_access')) {
    throw new RangeError('scopes: offline_access is for clients and authorization servers to agree on')
  }
  const text = JSON.stringify({
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
    if (method === 'GET' || method === 'HEAD') return new Response(method === 'GET' ? text : null, { headers: HEADERS })
    return method === 'OPTIONS' ? new Response(null, { status: 204, headers: PREFLIGHT }) : undefined
  }
}

const OPEN = { 'access-control-allow-origin': '*' }
const HEADERS = { ...OPEN, 'content-type': 'application/json', 'cache-control': 'public, max-age=300' }
const PREFLIGHT = {
  ...OPEN,
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': '*, mcp-protocol-version',
  'access-control-max-age': '7200',
}

/**
 * Answers at the well-known paths of a protected server, for those that are mounted below a path of a larger app: the
 * well-known paths begin at the root. Anything else is answered with 404.
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
  const answer = 'resource' in source ? createMetadataHandler(source) : source.metadata
  return (request) => answer?.(request) ?? new Response(null, { status: 404 })
}
