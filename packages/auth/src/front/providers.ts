/** The providers at which users log in, with the settings that each one needs. */

import { refuseUnknownOption } from '@mcpx/protocol'
import { secureUrl } from '../urls.ts'

/** A provider at which users log in, created by `oidc` or one of the presets. */
export interface Provider {
  /** The name that the consent page shows. */
  readonly name: string
  /** The id of this server at the provider. */
  readonly clientId: string
  /** The secret of this server at the provider. */
  readonly clientSecret: string
  /** The issuer of ID tokens, whose metadata names the endpoints. Undefined for a provider without OpenID Connect. */
  readonly issuer?: string | undefined
  /** The endpoints of a provider without metadata. */
  readonly endpoints?: ProviderEndpoints | undefined
  /** The scopes that this server requests at the provider. */
  readonly scopes: readonly string[]
  /** Additional parameters of the authorization request. */
  readonly authorizationParams: Readonly<Record<string, string>>
  /** How the client secret is sent. */
  readonly clientAuthentication: 'client_secret_basic' | 'client_secret_post'
  /** The claim, or the member of the user information, that identifies the user. */
  readonly subject: string
  /** Returns the reason why a user is refused, or undefined. */
  readonly check?: ((claims: Readonly<Record<string, unknown>>) => string | undefined) | undefined
}

/** The endpoints of a provider without metadata. */
export interface ProviderEndpoints {
  /** The URL at which the user logs in. */
  readonly authorization: string
  /** The URL that issues tokens. */
  readonly token: string
  /** The URL that returns a JSON object about the user of a token. */
  readonly userInfo: string
}

/** The options that all providers have. */
export interface ProviderOptions {
  /** The id of this server at the provider. */
  readonly clientId: string
  /** The secret of this server at the provider. */
  readonly clientSecret: string
  /** The scopes that handlers need for `upstreamToken`, in addition to the scopes of the login. Default: none. */
  readonly scopes?: readonly string[] | undefined
  /**
   * Additional parameters of the authorization request, such as `{ prompt: 'select_account' }`. Default: the
   * parameters of the preset.
   */
  readonly authorizationParams?: Readonly<Record<string, string>> | undefined
}

/** Options of `oidc`: an issuer, or the endpoints of a provider without metadata. */
export interface OidcOptions extends ProviderOptions {
  /** The identifier of the provider, as its metadata spells it. */
  readonly issuer?: string | undefined
  /** The endpoints of a provider that has no metadata and no ID tokens. */
  readonly endpoints?: ProviderEndpoints | undefined
  /** The name that the consent page shows. Default: the host of the provider. */
  readonly name?: string | undefined
  /** How the client secret is sent. Default: `client_secret_basic`. */
  readonly clientAuthentication?: Provider['clientAuthentication'] | undefined
  /** The claim, or the member of the user information, that identifies the user. Default: `sub`. */
  readonly subject?: string | undefined
}

const COMMON_OPTIONS = ['clientId', 'clientSecret', 'scopes', 'authorizationParams']
/** The scopes that every provider with ID tokens needs. */
const LOGIN_SCOPES = ['openid', 'profile', 'email']

/**
 * Describes any provider with OpenID Connect, or with OAuth and user information.
 *
 * ```ts
 * oidc({ issuer: 'https://login.example.com', clientId, clientSecret })
 * ```
 */
export function oidc(options: OidcOptions): Provider {
  const own = ['issuer', 'endpoints', 'name', 'clientAuthentication', 'subject']
  return define('oidc', options, own, options)
}

/** Options of `entra`. */
export interface EntraOptions extends ProviderOptions {
  /** The id of the tenant, a GUID. Users of other tenants are refused. */
  readonly tenant: string
}

const GUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/**
 * Describes a tenant of Microsoft Entra ID. The parameter `resource` is not sent. Instead, scopes name the API, such
 * as `api://files/read` or `User.Read` of Microsoft Graph. All scopes must belong to one API, because a token of Entra
 * is valid for one API.
 */
export function entra(options: EntraOptions): Provider {
  const { tenant, scopes = [] } = options
  const id = String(tenant).toLowerCase()
  if (!GUID.test(id)) {
    const got = JSON.stringify(tenant)
    throw new RangeError(
      `entra: tenant: expected the id of a tenant, a GUID, got ${got}; see its overview in the Entra portal`,
    )
  }
  const apis = [...new Set(scopes.filter((scope) => !isLoginScope(scope)).map(apiOf))]
  if (apis.length > 1) {
    throw new RangeError(`entra: scopes: expected scopes of one API, got scopes of ${apis.join(' and ')}`)
  }
  return define('entra', options, ['tenant'], {
    ...options,
    name: 'Microsoft',
    issuer: `https://login.microsoftonline.com/${id}/v2.0`,
    clientAuthentication: 'client_secret_post',
  })
}

function isLoginScope(scope: string): boolean {
  return [...LOGIN_SCOPES, 'offline_access'].includes(scope)
}

/** Returns the API of a scope of Entra. Names without an API belong to Microsoft Graph. */
function apiOf(scope: string): string {
  return scope.includes('://') ? scope.slice(0, scope.lastIndexOf('/')) : 'https://graph.microsoft.com'
}

