/** The interfaces of handlers, which answer the requests of a server. Registries, mounted servers and proxies are handlers. */

import type { Awaitable } from './async.ts'
import type { Context } from './context.ts'
import type { InputRequiredResult } from './schemas/client-features.ts'
import type {
  CallToolRequestParams,
  CallToolResult,
  CompleteRequestParams,
  CompleteResult,
  GetPromptRequestParams,
  GetPromptResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  LoggingLevel,
  ReadResourceResult,
} from './schemas/server-features.ts'

/** The requested page of a list. */
export interface PageRequest {
  /** The `nextCursor` of the previous page. Undefined for the first page. */
  readonly cursor?: string | undefined
}

/** A change of a list or of a resource. */
export type Change =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  | { readonly kind: 'resource'; readonly uri: string }

/** The members of a handler for tools. */
export interface ToolHandler {
  /** Returns one page of the tools. */
  listTools(page: PageRequest, ctx: Context): Awaitable<ListToolsResult>
  /** Calls a tool and returns its result. */
  callTool(params: CallToolRequestParams, ctx: Context): Awaitable<CallToolResult | InputRequiredResult>
}

/** The members of a handler for resources. */
export interface ResourceHandler {
  /** Returns one page of the resources. */
  listResources(page: PageRequest, ctx: Context): Awaitable<ListResourcesResult>
  /** Returns the contents of a resource. */
  readResource(params: { readonly uri: string }, ctx: Context): Awaitable<ReadResourceResult | InputRequiredResult>
  /** Returns one page of the resource templates. Default: none. */
  listResourceTemplates?(page: PageRequest, ctx: Context): Awaitable<ListResourceTemplatesResult>
}

/** The members of a handler for subscriptions to single resources. */
export interface SubscriptionHandler {
  /** Starts to report changes of a resource. */
  subscribe(params: { readonly uri: string }, ctx: Context): Awaitable<void>
  /** Stops reporting changes of a resource. */
  unsubscribe(params: { readonly uri: string }, ctx: Context): Awaitable<void>
}

/** The members of a handler for prompts. */
export interface PromptHandler {
  /** Returns one page of the prompts. */
  listPrompts(page: PageRequest, ctx: Context): Awaitable<ListPromptsResult>
  /** Returns the messages of a prompt. */
  getPrompt(params: GetPromptRequestParams, ctx: Context): Awaitable<GetPromptResult | InputRequiredResult>
}

/** The members of a handler for completion, logging and changes. */
export interface OtherHandler {
  /** Completes an argument of a prompt or a variable of a resource template. */
  complete(params: CompleteRequestParams, ctx: Context): Awaitable<CompleteResult>
  /**
   * Called with the lowest level of log messages that a session requests. A handler with this method declares
   * `logging`.
   *
   * @deprecated A revision published on or after 2027-07-28 may remove logging (SEP-2577): write to stderr, or trace
   * with OpenTelemetry.
   */
  setLogLevel(params: { readonly level: LoggingLevel }, ctx: Context): Awaitable<void>
  /**
   * Calls the listener with each change until the returned function is called. A server subscribes once for all its
   * subscribers. The listener is a new function for each subscription and never throws. Errors of this method are
   * passed to `onError` of the server and do not affect other parts. A server with a `store` publishes each change to
   * its other processes, unless `isShared` is true. Pass true if the source of the change, such as a database, notifies
   * all processes itself.
   */
  changes(listener: (change: Change, isShared?: boolean) => void): () => void
}

/** A handler with any of the parts. Its methods determine the capabilities of the server. */
export interface Handler
  extends Partial<ToolHandler & ResourceHandler & SubscriptionHandler & PromptHandler & OtherHandler> {}

/** All members of a part, or none of them. */
type Whole<Part> = Part | { readonly [Key in keyof Part]?: undefined }

/** A handler in which members that belong together are complete: `callTool` without `listTools` does not compile. */
export type WholeHandler = Whole<ToolHandler> &
  Whole<ResourceHandler> &
  Whole<SubscriptionHandler> &
  Whole<PromptHandler> &
  Partial<OtherHandler>

/** The types of one tool. */
export interface ToolTypes {
  /** The arguments of calls. */
  input: unknown
  /** The structured content of results. */
  output: unknown
}

/**
 * The types of the tools and prompts of a server. Clients in TypeScript use them without generated code.
 */
export interface Catalogue {
  /** The arguments and results of each tool. */
  tools: Record<string, ToolTypes>
  /** The arguments of each prompt. */
  prompts: Record<string, Record<string, string | undefined>>
}

/** An object with a catalogue. The member exists only in types. */
export interface Catalogued<out Types extends Catalogue> {
  readonly '~catalogue'?: Types
}
