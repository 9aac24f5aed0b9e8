/**
 * Finds the authorization server of an MCP server, with RFC 9728, RFC 8414 and OpenID Connect Discovery, and decides
 * which documents are trusted.
 */

import { isObject } from '@mcpx/protocol'
import type { AuthorizationServer } from 'oauth4webapi'
import { AuthError, printable } from '../auth-error.ts'
import { issuerMetadataUrls } from '../urls.ts'
import type { LoginSettings } from './renewal.ts'
import { type Connection, getJson } from './requests.ts'
import type { ServerRecord } from './token-records.ts'
import { trustHint } from './url-policy.ts'

/** Metadata whose URLs were checked and whose lists contain strings only. */
export interface ServerMetadata extends AuthorizationServer {
  readonly token_endpoint: string
  /**
   * Set if the server has no metadata document. Its endpoints are then the default paths of revision 2025-03-26.
   */
  readonly assumed?: true
}

export interface Discovery {
  /** The identifier of the MCP server, for which tokens are stored. */
  readonly resource: string
  /** The parameter of token and authorization requests that names the server. Empty if the option `resource` is false. */
  readonly resourceParams: Readonly<{ resource?: string }>
  /** The scopes that the MCP server lists in its metadata. */
  readonly scopesSupported: readonly string[]
  readonly server: ServerMetadata
}

/** The server, and the options that restrict what its metadata may name. */
type DiscoverySettings = Pick<LoginSettings, 'serverUrl' | 'issuer' | 'resource'>

/**
 * Rejects with `AuthError` if a document is missing, invalid or not trusted.
 *
 * @param named the URL of the metadata that a challenge of the server names
 * @param previous the previous login. Its authorization server is used as long as the MCP server names it, and its URL
 * of the metadata if no challenge names another URL
 */
export async function discover(
  connection: Connection,
  settings: DiscoverySettings,
  named: string | undefined,
  previous: ServerRecord | undefined,
): Promise<Discovery> {
  const { serverUrl, issuer } = settings
  // Check the URL of the server too, because tokens will be sent there.
  connection.urls.checkWithoutLookup('discovery', 'The URL of the server', serverUrl, serverUrl)
  const metadata = await findResourceMetadata(connection, serverUrl, named, previous?.resourceMetadata)
  if (metadata === undefined) return discoverWithoutMetadata(connection, settings)
  const chosen = chooseIssuer(metadata.authorizationServers, settings, previous?.issuer)
  // An issuer from the options may be in any network. An issuer from the MCP server may not lead further into a private
  // network than the MCP server.
  const namedBy = chosen === issuer ? new URL(chosen) : serverUrl
  const server = await readServerMetadata(connection, { issuer: chosen, namedBy })
  if (server === undefined) throw missingServerMetadata(chosen)
  return { ...metadata, resourceParams: resourceParamsOf(settings.resource, metadata.resource), server }
}

function resourceParamsOf(option: string | false | undefined, resource: string): { resource?: string } {
  return option === false ? {} : { resource: option ?? resource }
}

function chooseIssuer(
  named: readonly string[],
  { serverUrl, issuer }: DiscoverySettings,
  previous: string | undefined,
): string {
  if (issuer === undefined) return named.find((each) => each === previous) ?? (named[0] as string)
  if (named.includes(issuer)) return issuer
  const list = printable(named.slice(0, 3).join(', '))
  const message = `The server names ${list} as its authorization server, and this client is bound to ${issuer}`
  const hint = 'Nothing was sent there. If the server has moved, register with its new authorization server.'
  throw new AuthError(message, { step: 'discovery', url: serverUrl, hint })
}

/**
 * Finds the authorization server of an MCP server without metadata. In revision 2025-03-26, an MCP server is its own
 * authorization server, even if it has no metadata.
 */
async function discoverWithoutMetadata(
  connection: Connection,
  { serverUrl, issuer, resource: option }: DiscoverySettings,
): Promise<Discovery> {
  const { origin, pathname, search } = serverUrl
  const candidate =
    issuer === undefined
      ? { issuer: origin, namedBy: serverUrl, aliases: [`${origin}/`] }
      : { issuer, namedBy: new URL(issuer) }
  const server = await readServerMetadata(connection, candidate)
  if (server === undefined && issuer !== undefined) throw missingServerMetadata(issuer)
  const resource = pathname === '/' && search === '' ? origin : `${origin}${pathname}${search}`
  return {
    resource,
    resourceParams: resourceParamsOf(option, resource),
    scopesSupported: [],
    server: server ?? assumedMetadata(origin),
  }
}

