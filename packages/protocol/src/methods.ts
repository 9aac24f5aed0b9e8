/**
 * The revisions and eras, with the methods and capabilities of each, and the side that may send each method. A method that
 * is not in a table does not exist.
 */

import * as z from 'zod/mini'
import * as client from './schemas/client-features.ts'
import * as legacy from './schemas/legacy.ts'
import * as server from './schemas/server-features.ts'
import * as shared from './schemas/shared.ts'
import type { Schema } from './validate.ts'

// Revisions

/** The supported revisions, oldest first. */
export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

/** A published revision of the protocol, named by its date. Revisions can be compared as strings. */
export type Revision = (typeof REVISIONS)[number]

/** An era. `legacy`: a handshake opens a session. `modern`: each request has an envelope; there are no sessions. */
export type Era = 'legacy' | 'modern'

/** The newest revision of the legacy era. */
export const LATEST_LEGACY_REVISION = '2025-11-25' satisfies Revision
/** The newest revision of the modern era. */
export const LATEST_MODERN_REVISION = '2026-07-28' satisfies Revision

/** The assumed revision of an HTTP peer that sends no version header and has negotiated no revision. */
export const ASSUMED_REVISION = '2025-03-26' satisfies Revision

/** The only revision with batches. */
export const BATCH_REVISION = '2025-03-26' satisfies Revision

/** Returns whether a value is the name of a revision. */
export function isRevision(value: unknown): value is Revision {
  return REVISIONS.includes(value as Revision)
}

/** Returns the era of a revision. */
export function eraOf(revision: Revision): Era {
  return revision <= LATEST_LEGACY_REVISION ? 'legacy' : 'modern'
}

/** Returns the revisions of an era, oldest first. */
export function revisionsOf(era: Era): readonly Revision[] {
  return REVISIONS.filter((revision) => eraOf(revision) === era)
}

// Tables

/** A range of revisions, from `since` to `until`, both included. An undefined bound means no bound. */
export interface Span {
  readonly since?: Revision
  readonly until?: Revision
}

/** One method. */
export interface MethodEntry extends Span {
  /** The side that may send it. */
  readonly from: 'client' | 'server' | 'both'
  /** The capability that the receiver of a request, or the sender of a notification, must declare. */
  readonly needs?: string
  /** Whether the complete result has cache hints. */
  readonly cacheable?: true
  /** Whether the result may be `input_required`. */
  readonly mayAsk?: true
  /** The parameters. Missing parameters are checked as `{}`. */
  readonly params: Schema
  /** The complete result. Requests only. */
  readonly result?: Schema
}

type MethodTable = Readonly<Record<string, MethodEntry>>

const tool = { from: 'client', needs: 'tools', result: server.CallToolResult } as const
const read = { from: 'client', needs: 'resources', result: server.ReadResourceResult } as const
const prompt = { from: 'client', needs: 'prompts', result: server.GetPromptResult } as const
const sample = { from: 'server', needs: 'sampling', result: client.CreateMessageResult } as const
const elicit = { from: 'server', needs: 'elicitation', result: client.ElicitResult } as const
const subscribe = {
  from: 'client',
  needs: 'resources.subscribe',
  params: server.ResourceRequestParams,
  result: shared.Result,
} as const

const TASKS = { since: '2025-11-25', until: '2025-11-25' } as const satisfies Span
const task = { from: 'both', params: legacy.TaskRequestParams, ...TASKS } as const

// After an `input_required` result, the request is sent again with the input responses.
const retry = client.InputResponseParams.shape
const callToolParams: Schema<server.CallToolRequestParams> = z.extend(server.CallToolRequestParams, retry)
const readResourceParams: Schema<server.ReadResourceRequestParams> = z.extend(server.ReadResourceRequestParams, retry)
const getPromptParams: Schema<server.GetPromptRequestParams> = z.extend(server.GetPromptRequestParams, retry)

const { RequestParams, NotificationParams, Result } = shared
const list = { from: 'client', params: shared.PaginatedRequestParams } as const

