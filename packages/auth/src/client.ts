/** A `fetch` that authorizes its requests, for every runtime. */

export type { Awaitable } from '@mcpx/protocol'
export { AuthError, type AuthErrorOptions, type AuthStep } from './auth-error.ts'
export type { Fetch } from './bounded-fetch.ts'
export {
  type ClientCredentialsOptions,
  type CredentialOptions,
  clientCredentials,
  type WorkloadOptions,
  workload,
} from './client/client-credentials.ts'
export type { Auth, AuthTarget, CommonOptions, Login } from './client/create-login.ts'
export type { DpopOptions } from './client/dpop.ts'
export { type EnterpriseOptions, enterprise, type IdentityProvider } from './client/enterprise.ts'
export { type OAuthOptions, oauth } from './client/oauth.ts'
export {
  type Callback,
  finishPopup,
  manualRedirect,
  type PopupRedirectOptions,
  pageRedirect,
  popupRedirect,
  type Redirect,
  type RedirectUriOptions,
} from './client/redirects.ts'
export type { ClientMetadata } from './client/registration.ts'
export {
  type AuthStore,
  type LocalStorageStoreOptions,
  localStorageStore,
  memoryStore,
  type WebStorage,
} from './client/store.ts'
export type { PrivateKey, SecretMethod } from './client/token-endpoint.ts'
