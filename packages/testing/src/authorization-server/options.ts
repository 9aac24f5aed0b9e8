/** What can be set on the authorization server for development. */

import type { JSONWebKeySet } from 'jose'
import type { Fetch } from './json-document.ts'

export interface DevClient {
  readonly clientId: string
  /** Makes the client a confidential one. */
  readonly clientSecret?: string | undefined
  /** The client's public keys, for `private_key_jwt`. */
  readonly jwks?: JSONWebKeySet | undefined
  /** Compared exactly; the port of a loopback address may be any. */
  readonly redirectUris?: readonly string[] | undefined
  /** Default: `authorization_code` and `refresh_token`, or `client_credentials` where there are no redirect URIs. */
  readonly grantTypes?: readonly string[] | undefined
  readonly name?: string | undefined
}

/** Whose assertions are taken: identity providers for ID-JAG, platforms for workloads. */
export interface TrustedAssertions {
  readonly issuer: string
  readonly jwks?: JSONWebKeySet | undefined
  /** Where its keys are, if they are not given. Fetched by the option `fetch`. */
  readonly jwksUri?: string | undefined
  /** Workloads send assertions of their own, without being a client. Default: false. */
  readonly workloads?: boolean | undefined
}

/** What is asked of the user, who is not there. */
export interface ConsentRequest {
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly resources: readonly string[]
}

export interface DevAuthorizationServerOptions {
  /** The URL of the server. It answers below it, and at the well-known paths of its origin. */
  readonly issuer: string
  /** Clients that are known from the start. */
  readonly clients?: readonly DevClient[] | undefined
  /** The user who is logged in. Default: `dev-user`. */
  readonly subject?: string | undefined
  /** Stands in for the user: `false` denies, an array grants these scopes only. Default: everything is granted. */
  readonly consent?: ((request: ConsentRequest) => boolean | readonly string[]) | undefined
  /** Default: any scope is granted, and none is announced. */
  readonly scopes?: readonly string[] | undefined
  /** The resource servers that tokens are issued for; others are refused with `invalid_target`. Default: any. */
  readonly resources?: readonly string[] | undefined
  /** Default: `jwt`. */
  readonly accessTokens?: 'jwt' | 'opaque' | undefined
  /** Default: 3600 s. */
  readonly accessTokenTtl?: number | undefined
  /** Default: 60 s. */
  readonly codeTtl?: number | undefined
  /** Whether clients may register themselves. Default: true. */
  readonly registration?: boolean | undefined
  /** Whether clients may be named by the URL of their metadata. Default: true. */
  readonly clientMetadata?: boolean | undefined
  /** `required`: every token is bound to a key. `nonce`: proofs need a nonce besides. Default: `optional`. */
  readonly dpop?: 'optional' | 'required' | 'nonce' | undefined
  /** Whose assertions are taken by the grants `jwt-bearer` and `token-exchange`. Default: nobody's, and its own ID tokens. */
  readonly trusted?: readonly TrustedAssertions[] | undefined
  /** Fetches the metadata and the keys of clients. Default: the global one. */
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
