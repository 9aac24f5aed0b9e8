/** A server of the protocol: one handler for every revision, on any transport. */

export type { Answered, Ask, AuthInfo, Context, Handler } from '@mcpx/protocol'
export {
  ErrorCode,
  insufficientScope,
  internalError,
  invalidParams,
  invalidRequest,
  methodNotFound,
  missingClientCapability,
  RpcError,
  urlElicitationRequired,
} from '@mcpx/protocol'

export type { AnswerCheck, Asker, Question } from './asker.ts'
export { elicit, openUrl, roots, sample } from './asks.ts'
export type { ToolLookup } from './compose/tool-lookup.ts'
export type { Mountable, OwnedKind, OwningHandler } from './compose.ts'
export { audio, type BlockOptions, image, link, type ResourceBlockOptions, resource, text } from './content.ts'
export { SERVER_LIMITS, type ServerLimits } from './core.ts'
export { deriveContext } from './derived-context.ts'
export type { OnError } from './faults.ts'
export type { Completer } from './features/completers.ts'
export type { CacheHints } from './features/listing.ts'
export type { PromptOptions } from './features/prompt-options.ts'
export { RegistrationError } from './features/registration-error.ts'
export type { ResourceOptions, UriVariables } from './features/resource-options.ts'
export { ResultError } from './features/result-error.ts'
export type { ToolOptions } from './features/tool-options.ts'
export type { Fluent, NoOffers } from './fluent.ts'
export { inputRequired } from './input-required.ts'
export type { Endpoint, Middleware, Next, ServerRequest } from './middleware.ts'
export { QuestionError } from './questions.ts'
export { type Approval, type ApproveOptions, approve } from './ready/approve.ts'
export { type AuditEntry, type AuditOptions, type AuditOutcome, audit } from './ready/audit.ts'
export {
  type Count,
  type CounterStore,
  createMemoryCounterStore,
  type MemoryCounterStoreOptions,
} from './ready/counter-store.ts'
export { RATE_LIMITED, type RateLimitOptions, rateLimit } from './ready/rate-limit.ts'
export { looksSecret } from './ready/redaction.ts'
export { TIMED_OUT, timeout } from './ready/timeout.ts'
export { resourceNotFound } from './resource-not-found.ts'
export type { Server } from './server.ts'
export type { ServerOptions } from './server-core.ts'
export type { ToolContext } from './tool-context.ts'
export { ToolError } from './tool-error.ts'
export { createServer } from './whole-server.ts'
