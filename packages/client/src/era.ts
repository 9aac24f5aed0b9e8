/** The interface that both eras implement: a connection with one revision. Also contains functions for both eras. */

import {
  type Change,
  type Connection,
  ConnectionError,
  check,
  clientRequestResult,
  type Era,
  type Implementation,
  isObject,
  type JsonObject,
  type LoggingLevel,
  type NotificationMessage,
  quoted,
  type Revision,
  revisionsOf,
  type Schema,
  type ServerCapabilities,
  type SubscriptionFilter,
} from '@mcpx/protocol'
import type { Extensions } from './extensions.ts'
import type { CallOptions, RequestCallOptions } from './options.ts'
import type { ClientState } from './state.ts'

/** The facts that a server states about itself. */
export interface ServerFacts {
  /** The name and version of the server, to show to people. Programs must not depend on it. */
  readonly info: Implementation | undefined
  /** The features that the server supports. */
  readonly capabilities: ServerCapabilities
  /** Instructions for a model on how to use the server. */
  readonly instructions: string | undefined
}

/** The limits of one of the first requests of a connection. */
export interface FirstRequestOptions {
  readonly signal: AbortSignal | undefined
  /** How long the server may take, in ms. */
  readonly timeout: number
}

/** The side that ended a stream of changes. */
export type Side = 'client' | 'server'

/** The callbacks and limits of one stream of changes. */
export interface ChangeListener {
  /** Ends the stream. */
  readonly signal: AbortSignal
  /** How long the server may take to confirm, in ms. */
  readonly timeout: number
  /**
   * Called when the server has confirmed, with the confirmed part of the filter and the errors of refused resources.
   * Called again later if changes may have been lost.
   */
  onReady(followed: SubscriptionFilter, refused?: ReadonlyMap<string, Error>): void
  onChange(change: Change): void
}

/** A connection that uses one revision. */
export interface EraConnection {
  readonly era: Era
  readonly revision: Revision
  readonly server: ServerFacts
  readonly connection: Connection
  /** Whether the connection has ended, or the server no longer supports this era. */
  readonly ended: boolean
  /**
   * Whether each stream of changes uses its own connection. Messages of an older stream may then arrive after messages
   * of a newer stream.
   */
  readonly hasSeparateStreams: boolean
  /** Sends a request, answers input requests until the result is complete, and checks the result. */
  request(method: string, params: JsonObject, options: RequestCallOptions): Promise<JsonObject>
  /** Passes changes to the listener until one side ends the stream, and resolves to that side. Rejects if the stream breaks. */
  listen(filter: SubscriptionFilter, listener: ChangeListener): Promise<Side>
  discover(options: CallOptions): Promise<ServerFacts>
  setLogLevel(level: LoggingLevel, options: CallOptions): Promise<void>
  ping(options: CallOptions): Promise<void>
  notifyRootsChanged(): Promise<void>
}

/** Returns the newest revision of an era that both this client and the list of the server contain, or undefined. */
export function newestRevision(supported: unknown, era: Era): Revision | undefined {
  if (!Array.isArray(supported)) return undefined
  return revisionsOf(era).findLast((revision) => supported.includes(revision))
}

/** The name of a request in error messages: `tools/call "add"`. */
export function requestLabel(method: string, params: JsonObject): string {
  const name = params.name ?? params.uri
  return typeof name === 'string' ? `${method} ${quoted(name)}` : method
}

/** Returns the result if it is valid. Unknown members are kept. Without a schema, every result is valid. */
export function checkResult(schema: Schema | undefined, label: string, result: unknown): JsonObject {
  if (schema === undefined) return result as JsonObject
  const { value, problem } = check(schema, result, 'result')
  if (problem === undefined) return value as JsonObject
  throw invalidResult(label, problem)
}

/** Returns the result of a request if it is valid. A missing `content` of a tool result becomes `[]`, with a warning. */
export function checkResultOf(
  state: Pick<ClientState, 'tolerate'>,
  revision: Revision,
  method: string,
  label: string,
  result: unknown,
): JsonObject {
  const isWithoutContent = method === 'tools/call' && isObject(result) && result.content === undefined
  const complete = isWithoutContent ? { ...result, content: [] } : result
  if (isWithoutContent) state.tolerate('content', `The result of ${label} has no content: [] is used instead`)
  return checkResult(clientRequestResult(revision, method), label, complete)
}

/** Creates the error of a result that violates the protocol. */
export function invalidResult(label: string, problem: string): ConnectionError {
  const hint = 'The server violates the protocol; report it to its author.'
  return new ConnectionError('invalid-message', `The response to ${label} was refused. ${problem}`, { hint })
}

/** The default of `maxTimeout`, in ms. */
export const DEFAULT_MAX_TIMEOUT = 600_000

/** Creates the error of a call that has reached its `maxTimeout`. */
export function timeError(
  label: string,
  maxTimeout: number,
  hint = 'Pass a longer maxTimeout with the call.',
): ConnectionError {
  return new ConnectionError('timeout', `${label} is still unfinished after ${maxTimeout} ms`, { hint })
}

/** Adds the `meta` of a call to the parameters. */
export function withCallMeta(params: JsonObject, meta: JsonObject | undefined): JsonObject {
  return meta === undefined ? params : { ...params, _meta: { ...(params._meta as JsonObject | undefined), ...meta } }
}

/** Returns the change that a notification announces. Returns undefined for other notifications. */
export function changeOf({ method, params }: NotificationMessage): Change | undefined {
  const kind = /^notifications\/(tools|prompts|resources)\/list_changed$/.exec(method)?.[1]
  if (kind !== undefined) return { kind } as Change
  if (method !== 'notifications/resources/updated' || typeof params?.uri !== 'string') return undefined
  return { kind: 'resource', uri: params.uri }
}

/** Returns all changes that a filter covers. */
export function changesOf(filter: SubscriptionFilter): Change[] {
  const changes: Change[] = (filter.resourceSubscriptions ?? []).map((uri) => ({ kind: 'resource', uri }))
  if (filter.toolsListChanged) changes.push({ kind: 'tools' })
  if (filter.promptsListChanged) changes.push({ kind: 'prompts' })
  if (filter.resourcesListChanged) changes.push({ kind: 'resources' })
  return changes
}

/** Returns the part of a filter that the server supports. Throws if the server supports no part of it. */
export function allowedFilter(
  filter: SubscriptionFilter,
  capabilities: ServerCapabilities,
  extensions: Extensions,
): SubscriptionFilter {
  const { tools, prompts, resources } = capabilities
  const isDeclared = ([name, value]: [string, unknown]) =>
    value !== undefined && capabilities.extensions?.[extensions.subscriptionOwner(name) ?? ''] !== undefined
  const uris = filter.resourceSubscriptions ?? []
  const allowed: SubscriptionFilter = {
    ...(filter.toolsListChanged && tools?.listChanged && { toolsListChanged: true }),
    ...(filter.promptsListChanged && prompts?.listChanged && { promptsListChanged: true }),
    ...(filter.resourcesListChanged && resources?.listChanged && { resourcesListChanged: true }),
    ...(uris.length > 0 && resources?.subscribe && { resourceSubscriptions: uris }),
    ...Object.fromEntries(Object.entries(filter).filter(isDeclared)),
  }
  if (Object.keys(allowed).length > 0) return allowed
  const hint = 'See client.server.capabilities for the changes that the server announces.'
  throw new ConnectionError('unsupported', 'The server announces none of the requested changes', { hint })
}