// Metadata of the MCP server

interface ResourceMetadata {
  readonly resource: string
  readonly authorizationServers: readonly string[]
  readonly scopesSupported: readonly string[]
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'
const REPORT_TO_SERVER = 'Report it to the operator of the server: its metadata must name the URL that clients use.'

/**
 * Reads the first document that exists: at the URL in the challenge, at the URL of the previous login, or at a
 * well-known path. Returns undefined if there is no document.
 */
async function findResourceMetadata(
  connection: Connection,
  server: URL,
  named: string | undefined,
  previouslyNamed: string | undefined,
): Promise<ResourceMetadata | undefined> {
  if (named !== undefined) {
    const url = await checkMetadataUrl(connection, named, server)
    const { status, body } = await getJson(connection, url)
    if (status !== 200) throw metadataRefused(url, status)
    return readResourceMetadata(body, url, server)
  }
  const urls = wellKnownPaths(server).map((path) => new URL(path, server.origin))
  const previous = previouslyNamed && (await checkMetadataUrl(connection, previouslyNamed, server))
  if (previous) urls.unshift(previous)
  for (const url of urls) {
    const { status, body } = await getJson(connection, url)
    if (status >= 500) throw metadataRefused(url, status)
    // The previous URL may have another document now.
    const isMetadata = status === 200 && isObject(body) && (url !== previous || 'resource' in body)
    if (isMetadata) return readResourceMetadata(body, url, server)
  }
  return undefined
}

async function checkMetadataUrl(connection: Connection, named: string, server: URL): Promise<URL> {
  const url = await connection.urls.check('discovery', 'resource_metadata', named, server)
  if (!connection.urls.isTrusted(url)) refuseOtherOrigin(url, server)
  return url
}

/** Throws if a document is on another origin. It determines who receives the tokens, so it must come from the server itself. */
function refuseOtherOrigin(url: URL, server: URL): void {
  if (url.origin === server.origin) return
  const hint = `The metadata of ${server.origin} must be served there. ${trustHint(url)}`
  const message = `resource_metadata leads to another origin than ${server.origin}`
  throw new AuthError(message, { step: 'discovery', url, hint })
}

function wellKnownPaths({ pathname, search }: URL): string[] {
  const path = pathname.replace(/\/$/, '')
  return path === '' && search === '' ? [WELL_KNOWN] : [`${WELL_KNOWN}${path}${search}`, WELL_KNOWN]
}

function metadataRefused(url: URL, status: number): AuthError {
  const hint = 'Check that the server runs and serves its metadata.'
  const message = `The metadata of the server was refused with HTTP status ${status}`
  return new AuthError(message, { step: 'discovery', url, hint })
}

function readResourceMetadata(body: unknown, url: URL, server: URL): ResourceMetadata {
  if (!isObject(body)) {
    const message = 'The metadata of the server is not a JSON object'
    throw new AuthError(message, { step: 'discovery', url, hint: REPORT_TO_SERVER })
  }
  const { resource } = body
  if (typeof resource !== 'string' || !covers(resource, server, url)) {
    const message = `The metadata describes ${printable(resource)}, not ${server.origin}${server.pathname}`
    const hint = `No token was requested. ${REPORT_TO_SERVER}`
    throw new AuthError(message, { step: 'discovery', url, hint })
  }
  const authorizationServers = stringsOf(body.authorization_servers)
  if (authorizationServers.length === 0) {
    const message = 'The metadata names no authorization_servers'
    throw new AuthError(message, { step: 'discovery', url, hint: REPORT_TO_SERVER })
  }
  return { resource, authorizationServers, scopesSupported: stringsOf(body.scopes_supported) }
}

/**
 * Returns whether a document may describe this server: its `resource` is the URL of the server. A document at a
 * well-known path may also name a parent of this URL, because only the owner of the origin can write there.
 */
function covers(resource: string, server: URL, document: URL): boolean {
  if (!URL.canParse(resource)) return false
  const named = new URL(resource)
  if (named.origin !== server.origin || named.hash !== '' || named.username !== '') return false
  const serverPath = withSlash(server.pathname)
  const path = withSlash(named.pathname)
  if (path === serverPath) return named.search === server.search || named.search === ''
  return document.pathname.startsWith(WELL_KNOWN) && serverPath.startsWith(path) && named.search === ''
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`
}

// Metadata of the authorization server

export interface IssuerCandidate {
  readonly issuer: string
  /** The URL of the server that named the issuer. */
  readonly namedBy: URL
  /** Other spellings that the document may use for the issuer. */
  readonly aliases?: readonly string[] | undefined
}

/** Reads the metadata of an authorization server. Returns undefined if it has no document. */
export async function readServerMetadata(
  connection: Connection,
  candidate: IssuerCandidate,
): Promise<ServerMetadata | undefined> {
  const issuer = await connection.urls.check('discovery', 'The issuer', candidate.issuer, candidate.namedBy)
  if (issuer.search !== '' || issuer.hash !== '') {
    const message = `The issuer ${printable(candidate.issuer)} contains a query or a fragment`
    throw new AuthError(message, { step: 'discovery', url: issuer })
  }
  for (const url of issuerMetadataUrls(issuer.href).map((each) => new URL(each))) {
    const { status, body } = await getJson(connection, url)
    if (status >= 500) {
      const message = `The metadata of the authorization server was refused with HTTP status ${status}`
      throw new AuthError(message, { step: 'discovery', url, hint: 'Check that the authorization server runs.' })
    }
    if (status === 200 && isObject(body)) return readDocument(connection, body, url, candidate)
  }
  return undefined
}

export function missingServerMetadata(issuer: string): AuthError {
  const tried = issuerMetadataUrls(issuer).map((url) => new URL(url).pathname)
  const hint = 'Report it to the operator of the authorization server.'
  return new AuthError(`No metadata was found; tried ${tried.join(', ')}`, { step: 'discovery', url: issuer, hint })
}

const ENDPOINTS = ['token_endpoint', 'authorization_endpoint', 'registration_endpoint', 'revocation_endpoint'] as const
const LISTS = [
  'scopes_supported',
  'grant_types_supported',
  'token_endpoint_auth_methods_supported',
  'code_challenge_methods_supported',
] as const
const FLAGS = ['client_id_metadata_document_supported', 'authorization_response_iss_parameter_supported'] as const

async function readDocument(
  connection: Connection,
  body: Readonly<Record<string, unknown>>,
  url: URL,
  { issuer: expected, aliases, namedBy }: IssuerCandidate,
): Promise<ServerMetadata> {
  const { issuer } = body
  if (typeof issuer !== 'string' || (issuer !== expected && aliases?.includes(issuer) !== true)) {
    const message = `The document names ${printable(issuer)} as its issuer, and ${printable(expected)} was expected`
    const hint = 'Both must be equal, character by character: report it to the operator of the authorization server.'
    throw new AuthError(message, { step: 'discovery', url, hint })
  }
  const metadata: Record<string, string | string[] | true> = {}
  for (const name of ENDPOINTS) {
    const endpoint = body[name]
    if (endpoint === undefined || endpoint === null) continue
    // The browser of the user opens the authorization endpoint. This client sends requests to the other endpoints.
    const isOpened = name === 'authorization_endpoint'
    const { urls } = connection
    const checked = isOpened
      ? urls.checkWithoutLookup('discovery', name, endpoint, namedBy)
      : await urls.check('discovery', name, endpoint, namedBy)
    metadata[name] = checked.href
  }
  const { token_endpoint } = metadata
  if (typeof token_endpoint !== 'string') {
    const hint = 'It is not a document of OAuth.'
    throw new AuthError('The document names no token_endpoint', { step: 'discovery', url, hint })
  }
  for (const name of LISTS) if (Array.isArray(body[name])) metadata[name] = stringsOf(body[name])
  for (const name of FLAGS) if (body[name] === true) metadata[name] = true
  return { ...metadata, issuer, token_endpoint }
}

/** Returns the endpoints of a server without metadata. The first revision with authorization defines their paths. */
function assumedMetadata(origin: string): ServerMetadata {
  return {
    issuer: origin,
    token_endpoint: `${origin}/token`,
    authorization_endpoint: `${origin}/authorize`,
    registration_endpoint: `${origin}/register`,
    assumed: true,
  }
}

const MAX_ENTRIES = 1_000

/** Returns the strings in a list that was received from a peer. */
export function stringsOf(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, MAX_ENTRIES).filter((entry) => typeof entry === 'string')
}
