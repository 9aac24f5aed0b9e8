/** What both halves share, and an authorization server for development. */

export { AuthError, type AuthErrorOptions, type AuthStep } from './auth-error.ts'
export { type DevAuthorizationServer, devAuthorizationServer } from './dev-server/dev-authorization-server.ts'
export type {
  ConsentRequest,
  DevAuthorizationServerOptions,
  DevClient,
  TrustedAssertions,
} from './dev-server/options.ts'
export type { Fetch } from './json-document.ts'