const modernRequests = {
  'server/discover': { from: 'client', params: RequestParams, result: shared.DiscoverResult, cacheable: true },
  'tools/list': { ...list, needs: 'tools', result: server.ListToolsResult, cacheable: true },
  'tools/call': { ...tool, params: callToolParams, mayAsk: true },
  'resources/list': { ...list, needs: 'resources', result: server.ListResourcesResult, cacheable: true },
  'resources/templates/list': {
    ...list,
    needs: 'resources',
    result: server.ListResourceTemplatesResult,
    cacheable: true,
  },
  'resources/read': { ...read, params: readResourceParams, cacheable: true, mayAsk: true },
  'prompts/list': { ...list, needs: 'prompts', result: server.ListPromptsResult, cacheable: true },
  'prompts/get': { ...prompt, params: getPromptParams, mayAsk: true },
  'completion/complete': {
    from: 'client',
    needs: 'completions',
    params: server.CompleteRequestParams,
    result: server.CompleteResult,
  },
  'subscriptions/listen': {
    from: 'client',
    params: server.SubscriptionsListenRequestParams,
    result: server.SubscriptionsListenResult,
  },
} as const satisfies MethodTable

/** The input requests in `input_required` results. They have no id. */
const modernInputRequests = {
  'sampling/createMessage': { ...sample, params: client.CreateMessageRequestParams },
  'elicitation/create': { ...elicit, params: client.ElicitRequestParams },
  'roots/list': { from: 'server', needs: 'roots', params: RequestParams, result: client.ListRootsResult },
} as const satisfies MethodTable

const legacyRequests = {
  initialize: { from: 'client', params: legacy.InitializeRequestParams, result: legacy.InitializeResult },
  ping: { from: 'both', params: RequestParams, result: Result },
  'tools/list': { ...list, needs: 'tools', result: legacy.LegacyListToolsResult },
  'tools/call': { ...tool, params: legacy.LegacyCallToolRequestParams },
  'resources/list': { ...list, needs: 'resources', result: server.ListResourcesResult },
  'resources/templates/list': { ...list, needs: 'resources', result: server.ListResourceTemplatesResult },
  'resources/read': { ...read, params: server.ReadResourceRequestParams },
  'resources/subscribe': subscribe,
  'resources/unsubscribe': subscribe,
  'prompts/list': { ...list, needs: 'prompts', result: server.ListPromptsResult },
  'prompts/get': { ...prompt, params: server.GetPromptRequestParams },
  'completion/complete': modernRequests['completion/complete'],
  'logging/setLevel': { from: 'client', needs: 'logging', params: legacy.SetLevelRequestParams, result: Result },
  'sampling/createMessage': { ...sample, params: legacy.LegacyCreateMessageRequestParams },
  'elicitation/create': { ...elicit, params: legacy.LegacyElicitRequestParams, since: '2025-06-18' },
  'roots/list': modernInputRequests['roots/list'],
  'tasks/get': { ...task, needs: 'tasks', result: legacy.TaskResult },
  'tasks/result': { ...task, needs: 'tasks', result: Result },
  'tasks/list': { ...task, needs: 'tasks.list', params: list.params, result: legacy.ListTasksResult },
  'tasks/cancel': { ...task, needs: 'tasks.cancel', result: legacy.TaskResult },
} as const satisfies MethodTable

const listChanged = { from: 'server', params: NotificationParams } as const

const sharedNotifications = {
  // In the modern era, servers send it only to end a subscription, and never over HTTP.
  'notifications/cancelled': { from: 'both', params: shared.CancelledNotificationParams },
  'notifications/message': { from: 'server', needs: 'logging', params: server.LoggingMessageNotificationParams },
  'notifications/tools/list_changed': { ...listChanged, needs: 'tools.listChanged' },
  'notifications/prompts/list_changed': { ...listChanged, needs: 'prompts.listChanged' },
  'notifications/resources/list_changed': { ...listChanged, needs: 'resources.listChanged' },
  'notifications/resources/updated': {
    from: 'server',
    needs: 'resources.subscribe',
    params: server.ResourceUpdatedNotificationParams,
  },
} as const satisfies MethodTable

