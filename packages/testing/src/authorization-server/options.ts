/** The options of the authorization server, and the names of its grants and tokens. */

import type { JSONWebKeySet } from 'jose'
import type { Fetch } from './urls.ts'

/** A registered client. */
export interface DevClient {
  /** Identifies the client in requests. */
  readonly clientId: string
  /** The secret. A client with a secret is confidential. Default: none. */
  readonly clientSecret?: string | undefined
  /** The public keys of the client, for `private_key_jwt`. Default: none. */
  readonly jwks?: JSONWebKeySet | undefined
  /**
   * The permitted redirect URIs. They are compared exactly, except for the port of a loopback address. Default: none.
   */
  readonly redirectUris?: readonly string[] | undefined
  /**
   * The grants that the client may use. Default: `authorization_code` and `refresh_token`; without redirect URIs,
   * `client_credentials`.
   */
  readonly grantTypes?: readonly string[] | undefined
  /** The name of the client that users see. Default: none. */
  readonly name?: string | undefined
}

/** An issuer whose assertions are accepted: an identity provider (ID-JAG) or a workload platform. */
export interface TrustedAssertions {
  /** The `iss` claim of its assertions, compared exactly. */
  readonly issuer: string
  /** Its public keys. Default: the keys at `jwksUri`. */
  readonly jwks?: JSONWebKeySet | undefined
  /** The URL of its public keys. */
  readonly jwksUri?: string | undefined
  /** Whether workloads that are not registered as clients may authenticate with assertions of this issuer. Default: false. */
  readonly workloads?: boolean | undefined
}

/** The authorization request that the option `consent` decides on. */
export interface ConsentRequest {
  /** The client that requests access. */
  readonly clientId: string
  /** The requested scopes. */
  readonly scopes: readonly string[]
  /** The URLs of the requested resource servers. */
  readonly resources: readonly string[]
}

/** Options of `devAuthorizationServer`. Durations are in ms. */
export interface DevAuthorizationServerOptions {
  /** The URL of the server: HTTPS, or HTTP on this machine. Its endpoints are below this URL. */
  readonly issuer: string
  /** Registered clients. Default: none. */
  readonly clients?: readonly DevClient[] | undefined
  /** The user who logs in. Default: `dev-user`. */
  readonly subject?: string | undefined
  /**
   * Decides in place of the user: `false` denies, `true` grants, and an array grants only these scopes. Default: all
   * requested scopes are granted.
   */
  readonly consent?: ((request: ConsentRequest) => boolean | readonly string[]) | undefined
  /** Supported scopes. Default: any; the metadata lists none. */
  readonly scopes?: readonly string[] | undefined
  /** Resource servers that tokens are issued for; others are refused with `invalid_target`. Default: any. */
  readonly resources?: readonly string[] | undefined
  /** Format of access tokens. Default: `jwt`. */
  readonly accessTokens?: 'jwt' | 'opaque' | undefined
  /** Lifetime of access tokens and ID tokens, in ms. Default: 3,600,000. */
  readonly accessTokenTtl?: number | undefined
  /** Lifetime of authorization codes, in ms. Default: 60,000. */
  readonly codeTtl?: number | undefined
  /** Whether clients may register themselves. Default: true. */
  readonly registration?: boolean | undefined
  /** Whether a client id may be the URL of client metadata. Default: true. */
  readonly clientMetadata?: boolean | undefined
  /** `required`: every token is bound to a key. `nonce`: proofs must contain a nonce as well. Default: `optional`. */
  readonly dpop?: 'optional' | 'required' | 'nonce' | undefined
  /** Issuers whose assertions are accepted. Default: none. ID tokens of this server are always accepted. */
  readonly trusted?: readonly TrustedAssertions[] | undefined
  /** Fetches the metadata and keys of clients and trusted issuers. Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined
}

export const GRANTS = {
  code: 'authorization_code',
  refresh: 'refresh_token',
  client: 'client_credentials',
  assertion: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
  exchange: 'urn:ietf:params:oauth:grant-type:token-exchange',
} as const

export const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'
export const ID_JAG_TYPE = 'oauth-id-jag+jwt'
export const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token'
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
export const ASSERTION_ALGORITHMS: readonly string[] = ['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA', 'Ed25519']
