/** An authorization server for MCP clients that logs users in with a provider which the clients cannot use directly. */

export type { AuthInfo, Awaitable, Store } from '@mcpx/protocol'
export { memoryStore } from '@mcpx/protocol/memory'
export { AuthError, type AuthErrorOptions, type AuthStep } from './auth-error.ts'
export type { FrontClient, KnownClient } from './front/clients.ts'
export type { FrontUser } from './front/grants.ts'
export { type OAuthFront, oauthFront } from './front/oauth-front.ts'
export type { OAuthFrontOptions } from './front/options.ts'
export {
  type Auth0Options,
  auth0,
  type EntraOptions,
  entra,
  type GitHubOptions,
  type GoogleOptions,
  github,
  google,
  type OidcOptions,
  type OktaOptions,
  oidc,
  okta,
  type Provider,
  type ProviderEndpoints,
  type ProviderOptions,
} from './front/providers.ts'
export type { BearerGuard } from './resource-server/bearer.ts'