const modernNotifications = {
  ...sharedNotifications,
  'notifications/progress': { from: 'server', params: shared.ProgressNotificationParams },
  'notifications/subscriptions/acknowledged': {
    from: 'server',
    params: server.SubscriptionsAcknowledgedNotificationParams,
  },
} as const satisfies MethodTable

const legacyNotifications = {
  ...sharedNotifications,
  'notifications/initialized': { from: 'client', params: NotificationParams },
  'notifications/progress': { from: 'both', params: shared.ProgressNotificationParams },
  'notifications/roots/list_changed': { from: 'client', needs: 'roots.listChanged', params: NotificationParams },
  'notifications/elicitation/complete': {
    from: 'server',
    params: legacy.ElicitationCompleteNotificationParams,
    since: '2025-11-25',
  },
  'notifications/tasks/status': { ...task, needs: 'tasks', params: legacy.TaskStatusNotificationParams },
} as const satisfies MethodTable

/** The revisions that have each capability, by side and dotted path. */
export type CapabilityTable = Readonly<Record<'client' | 'server', Readonly<Record<string, Span>>>>

const modernCapabilities: CapabilityTable = {
  client: {
    roots: {},
    sampling: {},
    'sampling.context': {},
    'sampling.tools': {},
    elicitation: {},
    'elicitation.form': {},
    'elicitation.url': {},
    experimental: {},
    extensions: {},
  },
  server: {
    logging: {},
    completions: {},
    prompts: {},
    'prompts.listChanged': {},
    resources: {},
    'resources.subscribe': {},
    'resources.listChanged': {},
    tools: {},
    'tools.listChanged': {},
    experimental: {},
    extensions: {},
  },
}

const legacyCapabilities: CapabilityTable = {
  client: {
    ...modernCapabilities.client,
    'roots.listChanged': {},
    'sampling.context': { since: '2025-11-25' },
    'sampling.tools': { since: '2025-11-25' },
    elicitation: { since: '2025-06-18' },
    'elicitation.form': { since: '2025-11-25' },
    'elicitation.url': { since: '2025-11-25' },
    tasks: TASKS,
    'tasks.list': TASKS,
    'tasks.cancel': TASKS,
    'tasks.requests.sampling.createMessage': TASKS,
    'tasks.requests.elicitation.create': TASKS,
    // The schema of this revision does not have `extensions`, but extensions of that time use it.
    extensions: { since: '2025-11-25' },
  },
  server: {
    ...modernCapabilities.server,
    completions: { since: '2025-03-26' },
    tasks: TASKS,
    'tasks.list': TASKS,
    'tasks.cancel': TASKS,
    'tasks.requests.tools.call': TASKS,
    extensions: { since: '2025-11-25' },
  },
}

/** The methods and capabilities of one era. */
export interface EraTable {
  readonly requests: MethodTable
  readonly notifications: MethodTable
  readonly inputRequests: MethodTable
  readonly capabilities: CapabilityTable
}

export const eraTables: Readonly<Record<Era, EraTable>> = {
  legacy: {
    requests: legacyRequests,
    notifications: legacyNotifications,
    inputRequests: {},
    capabilities: legacyCapabilities,
  },
  modern: {
    requests: modernRequests,
    notifications: modernNotifications,
    inputRequests: modernInputRequests,
    capabilities: modernCapabilities,
  },
}

// Lookups. All names are safe, including `__proto__` and `constructor`.

function lookUp<T extends Span>(entries: Readonly<Record<string, T>>, name: string, revision: Revision): T | undefined {
  const entry = Object.hasOwn(entries, name) ? entries[name] : undefined
  if (entry === undefined) return undefined
  const { since = revision, until = revision } = entry
  return since <= revision && revision <= until ? entry : undefined
}

/** The kind of message that a method name belongs to. */
export type MethodKind = 'request' | 'notification' | 'inputRequest'

/** Returns the entry of a method in a revision, or undefined if the revision does not have it. */
export function methodEntry(revision: Revision, method: string, kind: MethodKind): MethodEntry | undefined {
  return lookUp(eraTables[eraOf(revision)][`${kind}s`], method, revision)
}

