/** Guards for servers. They check tokens and keys, and tell clients which authorization server to use. */

export type { AuthInfo, Guard, ReplayStore, ScopeRefusal } from '@mcpx/protocol'
export { createMemoryReplayStore, type MemoryReplayStoreOptions } from '@mcpx/protocol/memory'
export type { SendRequest } from './bounded-fetch.ts'
export { type ApiKey, type ApiKeysOptions, apiKeys, firstOf } from './resource-server/api-keys.ts'
export { type BearerGuard, type BearerOptions, bearer, type RefusedRequest } from './resource-server/bearer.ts'
export type { Claims, ProofReason, RefusalReason } from './resource-server/credentials.ts'
export type { DpopOptions, NonceOptions } from './resource-server/dpop.ts'
export type { IntrospectionOptions } from './resource-server/introspection.ts'
export type { TrustedIssuer } from './resource-server/issuers.ts'
export {
  type MetadataHandler,
  protectedResourceMetadata,
  type ResourceMetadata,
} from './resource-server/metadata.ts'
export type { Implies } from './resource-server/scopes.ts'
