/** Clients: registered dynamically (RFC 7591), identified by the URL of their metadata, or known in advance. */

import { isObject } from '@mcpx/protocol'
import { AuthError, printable } from '../auth-error.ts'
import type { SecretMethod } from '../client/token-endpoint.ts'
import { createUrlPolicy, type UrlPolicy } from '../client/url-policy.ts'
import { sha256 } from '../resource-server/dpop.ts'
import { ExpiringMap } from '../resource-server/expiring-map.ts'
import { fetchJson } from '../resource-server/issuers.ts'
import { invalidClient, invalidRequest, OAuthError, type Parameters, unavailable } from './oauth-error.ts'
import type { CheckedOptions } from './options.ts'
import { isRegistered, redirectUriProblem } from './redirect-uris.ts'
import type { Seals } from './seals.ts'

/** A client that is known in advance. */
export interface KnownClient {
  /** Identifies the client in requests. */
  readonly clientId: string
  /** The name for users. */
  readonly name: string
  /**
   * The permitted redirect URIs. They are compared character by character, except for the port of a loopback address.
   */
  readonly redirectUris: readonly string[]
  /** The secret, of at least 16 characters. A client with a secret is confidential. Default: none. */
  readonly clientSecret?: string | undefined
}

/** A client that wants to use the server. */
export interface FrontClient extends Omit<KnownClient, 'clientSecret'> {
  /** The host whose owner has published the metadata of the client. Undefined for other clients. */
  readonly host?: string | undefined
  /** Whether the client receives refresh tokens. */
  readonly refreshes: boolean
}

type Metadata = Readonly<Record<string, unknown>>

export const SECRET_METHODS: readonly SecretMethod[] = ['none', 'client_secret_basic', 'client_secret_post']

/** A registration. Its encrypted form is the client id, so the server stores no registrations. */
interface Registration {
  readonly name: string
  readonly uris: readonly string[]
  readonly secret?: true
  readonly refreshes?: true
}

/** The fewest characters of the secret of a known client. */
const MIN_SECRET = 16
const MAX_REDIRECT_URIS = 20
/** The largest total length of the redirect URIs of a registration, in characters. They are part of the client id. */
const MAX_REGISTERED = 2_048
const MAX_NAME = 100
/** The largest metadata document, in bytes. The draft of client id metadata documents recommends this limit. */
const MAX_DOCUMENT = 5 * 1_024
const MAX_CLIENT_ID = 5_000
/** How long metadata documents and failed requests for them are cached, in ms. */
const DOCUMENT_AGE = 300_000
const FAILURE_AGE = 30_000
const MAX_CACHED = 1_000
/** How many documents are fetched at once. */
const MAX_FETCHES = 20

export class Clients {
  readonly #options: CheckedOptions
  readonly #seals: Seals
  readonly #known: ReadonlyMap<string, KnownClient>
  readonly #urls: UrlPolicy
  readonly #documents = new ExpiringMap<FrontClient | OAuthError>(MAX_CACHED)

  constructor(options: CheckedOptions, seals: Seals) {
    this.#options = options
    this.#seals = seals
    this.#known = indexClients(options.clients ?? [])
    this.#urls = createUrlPolicy(options)
  }

  /** Returns the client of an authorization request. Throws if its redirect URI is not registered. */
  async require(params: Parameters): Promise<{ readonly client: FrontClient; readonly redirectUri: string }> {
    const client = await this.#find(params.require('client_id', MAX_CLIENT_ID))
    const redirectUri = params.require('redirect_uri')
    if (!isRegistered(client.redirectUris, redirectUri)) {
      const problem = 'redirect_uri: expected one that the client has registered, got another'
      const remedy = 'Nothing was sent there. If you trust the application, remove this server there and add it again.'
      throw new OAuthError('invalid_request', problem, { remedy })
    }
    if (this.#options.allowClient !== undefined && (await this.#options.allowClient(client)) !== true) {
      const remedy = 'Ask the operator of this server to allow it.'
      throw new OAuthError('unauthorized_client', 'This application may not use this server', { status: 403, remedy })
    }
    return { client, redirectUri }
  }

