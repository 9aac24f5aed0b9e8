/** What a connection can do once its era is known. */

import {
  type Change,
  type Connection,
  ConnectionError,
  check,
  type Era,
  type Implementation,
  type JsonObject,
  type LoggingLevel,
  type Revision,
  type Schema,
  type ServerCapabilities,
  type SubscriptionFilter,
} from '@mcpx/protocol'
import type { CallOptions, RequestCallOptions } from '../options.ts'

/** What a server says of itself. */
export interface ServerFacts {
  /** For people to read; nothing may depend on it. */
  readonly info: Implementation | undefined
  readonly capabilities: ServerCapabilities
  /** How to make good use of the server, for the model. */
  readonly instructions: string | undefined
}

export interface ListenHooks {
  readonly signal: AbortSignal
  /** How long the server may take to confirm, in ms. */
  readonly timeout: number
  /** It has begun; with the part of the filter that the server follows, and why it refused some resources, where it said so. */
  onReady(followed: SubscriptionFilter, refused?: ReadonlyMap<string, Error>): void
  onChange(change: Change): void
}

/** A connection that speaks one revision. */
export interface Link {
  readonly era: Era
  readonly revision: Revision
  readonly server: ServerFacts
  readonly connection: Connection
  /** The connection is gone, or does not speak this era any more. */
  readonly ended: boolean
  /** Asks until the result is complete, and checks it. */
  request(method: string, params: JsonObject, options: RequestCallOptions): Promise<JsonObject>
  /** Tells of changes until the signal fires. Resolves when the server has ended it, rejects when it broke. */
  listen(filter: SubscriptionFilter, hooks: ListenHooks): Promise<void>
  discover(options: CallOptions): Promise<ServerFacts>
  setLogLevel(level: LoggingLevel, options: CallOptions): Promise<void>
  ping(options: CallOptions): Promise<void>
  rootsChanged(): Promise<void>
}

/** A result as its revision has it; that of a method without a schema is anything. Members that are not known stay. */
export function checkResult(schema: Schema<unknown> | undefined, method: string, result: unknown): JsonObject {
  if (schema === undefined) return result as JsonObject
  const { value, problem } = check(schema, result, 'result')
  if (problem === undefined) return value as JsonObject
  throw invalidResult(method, problem)
}

export function invalidResult(method: string, problem: string): ConnectionError {
  const hint = 'The server does not answer as the protocol says; tell its author.'
  return new ConnectionError('invalid-message', `The answer to ${method} was refused. ${problem}`, { hint })
}

/** Parameters with the extra facts of a call. */
export function withCallMeta(params: JsonObject, meta: JsonObject | undefined): JsonObject {
  return meta === undefined ? params : { ...params, _meta: { ...(params._meta as JsonObject | undefined), ...meta } }
}

/** The part of a filter that the capabilities of a server allow. */
export function allowedFilter(filter: SubscriptionFilter, capabilities: ServerCapabilities): SubscriptionFilter {
  const allowed: SubscriptionFilter = {}
  if (filter.toolsListChanged && capabilities.tools?.listChanged) allowed.toolsListChanged = true
  if (filter.promptsListChanged && capabilities.prompts?.listChanged) allowed.promptsListChanged = true
  if (filter.resourcesListChanged && capabilities.resources?.listChanged) allowed.resourcesListChanged = true
  const uris = filter.resourceSubscriptions ?? []
  if (uris.length > 0 && capabilities.resources?.subscribe) allowed.resourceSubscriptions = uris
  return allowed
}

/** The error of asking for changes that the server does not tell of. */
export function nothingToListenTo(): ConnectionError {
  const hint = 'See client.server.capabilities for what changes the server tells of.'
  return new ConnectionError('unsupported', 'The server tells of no change that was asked for', { hint })
}
