/** Creates MCP servers. Handlers are written once for all revisions and transports. */

export type {
  Answered,
  Ask,
  AuthInfo,
  CheckingSchema,
  Context,
  Count,
  CounterStore,
  Handler,
  Store,
} from '@mcpx/protocol'
export {
  ErrorCode,
  insufficientScope,
  internalError,
  invalidParams,
  invalidRequest,
  looksSecret,
  methodNotFound,
  missingClientCapability,
  RpcError,
  urlElicitationRequired,
} from '@mcpx/protocol'
export { createMemoryCounterStore, type MemoryCounterStoreOptions, memoryStore } from '@mcpx/protocol/memory'

export type { Completer } from './completion.ts'
export { audio, type BlockOptions, image, link, type ResourceBlockOptions, resource, text } from './content.ts'
export { deriveContext } from './context.ts'
export {
  type DefinedItem,
  type DefinedPrompt,
  type DefinedResource,
  type DefinedTool,
  definePrompt,
  defineResource,
  defineTool,
} from './define.ts'
export type { ServerLimits } from './era.ts'
export type { OnError } from './errors.ts'
export { QuestionError, RegistrationError, ResultError, resourceNotFound, ToolError } from './errors.ts'
export {
  defineMethod,
  defineSubscription,
  type ExtensionHost,
  type ExtensionMembers,
  type ExtensionMethod,
  type ExtensionSubscription,
  type ExtensionToolOption,
  type ExtensionToolOptions,
  type LongWork,
  type OpenedSubscription,
  type ServerExtension,
  type Subscriber,
} from './extension.ts'
export { type Approval, type ApproveOptions, approve } from './middleware/approve.ts'
export { type AuditEntry, type AuditOptions, type AuditOutcome, audit } from './middleware/audit.ts'
export { RATE_LIMITED, type RateLimitOptions, rateLimit } from './middleware/rate-limit.ts'
export { TIMED_OUT, timeout } from './middleware/timeout.ts'
export type { Endpoint, Middleware, Next, ServerRequest, ToolLookup } from './middleware.ts'
export type { OwnedKind, OwningHandler } from './mount/combine.ts'
export type { Mountable } from './mount/prefix.ts'
export type { CacheHints } from './named-items.ts'
export type { PromptOptions } from './prompts.ts'
export type { AnswerCheck, Asker, OnUnsupported, Question, UnsupportedElicitation } from './questions.ts'
export { askUntilValid, elicit, openUrl, roots, sample } from './questions.ts'
export type { ResourceOptions, UriVariables } from './resources.ts'
export { inputRequired } from './results.ts'
export { createServer, SERVER_LIMITS, type Server, type ServerOptions } from './server.ts'
export type { NoInput, NoOutput, SomeSchema, ToolOptions } from './tools.ts'
export type { Fluent, NoItems, PromptArguments, WithItems, WithMounted, WithPrompt, WithTool } from './typed-server.ts'