/** Returns the entry of a request in a revision, or undefined if the revision does not have it. */
export function requestEntry(revision: Revision, method: string): MethodEntry | undefined {
  return lookUp(eraTables[eraOf(revision)].requests, method, revision)
}

/** Returns whether a revision has a capability of one side, such as `resources.subscribe`. */
export function hasCapability(revision: Revision, side: 'client' | 'server', path: string): boolean {
  return lookUp(eraTables[eraOf(revision)].capabilities[side], path, revision) !== undefined
}

/**
 * Returns the capability that the receiver of a request, or the sender of a notification, must declare. Returns undefined
 * if the revision has the method but not the capability.
 */
export function capabilityFor(revision: Revision, method: string, kind: MethodKind): string | undefined {
  const entry = methodEntry(revision, method, kind)
  if (entry?.needs === undefined) return undefined
  const side = (entry.from === 'client') === (kind === 'notification') ? 'client' : 'server'
  return hasCapability(revision, side, entry.needs) ? entry.needs : undefined
}

function entryFrom(side: 'client' | 'server', revision: Revision, method: string): MethodEntry | undefined {
  const entry = requestEntry(revision, method)
  return entry?.from === side || entry?.from === 'both' ? entry : undefined
}

/** Returns the schema for the parameters of a client request. */
export function clientRequestParams(revision: Revision, method: string): Schema | undefined {
  return entryFrom('client', revision, method)?.params
}

/** Returns the schema for the complete result of a client request. */
export function clientRequestResult(revision: Revision, method: string): Schema | undefined {
  return entryFrom('client', revision, method)?.result
}

/** Returns the schema for the parameters of a server request. */
export function serverRequestParams(revision: Revision, method: string): Schema | undefined {
  return entryFrom('server', revision, method)?.params
}

/** Returns the schema for the result of a server request. */
export function serverRequestResult(revision: Revision, method: string): Schema | undefined {
  return entryFrom('server', revision, method)?.result
}

/** Returns the schema for the response to an input request. */
export function inputResponse(revision: Revision, method: string): Schema | undefined {
  return methodEntry(revision, method, 'inputRequest')?.result
}

/** Returns the schema for the parameters of a notification. */
export function notificationParams(revision: Revision, method: string): Schema | undefined {
  return methodEntry(revision, method, 'notification')?.params
}

// Types from the tables

type Side = 'client' | 'server'
type SentBy<Table, From extends Side> = {
  [Method in keyof Table as Table[Method] extends { readonly from: From | 'both' } ? Method : never]: Table[Method]
}
type Requests<Table> = {
  [Method in keyof Table]: Table[Method] extends { readonly params: infer Params; readonly result: infer Result }
    ? { params: z.infer<Params>; result: z.infer<Result> }
    : never
}
type Notifications<Table> = {
  [Method in keyof Table]: Table[Method] extends { readonly params: infer Params } ? z.infer<Params> : never
}
/** The methods that only the legacy era has. */
type LegacyOnly<Legacy, Modern> = Omit<Legacy, keyof Modern>

type ModernClientRequests = Requests<typeof modernRequests>
type ModernServerRequests = Requests<typeof modernInputRequests>
type ModernNotifications<From extends Side> = Notifications<SentBy<typeof modernNotifications, From>>

/** Parameters and result of each request of a client, in any revision. */
export interface ClientRequests
  extends ModernClientRequests,
    LegacyOnly<Requests<SentBy<typeof legacyRequests, 'client'>>, ModernClientRequests> {}

/** Parameters and result of each request of a server, in any revision. */
export interface ServerRequests
  extends ModernServerRequests,
    LegacyOnly<Requests<SentBy<typeof legacyRequests, 'server'>>, ModernServerRequests> {}

/** Parameters of each notification of a client, in any revision. */
export interface ClientNotifications
  extends ModernNotifications<'client'>,
    LegacyOnly<Notifications<SentBy<typeof legacyNotifications, 'client'>>, ModernNotifications<'client'>> {}

/** Parameters of each notification of a server, in any revision. */
export interface ServerNotifications
  extends ModernNotifications<'server'>,
    LegacyOnly<Notifications<SentBy<typeof legacyNotifications, 'server'>>, ModernNotifications<'server'>> {}
