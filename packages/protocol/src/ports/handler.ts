/** What answers requests: a registry, a hand-written object, a mounted set of servers, a proxy. */

import type { CompleteRequestParams, CompleteResult } from '../schema/completion.ts'
import type { InputRequiredResult } from '../schema/input-required.ts'
import type { LoggingLevel } from '../schema/logging.ts'
import type { GetPromptRequestParams, GetPromptResult, ListPromptsResult } from '../schema/prompts.ts'
import type { ListResourcesResult, ListResourceTemplatesResult, ReadResourceResult } from '../schema/resources.ts'
import type { CallToolRequestParams, CallToolResult, ListToolsResult } from '../schema/tools.ts'
import type { Awaitable } from './awaitable.ts'
import type { Context } from './context.ts'

/** Which part of a list is wanted. */
export interface PageRequest {
  /** The `nextCursor` of the page before; absent for the first. */
  readonly cursor?: string | undefined
}

/** Something that clients may want to know: a list is no longer what it was, or a resource is not. */
export type Change =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  | { readonly kind: 'resource'; readonly uri: string }

export interface ToolHandler {
  listTools(page: PageRequest, ctx: Context): Awaitable<ListToolsResult>
  callTool(params: CallToolRequestParams, ctx: Context): Awaitable<CallToolResult | InputRequiredResult>
}

export interface ResourceHandler {
  listResources(page: PageRequest, ctx: Context): Awaitable<ListResourcesResult>
  readResource(params: { readonly uri: string }, ctx: Context): Awaitable<ReadResourceResult | InputRequiredResult>
  listResourceTemplates?(page: PageRequest, ctx: Context): Awaitable<ListResourceTemplatesResult>
}

export interface SubscriptionHandler {
  subscribe(params: { readonly uri: string }, ctx: Context): Awaitable<void>
  unsubscribe(params: { readonly uri: string }, ctx: Context): Awaitable<void>
}

export interface PromptHandler {
  listPrompts(page: PageRequest, ctx: Context): Awaitable<ListPromptsResult>
  getPrompt(params: GetPromptRequestParams, ctx: Context): Awaitable<GetPromptResult | InputRequiredResult>
}

export interface OtherHandler {
  complete(params: CompleteRequestParams, ctx: Context): Awaitable<CompleteResult>
  /**
   * Hears from which level on a session wants log messages; that it is there declares `logging`.
   *
   * @deprecated The protocol may drop logging from its first revision on or after 2027-07-28 on (SEP-2577): write to
   * stderr, or trace with OpenTelemetry.
   */
  setLogLevel(params: { readonly level: LoggingLevel }, ctx: Context): Awaitable<void>
  /**
   * Calls the listener with each change until the returned function is called. A server calls it once as long as anybody
   * listens to it, however many do, with a function that is not used twice and does not throw. What this throws goes to
   * the server's `onError`, and the other parts of that server are heard.
   */
  changes(listener: (change: Change) => void): () => void
}

/** Any of the parts. What is not there is not offered: a handler's methods are its capabilities. */
export interface Handler
  extends Partial<ToolHandler & ResourceHandler & SubscriptionHandler & PromptHandler & OtherHandler> {}

/** All of a part or nothing of it. */
type Whole<Part> = Part | { readonly [Key in keyof Part]?: undefined }

/** A handler in which no pair is torn, such as a `callTool` without a `listTools`. */
export type WholeHandler = Whole<ToolHandler> &
  Whole<ResourceHandler> &
  Whole<SubscriptionHandler> &
  Whole<PromptHandler> &
  Partial<OtherHandler>
