/// <reference lib="esnext.disposable" preserve="true" />
/** The interface of a client, which is the same in both eras and over every transport. */

import type {
  CallToolResult,
  ClientRequests,
  CompleteRequestParams,
  CompleteResult,
  Connector,
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
import type { Listening } from './change-stream.ts'
import type { ServerFacts } from './era.ts'
import type { ClientExtension, ExtensionClient } from './extensions.ts'
import type { CallOptions, HandleCallOptions, ListenOptions, RequestCallOptions } from './options.ts'
import type { Listing } from './pagination.ts'
import type { TaskHandle } from './tasks.ts'
import type { CallTool, GetPrompt, TaskOf, ToolCallers } from './typed-tools.ts'

/** The type of the server for a target of `connect`. It is `unknown` for a connector. */
export type ServerOf<Target> = Target extends Connector ? unknown : Target

/** The requests of a client that exist in both eras. */
export interface ClientCalls {
  /** Lists the tools of the server. */
  listTools(options?: CallOptions): Listing<Tool>
  /** Calls a tool. Resolves to a handle of the task that the server created for the call. */
  callTool(name: string, args: JsonObject | undefined, options: HandleCallOptions): Promise<TaskHandle>
  /** Calls a tool. A tool that failed returns a result with `isError`. */
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<CallToolResult>
  /** Lists the resources of the server. */
  listResources(options?: CallOptions): Listing<Resource>
  /** Lists the URI templates of the server. */
  listResourceTemplates(options?: CallOptions): Listing<ResourceTemplate>
  /** Reads a resource. */
  readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult>
  /** Lists the prompts of the server. */
  listPrompts(options?: CallOptions): Listing<Prompt>
  /** Returns the messages of a prompt. */
  getPrompt(name: string, args?: Record<string, string>, options?: CallOptions): Promise<GetPromptResult>
  /** Completes an argument of a prompt, or a variable of a URI template. */
  complete(params: Omit<CompleteRequestParams, '_meta'>, options?: CallOptions): Promise<CompleteResult>
  /** Sends a request of the protocol. The method determines the types of its parameters and of its result. */
  request<Method extends keyof ClientRequests>(
    method: Method,
    params?: ClientRequests[Method]['params'],
    options?: RequestCallOptions,
  ): Promise<ClientRequests[Method]['result']>
  /** Sends a request of another method, such as one of an extension. */
  request(method: string, params?: JsonObject, options?: RequestCallOptions): Promise<JsonObject>
}

/** A client of one server. Its type parameter is the type of the server, which types the calls of tools and prompts. */
export interface Client<Server = unknown> extends Omit<ClientCalls, 'callTool' | 'getPrompt'>, AsyncDisposable {
  /** The era of the connection. */
  readonly era: Era
  /** The revision of the connection. */
  readonly revision: Revision
  /** The name, the capabilities and the instructions of the server. */
  readonly server: ServerFacts
  /** The tools as functions: `client.tools.add({ a: 1, b: 2 })`. */
  readonly tools: ToolCallers<Server>
  /**
   * Calls a tool. A tool that failed returns a result with `isError`. A tool that is not in the type of the server can
   * be called without types.
   */
  readonly callTool: CallTool<Server>
  /** Returns the messages of a prompt. A prompt that is not in the type of the server can be used without types. */
  readonly getPrompt: GetPrompt<Server>
  /**
   * Returns the handle of a task that was started before, for example by another process. Does not send a request. If
   * `tool` names the tool that was called, the result is typed and validated.
   */
  readonly task: TaskOf<Server>
  /** Returns the part of the client that belongs to one of its `extensions`, typed by its schemas. */
  extension<const Extension extends ClientExtension>(extension: Extension): ExtensionClient<Extension>
  /** Asks the server for its name, capabilities and instructions. In the legacy era, resolves to the facts from the handshake. */
  discover(options?: CallOptions): Promise<ServerFacts>
  /**
   * Subscribes to a resource. `onChange` is called with each update of the resource, and of resources below it, until
   * `unsubscribe` is called. Rejects if the server does not support subscriptions to the resource.
   */
  subscribe(uri: string, options?: ListenOptions): Promise<void>
  /** Ends the subscription to a resource. */
  unsubscribe(uri: string): Promise<void>
  /** Opens a stream of changes, to iterate over. */
  listen(filter: SubscriptionFilter, options?: ListenOptions): Listening
  /** Sets the lowest level of log messages that the server sends. */
  setLogLevel(level: LoggingLevel, options?: CallOptions): Promise<void>
  /**
   * Checks that the server responds. Legacy era only. In the modern era, it rejects with a `ConnectionError` whose
   * reason is `unsupported`.
   */
  ping(options?: CallOptions): Promise<void>
  /**
   * Notifies the server that the roots have changed. Has no effect in the modern era, in which servers request the
   * roots each time they need them.
   */
  notifyRootsChanged(): Promise<void>
  /** Closes the connection and rejects calls without a response. Calling it again has no effect. */
  close(): Promise<void>
}