  async #find(clientId: string): Promise<FrontClient> {
    const known = this.#known.get(clientId)
    if (known !== undefined) {
      const { name, redirectUris } = known
      return { clientId, name, redirectUris, refreshes: true }
    }
    if (/^https?:/i.test(clientId)) return this.#published(clientId)
    const { name, uris, refreshes = false } = await this.#registration(clientId)
    return { clientId, name, redirectUris: uris, refreshes }
  }

  async #registration(clientId: string): Promise<Registration> {
    const isEnabled = this.#options.registration !== false
    const registration = isEnabled ? await this.#seals.open<Registration>('client', clientId) : undefined
    if (registration !== undefined) return registration
    const remedy = 'Remove this server in your application and add it again, so that the application registers again.'
    throw invalidClient('client_id: this client is not registered here', remedy)
  }

  // Registration

  /** Registers a client. Returns the members of the response. */
  async register(metadata: unknown): Promise<Metadata> {
    if (this.#options.registration === false) {
      throw new OAuthError('access_denied', 'Dynamic registration is disabled here', { status: 403 })
    }
    const refuse = (problem: string) => new OAuthError('invalid_client_metadata', problem)
    if (!isObject(metadata)) throw refuse('body: expected a JSON object')
    const method = metadata.token_endpoint_auth_method ?? 'client_secret_basic'
    if (!isSecretMethod(method)) {
      throw refuse(`token_endpoint_auth_method: expected one of ${SECRET_METHODS.join(', ')}, got another`)
    }
    const grants = metadata.grant_types ?? ['authorization_code']
    if (!isStrings(grants) || !grants.includes('authorization_code')) {
      throw refuse('grant_types: expected a list with authorization_code')
    }
    const uris = checkRedirectUris(metadata.redirect_uris)
    const name = nameOf(metadata.client_name) ?? 'An application without a name'
    const refreshes = grants.includes('refresh_token')
    const hasSecret = method !== 'none'
    const registration: Registration = {
      name,
      uris,
      ...(hasSecret && { secret: true }),
      ...(refreshes && { refreshes }),
    }
    const clientId = await this.#seals.seal('client', registration)
    const [secret] = hasSecret ? await this.#seals.clientSecrets(clientId) : []
    return {
      client_id: clientId,
      client_id_issued_at: Math.floor(Date.now() / 1_000),
      ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
      client_name: name,
      redirect_uris: uris,
      token_endpoint_auth_method: method,
      grant_types: ['authorization_code', ...(refreshes ? ['refresh_token'] : [])],
      response_types: ['code'],
    }
  }

  // Client id metadata documents

  /** Reads the document of a client: https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/ */
  async #published(clientId: string): Promise<FrontClient> {
    const read = async () => {
      if (this.#documents.loading >= MAX_FETCHES) throw unavailable('Too many applications are looked up at once')
      return this.#readDocument(clientId).catch((error: unknown) => {
        if (error instanceof OAuthError) return error
        throw error
      })
    }
    const ageOf = (found: object) => (found instanceof OAuthError ? FAILURE_AGE : DOCUMENT_AGE)
    const found = await this.#documents.load(clientId, read, ageOf)
    if (found instanceof OAuthError) throw found
    return found
  }

  async #readDocument(clientId: string): Promise<FrontClient> {
    const remedy = 'Report it to the developers of the application.'
    const refuse = (problem: string) => invalidClient(`client_id: ${problem}`, remedy)
    if (this.#options.metadataDocuments === false) throw refuse('metadata documents are not accepted here')
    const url = await this.#checkDocumentUrl(clientId).catch((error: Error) => {
      throw refuse(
        error instanceof AuthError ? 'the URL is not accepted: it must be a public https: URL' : error.message,
      )
    })
    const document = await this.#fetchDocument(url.href).catch((error: Error) => {
      throw refuse(`the metadata document cannot be read: ${error.message}`)
    })
    if (document.client_id !== clientId) throw refuse('the metadata document names another client_id')
    const method = document.token_endpoint_auth_method ?? 'none'
    if (method !== 'none' || 'client_secret' in document)
      throw refuse('a client with a metadata document has no secret')
    const name = nameOf(document.client_name)
    if (name === undefined) throw refuse('the metadata document has no client_name')
    const redirectUris = checkRedirectUris(document.redirect_uris)
    const grants = document.grant_types ?? ['authorization_code', 'refresh_token']
    const refreshes = isStrings(grants) && grants.includes('refresh_token')
    return { clientId, name, host: url.host, redirectUris, refreshes }
  }

  /**
   * Checks the URL of a document: it must not lead further into a private network than this server, and must be in the
   * canonical form.
   */
  async #checkDocumentUrl(clientId: string): Promise<URL> {
    const url = await this.#urls.check('registration', 'client_id', clientId, new URL(this.#options.issuer))
    const isCanonical = url.href === clientId && url.pathname !== '/' && url.hash === ''
    if (!isCanonical) throw new Error('expected a URL with a path, without a fragment, as a browser writes it')
    return url
  }

  async #fetchDocument(url: string): Promise<Metadata> {
    const { status, body } = await fetchJson(url, this.#options, {}, MAX_DOCUMENT)
    // Redirects are not followed: they could lead inside a network.
    if (status !== 200) throw new Error(`its status is ${status}, not 200`)
    if (!isObject(body)) throw new Error('it is not a JSON object')
    return body
  }

  // Authentication

  /** Returns the id of the client that sends a request to the token endpoint. Throws unless it proves its secret, if it has one. */
  async authenticate({ headers }: Request, form: Parameters): Promise<string> {
    const basic = readBasic(headers.get('authorization'))
    const sent = form.get('client_secret', MAX_CLIENT_ID)
    const named = form.get('client_id', MAX_CLIENT_ID)
    if (basic !== undefined && sent !== undefined) throw invalidRequest('The client authenticates in more than one way')
    if (basic !== undefined && named !== undefined && named !== basic.clientId) {
      throw invalidRequest('client_id: expected the id in the authorization header, got another')
    }
    const clientId = basic?.clientId ?? named
    if (clientId === undefined) throw invalidClient('client_id: expected a value, got none')
    const secret = basic?.secret || sent
    const accepted = await this.#secretsOf(clientId)
    const digests = await Promise.all([secret ?? '', ...accepted].map(sha256))
    // Comparing digests takes the same time for every secret, so the time reveals nothing.
    const isProved = accepted.length === 0 ? secret === undefined : digests.indexOf(digests[0] as string, 1) > 0
    if (!isProved) throw invalidClient('client_secret: expected the secret of the client, or none for a public client')
    return clientId
  }

  /** Returns the accepted secrets. Empty for a public client. */
  async #secretsOf(clientId: string): Promise<readonly string[]> {
    const known = this.#known.get(clientId)
    if (known !== undefined) return known.clientSecret === undefined ? [] : [known.clientSecret]
    if (/^https?:/i.test(clientId)) {
      // The document itself is not read again: it is not needed for codes and tokens, which name the client.
      if (this.#options.metadataDocuments !== false) return []
      throw invalidClient('client_id: metadata documents are not accepted here')
    }
    const { secret } = await this.#registration(clientId)
    return secret === true ? this.#seals.clientSecrets(clientId) : []
  }
}

