/** A client for servers of every revision, over any transport. */

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
  Task,
  Tool,
} from '@mcpx/protocol'
export { ConnectionError, RpcError } from '@mcpx/protocol'

export type { Listening } from './change-stream.ts'
export type { Client, ClientCalls, ServerOf } from './client.ts'
export { connect } from './connect.ts'
export { type ClientGroup, connectAll } from './connect-all.ts'
export { createEraMemory } from './detect-era.ts'
export type { ServerFacts } from './era.ts'
export type {
  ClientExtension,
  CompleteResult,
  ExtensionCall,
  ExtensionClient,
  ExtensionMethod,
} from './extensions.ts'
export {
  compareLock,
  createLock,
  describeDifference,
  type LockDifference,
  LockError,
  type LockRisk,
  type ServerLock,
} from './lock.ts'
export type {
  CallOptions,
  ClientOptions,
  ElicitAnswer,
  Elicitation,
  EraMemory,
  FormElicitation,
  GroupOptions,
  HandleCallOptions,
  InputRequestOrigin,
  ListenOptions,
  Progress,
  RequestCallOptions,
  ToolCallOptions,
  UrlElicitation,
} from './options.ts'
export type { Listing } from './pagination.ts'
export { type ProxyOptions, proxy } from './proxy.ts'
export { fromSettings, type SettingsOptions } from './settings.ts'
export { TaskError, type TaskErrorReason } from './task-follower.ts'
export type { TaskHandle, TaskOptions } from './tasks.ts'
export { ToolCallError, type ToolCallers } from './typed-tools.ts'
