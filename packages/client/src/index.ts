/** A client for servers of any age, over any carrier. */

export type {
  CallToolResult,
  Change,
  ConnectionErrorReason,
  Connector,
  ContentBlock,
  Era,
  JsonObject,
  LoggingLevel,
  Prompt,
  Resource,
  ResourceTemplate,
  Revision,
  Tool,
} from '@mcpx/protocol'
export { ConnectionError, RpcError } from '@mcpx/protocol'

export type { Client } from './client.ts'
export { connect } from './connect.ts'
export { type ClientGroup, connectAll } from './connect-all.ts'
export { createEraMemory } from './era-memory.ts'
export type { ServerFacts } from './eras/era.ts'
export type { Listening, ListenOptions } from './listening.ts'
export type {
  AskOrigin,
  CallOptions,
  ClientOptions,
  ElicitAnswer,
  ElicitAsk,
  EraMemory,
  FormAsk,
  Progress,
  RequestCallOptions,
  UrlAsk,
} from './options.ts'
export type { Listing } from './pagination.ts'
export { type ProxyOptions, proxy } from './proxy.ts'
export { ToolCallError, type ToolCallers } from './typed-tools.ts'
