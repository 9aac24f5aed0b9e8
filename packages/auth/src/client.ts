/** A `fetch` that proves who is asking, for any runtime. */

export { AuthError, type AuthErrorOptions, type AuthStep } from './auth-error.ts'
export { finishPopup, type PopupRedirectOptions, pageRedirect, popupRedirect } from './client/browser-redirect.ts'
export type { PrivateKey, SecretMethod } from './client/client-authentication.ts'
export type { CommonOptions } from './client/create-auth.ts'
export type { DpopOptions } from './client/dpop.ts'
export { type EnterpriseOptions, enterprise, type IdentityProvider } from './client/enterprise.ts'
export type { Auth, AuthTarget, Awaitable, Fetch, Login } from './client/fetch.ts'
export { type LocalStorageStoreOptions, localStorageStore, type WebStorage } from './client/local-storage-store.ts'
export {
  type ClientCredentialsOptions,
  type CredentialOptions,
  clientCredentials,
  type WorkloadOptions,
  workload,
} from './client/machine-flows.ts'
export { type OAuthOptions, oauth } from './client/oauth.ts'
export { type Callback, manualRedirect, type Redirect, type RedirectUriOptions } from './client/redirect.ts'
export type { ClientMetadata } from './client/registration.ts'
export { type AuthStore, memoryStore } from './client/store.ts'
