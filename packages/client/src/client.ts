/// <reference lib="esnext.disposable" preserve="true" />
/** A client: what can be asked of a server, the same in both eras and over every carrier. */

import type {
  CallToolResult,
  ClientRequests,
  CompleteRequestParams,
  CompleteResult,
  Era,
  GetPromptResult,
  JsonObject,
  LoggingLevel,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Revision,
  SubscriptionFilter,
  Tool,
} from '@mcpx/protocol'
import type { ServerFacts } from './eras/era.ts'
import type { Listening, ListenOptions } from './listening.ts'
import type { CallOptions, RequestCallOptions } from './options.ts'
import type { Listing } from './pagination.ts'
import type { ToolCallers } from './typed-tools.ts'

export interface Client<Server = unknown> extends AsyncDisposable {
  readonly era: Era
  readonly revision: Revision
  /** What the server said of itself when it was last asked. */
  readonly server: ServerFacts
  /** The tools as functions: `client.tools.add({ a: 1, b: 2 })`. */
  readonly tools: ToolCallers<Server>
  /** Asks the server what it is; in the legacy era it said so once and for all. */
  discover(options?: CallOptions): Promise<ServerFacts>
  listTools(options?: CallOptions): Listing<Tool>
  /** Calls a tool. A tool that failed gives a result with `isError`. */
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<CallToolResult>
  listResources(options?: CallOptions): Listing<Resource>
  listResourceTemplates(options?: CallOptions): Listing<ResourceTemplate>
  readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult>
  listPrompts(options?: CallOptions): Listing<Prompt>
  getPrompt(name: string, args?: Record<string, string>, options?: CallOptions): Promise<GetPromptResult>
  /** Proposals for an argument of a prompt, or for a variable of a URI template. */
  complete(params: Omit<CompleteRequestParams, '_meta'>, options?: CallOptions): Promise<CompleteResult>
  /** Has `onChange` hear of updates of a resource, and of what lies below it, until it is unsubscribed from. */
  subscribe(uri: string, options?: CallOptions): Promise<void>
  unsubscribe(uri: string): Promise<void>
  /** Changes of what the filter names, from now on. */
  listen(filter: SubscriptionFilter, options?: ListenOptions): Listening
  /** From which level on log messages are wanted. */
  setLogLevel(level: LoggingLevel, options?: CallOptions): Promise<void>
  /** Whether the server is there. Legacy era only: else rejects with `ConnectionError` `unsupported`. */
  ping(options?: CallOptions): Promise<void>
  /** Tells the server that the roots are others now, if its era has it ask only once. */
  notifyRootsChanged(): Promise<void>
  /** Sends a request of the protocol. The method decides the types of its parameters and of its result. */
  request<Method extends keyof ClientRequests>(
    method: Method,
    params?: ClientRequests[Method]['params'],
    options?: RequestCallOptions,
  ): Promise<ClientRequests[Method]['result']>
  /** Sends a request of any other method, such as one of an extension. */
  request(method: string, params?: JsonObject, options?: RequestCallOptions): Promise<JsonObject>
  /** Ends the connection; calls that wait are rejected. Calling it again does nothing. */
  close(): Promise<void>
}