/** Options of `google`. */
export interface GoogleOptions extends ProviderOptions {
  /** The only Google Workspace domain whose users are accepted. Default: all Google accounts. */
  readonly hostedDomain?: string | undefined
}

/** Describes Google. Requests `access_type=offline` and `prompt=consent`; otherwise Google issues no refresh tokens. */
export function google(options: GoogleOptions): Provider {
  const { hostedDomain, authorizationParams } = options
  return define('google', options, ['hostedDomain'], {
    ...options,
    name: 'Google',
    issuer: 'https://accounts.google.com',
    clientAuthentication: 'client_secret_post',
    authorizationParams: {
      access_type: 'offline',
      prompt: 'consent',
      ...(hostedDomain !== undefined && { hd: hostedDomain }),
      ...authorizationParams,
    },
    // Check the claim, because the parameter `hd` only preselects accounts.
    check: ({ hd }) =>
      hostedDomain === undefined || hd === hostedDomain ? undefined : 'the account is not of the hosted domain',
  })
}

/** Options of `github`. */
export interface GitHubOptions extends ProviderOptions {
  /** The host of a GitHub Enterprise Server. Default: `github.com`. */
  readonly host?: string | undefined
}

/**
 * Describes GitHub, which has no OpenID Connect for users: the user is read from its API, and `subject` is the number
 * of the account. Tokens of OAuth apps do not expire, so each refresh asks GitHub whether the token is still accepted.
 */
export function github(options: GitHubOptions): Provider {
  const { host = 'github.com' } = options
  const origin = originOf('github: host', host)
  return define('github', options, ['host'], {
    ...options,
    name: 'GitHub',
    endpoints: {
      authorization: `${origin}/login/oauth/authorize`,
      token: `${origin}/login/oauth/access_token`,
      userInfo: host === 'github.com' ? 'https://api.github.com/user' : `${origin}/api/v3/user`,
    },
    clientAuthentication: 'client_secret_post',
    subject: 'id',
  })
}

/** Options of `okta`. */
export interface OktaOptions extends ProviderOptions {
  /** The domain of the organization, such as `example.okta.com`. */
  readonly domain: string
  /**
   * The id of a custom authorization server, or `false` for the authorization server of the organization. Default:
   * `default`.
   */
  readonly authorizationServer?: string | false | undefined
}

/** Describes an authorization server of Okta. */
export function okta(options: OktaOptions): Provider {
  const { domain, authorizationServer = 'default' } = options
  const origin = originOf('okta: domain', domain)
  return define('okta', options, ['domain', 'authorizationServer'], {
    ...options,
    name: 'Okta',
    issuer: authorizationServer === false ? origin : `${origin}/oauth2/${encodeURIComponent(authorizationServer)}`,
    clientAuthentication: 'client_secret_basic',
  })
}

/** Options of `auth0`. */
export interface Auth0Options extends ProviderOptions {
  /** The domain of the tenant, such as `example.eu.auth0.com`. */
  readonly domain: string
  /** The API for which `upstreamToken` returns tokens. Default: the user information of Auth0. */
  readonly audience?: string | undefined
}

/** Describes a tenant of Auth0, whose issuer ends with a slash. */
export function auth0(options: Auth0Options): Provider {
  const { domain, audience, authorizationParams } = options
  return define('auth0', options, ['domain', 'audience'], {
    ...options,
    name: 'Auth0',
    issuer: `${originOf('auth0: domain', domain)}/`,
    clientAuthentication: 'client_secret_post',
    authorizationParams: { ...(audience !== undefined && { audience }), ...authorizationParams },
  })
}

function originOf(option: string, host: string): string {
  if (typeof host === 'string' && /^[a-z\d]([a-z\d.-]*[a-z\d])?(?::\d+)?$/i.test(host))
    return `https://${host.toLowerCase()}`
  throw new RangeError(`${option}: expected a host name such as example.com, got ${JSON.stringify(host)}`)
}

function define(
  place: string,
  options: ProviderOptions,
  own: readonly string[],
  definition: OidcOptions & Pick<Provider, 'check'>,
): Provider {
  refuseUnknownOption(place, options, [...COMMON_OPTIONS, ...own])
  const { clientId, clientSecret, scopes = [], authorizationParams = {}, check } = definition
  const { issuer, endpoints, clientAuthentication = 'client_secret_basic', subject = 'sub' } = definition
  for (const [name, value] of Object.entries({ clientId, clientSecret })) {
    if (typeof value !== 'string' || value === '') {
      throw new TypeError(`${place}: ${name}: expected a string, got none; create an application at the provider`)
    }
  }
  if ((issuer === undefined) === (endpoints === undefined)) {
    throw new TypeError(`${place}: expected an issuer or endpoints, got ${issuer === undefined ? 'neither' : 'both'}`)
  }
  const urls = issuer === undefined ? { ...endpoints } : { issuer }
  for (const [name, url] of Object.entries(urls)) secureUrl(url, `${place}: ${name}`)
  const [host = ''] = Object.values(urls).map((url) => new URL(url).host)
  return {
    name: definition.name ?? host,
    clientId,
    clientSecret,
    issuer,
    endpoints,
    scopes: [...new Set([...(issuer === undefined ? [] : LOGIN_SCOPES), ...scopes])],
    authorizationParams,
    clientAuthentication,
    subject,
    check,
  }
}