/** @throws RangeError for a client that nobody or everybody could use */
function indexClients(clients: readonly KnownClient[]): Map<string, KnownClient> {
  const known = new Map<string, KnownClient>()
  for (const client of clients) {
    const { clientId, name, redirectUris, clientSecret } = client
    if (!clientId) throw new RangeError('clients: expected a client id, got none')
    if (known.has(clientId)) throw new RangeError(`clients: ${clientId}: expected one client with this id, got several`)
    if (!name) throw new RangeError(`clients: ${clientId}: expected a name, got none`)
    if (redirectUris.length === 0)
      throw new RangeError(`clients: ${clientId}: expected one or more redirect URIs, got none`)
    const problem = redirectUris.map(redirectUriProblem).find((each) => each !== undefined)
    if (problem !== undefined) throw new RangeError(`clients: a redirect URI of ${clientId} ${problem}`)
    if (clientSecret !== undefined && clientSecret.length < MIN_SECRET) {
      const hint = 'leave it out for a client without a secret'
      throw new RangeError(`clients: the secret of ${clientId}: expected at least ${MIN_SECRET} characters; ${hint}`)
    }
    known.set(clientId, client)
  }
  return known
}

function isSecretMethod(value: unknown): value is SecretMethod {
  return SECRET_METHODS.some((method) => method === value)
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function checkRedirectUris(uris: unknown): string[] {
  const refuse = (problem: string) => new OAuthError('invalid_redirect_uri', `redirect_uris: ${problem}`)
  if (!isStrings(uris) || uris.length === 0) throw refuse('expected a list of URLs with at least one')
  const total = uris.reduce((sum, { length }) => sum + length, 0)
  if (uris.length > MAX_REDIRECT_URIS || total > MAX_REGISTERED) {
    throw refuse(`expected at most ${MAX_REDIRECT_URIS} URLs with ${MAX_REGISTERED} characters in total`)
  }
  for (const [index, uri] of uris.entries()) {
    const problem = redirectUriProblem(uri)
    if (problem !== undefined) throw refuse(`number ${index + 1} ${problem}`)
  }
  return uris
}

/** Characters that cannot be seen, that reorder others, or that enclose them. */
const HIDDEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Me}\u2800]+/gu
/** Marks without a character, and more marks on a character than languages need: they would cover other text. */
const STRAY_MARKS = /^[\p{M}\s]+|(?<=\p{M}{2})\p{M}+/gu

/** Returns the name without characters that hide, reorder or cover other characters. */
function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const name = printable(value.normalize('NFKC').replace(HIDDEN, ' ').replace(STRAY_MARKS, '')).trim()
  return name === '' ? undefined : name.slice(0, MAX_NAME)
}

/** Reads Basic credentials. The id and the secret are encoded like a form (RFC 6749, section 2.3.1). */
function readBasic(header: string | null): { readonly clientId: string; readonly secret: string } | undefined {
  if (header === null) return undefined
  const encoded = /^basic ([\w+/=-]{1,12000})$/i.exec(header)?.[1] ?? ''
  const decode = (part: string) => decodeURIComponent(part.replaceAll('+', ' '))
  try {
    const [clientId = '', ...rest] = atob(encoded).split(':')
    if (clientId !== '') return { clientId: decode(clientId), secret: decode(rest.join(':')) }
  } catch {
    // The same error as for other schemes.
  }
  throw invalidClient('authorization: expected Basic credentials')
}
