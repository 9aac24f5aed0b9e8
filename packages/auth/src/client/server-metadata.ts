/** What an authorization server says about itself (RFC 8414, OpenID Connect Discovery), and whether that may be believed. */

import { failure, quote } from './failure.ts'
import { isObject } from './json-request.ts'
import type { Link } from './link.ts'
import { strings } from './resource-metadata.ts'

export interface ServerMetadata {
  readonly issuer: string
  readonly tokenEndpoint: URL
  readonly authorizationEndpoint: URL | undefined
  readonly registrationEndpoint: URL | undefined
  readonly revocationEndpoint: URL | undefined
  readonly scopesSupported: readonly string[]
  /** Nothing where the server does not say. */
  readonly grantTypes: readonly string[] | undefined
  readonly tokenEndpointAuthMethods: readonly string[] | undefined
  readonly codeChallengeMethods: readonly string[] | undefined
  readonly dpopAlgorithms: readonly string[] | undefined
  readonly clientIdMetadataDocuments: boolean
  readonly sendsIss: boolean
  /** There was no document: the endpoints are those that the first revision takes for granted. */
  readonly assumed: boolean
}

export interface Candidate {
  readonly issuer: string
  /** Who names the issuer. */
  readonly by: URL
  /** What else the document may call itself, where nobody has said what it must. */
  readonly aliases?: readonly string[] | undefined
}

/** Nothing where the server has no such document at all. */
export async function readServerMetadata(link: Link, candidate: Candidate): Promise<ServerMetadata | undefined> {
  const issuer = await link.check('discovery', 'The issuer', candidate.issuer, candidate.by)
  if (issuer.search !== '' || issuer.hash !== '') {
    throw failure('discovery', `The issuer ${quote(candidate.issuer)} holds a query or a fragment`, { url: issuer })
  }
  for (const url of documentsOf(issuer)) {
    const { status, body } = await link.request({ step: 'discovery', url, method: 'GET' })
    if (status >= 500) {
      const message = `The metadata of the authorization server was refused with HTTP status ${status}`
      throw failure('discovery', message, { url, hint: 'See that the authorization server runs.' })
    }
    if (status === 200 && isObject(body)) return readDocument(link, body, url, candidate)
  }
  return undefined
}

export function missingServerMetadata(issuer: string) {
  const tried = URL.canParse(issuer) ? documentsOf(new URL(issuer)).map(({ pathname }) => pathname) : []
  const hint = 'Tell whoever runs the authorization server.'
  return failure('discovery', `No metadata was found; tried ${tried.join(', ')}`, { url: issuer, hint })
}

function documentsOf({ origin, pathname }: URL): URL[] {
  const path = pathname.replace(/\/$/, '')
  const paths = [`/.well-known/oauth-authorization-server${path}`, `/.well-known/openid-configuration${path}`]
  if (path !== '') paths.push(`${path}/.well-known/openid-configuration`)
  return paths.map((each) => new URL(each, origin))
}

type Body = Readonly<Record<string, unknown>>

async function readDocument(link: Link, body: Body, url: URL, candidate: Candidate): Promise<ServerMetadata> {
  const { issuer } = body
  if (typeof issuer !== 'string' || (issuer !== candidate.issuer && candidate.aliases?.includes(issuer) !== true)) {
    const message = `The document calls its issuer ${quote(issuer)}, and ${quote(candidate.issuer)} was expected`
    const hint = 'It is not used. Both must be the same to the letter: tell whoever runs the authorization server.'
    throw failure('discovery', message, { url, hint })
  }
  const endpoint = (name: string) => endpointOf(link, name, body[name], candidate.by)
  const tokenEndpoint = await endpoint('token_endpoint')
  if (tokenEndpoint === undefined) {
    throw failure('discovery', 'The document names no token_endpoint', { url, hint: 'It is not of OAuth.' })
  }
  return {
    issuer,
    tokenEndpoint,
    authorizationEndpoint: await endpoint('authorization_endpoint'),
    registrationEndpoint: await endpoint('registration_endpoint'),
    revocationEndpoint: await endpoint('revocation_endpoint'),
    ...claimsOf(body),
    assumed: false,
  }
}

async function endpointOf(link: Link, name: string, value: unknown, by: URL): Promise<URL | undefined> {
  if (value === undefined || value === null) return undefined
  // The user's browser asks the authorization endpoint, this client the others.
  if (name === 'authorization_endpoint') return link.read('discovery', name, value, by)
  return link.check('discovery', name, value, by)
}

function claimsOf(body: Body) {
  const list = (name: string) => (Array.isArray(body[name]) ? strings(body[name]) : undefined)
  return {
    scopesSupported: strings(body.scopes_supported),
    grantTypes: list('grant_types_supported'),
    tokenEndpointAuthMethods: list('token_endpoint_auth_methods_supported'),
    codeChallengeMethods: list('code_challenge_methods_supported'),
    dpopAlgorithms: list('dpop_signing_alg_values_supported'),
    clientIdMetadataDocuments: body.client_id_metadata_document_supported === true,
    sendsIss: body.authorization_response_iss_parameter_supported === true,
  }
}

/** Where the endpoints are of a server that says nothing: the first revision with authorization fixes their paths. */
export function assumedMetadata(origin: string): ServerMetadata {
  return {
    issuer: origin,
    tokenEndpoint: new URL('/token', origin),
    authorizationEndpoint: new URL('/authorize', origin),
    registrationEndpoint: new URL('/register', origin),
    revocationEndpoint: undefined,
    ...claimsOf({}),
    assumed: true,
  }
}
