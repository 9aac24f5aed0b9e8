/** Protects a server: tokens are checked, and clients are told where to get them. */

export { type ApiKey, type ApiKeysOptions, apiKeys } from './resource-server/api-keys.ts'
export type { TrustedIssuer } from './resource-server/authorization-server.ts'
export { type BearerGuard, bearer } from './resource-server/bearer.ts'
export type { Claims } from './resource-server/claims.ts'
export { firstOf } from './resource-server/first-of.ts'
export type { IntrospectionOptions } from './resource-server/introspection.ts'
export { protectedResourceMetadata, type ResourceMetadata } from './resource-server/metadata.ts'
export type { NonceOptions } from './resource-server/nonces.ts'
export type { BearerOptions, RefusedRequest } from './resource-server/options.ts'
export type { DpopOptions } from './resource-server/possession.ts'
export type { RefusalReason } from './resource-server/refusal.ts'
export {
  createMemoryReplayStore,
  type MemoryReplayStoreOptions,
  type ReplayStore,
} from './resource-server/replay-store.ts'
export type { Implies } from './resource-server/scopes.ts'
