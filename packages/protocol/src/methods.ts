/**
 * The revisions and eras, with the methods and capabilities of each, and the side that may send each method. A method that
 * is not in a table does not exist. The schemas of the methods are in `method-schemas.ts`.
 */

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
}

type MethodTable = Readonly<Record<string, MethodEntry>>

const tools = { from: 'client', needs: 'tools' } as const
const resources = { from: 'client', needs: 'resources' } as const
const prompts = { from: 'client', needs: 'prompts' } as const
const complete = { from: 'client', needs: 'completions' } as const
const subscribe = { from: 'client', needs: 'resources.subscribe' } as const

const TASKS = { since: '2025-11-25', until: '2025-11-25' } as const satisfies Span
const task = { from: 'both', ...TASKS } as const

const modernRequests: MethodTable = {
  'server/discover': { from: 'client', cacheable: true },
  'tools/list': { ...tools, cacheable: true },
  'tools/call': { ...tools, mayAsk: true },
  'resources/list': { ...resources, cacheable: true },
  'resources/templates/list': { ...resources, cacheable: true },
  'resources/read': { ...resources, cacheable: true, mayAsk: true },
  'prompts/list': { ...prompts, cacheable: true },
  'prompts/get': { ...prompts, mayAsk: true },
  'completion/complete': complete,
  'subscriptions/listen': { from: 'client' },
}

/** The input requests in `input_required` results. They have no id. */
const modernInputRequests: MethodTable = {
  'sampling/createMessage': { from: 'server', needs: 'sampling' },
  'elicitation/create': { from: 'server', needs: 'elicitation' },
  'roots/list': { from: 'server', needs: 'roots' },
}

const legacyRequests: MethodTable = {
  initialize: { from: 'client' },
  ping: { from: 'both' },
  'tools/list': tools,
  'tools/call': tools,
  'resources/list': resources,
  'resources/templates/list': resources,
  'resources/read': resources,
  'resources/subscribe': subscribe,
  'resources/unsubscribe': subscribe,
  'prompts/list': prompts,
  'prompts/get': prompts,
  'completion/complete': complete,
  'logging/setLevel': { from: 'client', needs: 'logging' },
  ...modernInputRequests,
  'elicitation/create': { from: 'server', needs: 'elicitation', since: '2025-06-18' },
  'tasks/get': { ...task, needs: 'tasks' },
  'tasks/result': { ...task, needs: 'tasks' },
  'tasks/list': { ...task, needs: 'tasks.list' },
  'tasks/cancel': { ...task, needs: 'tasks.cancel' },
}

const sharedNotifications: MethodTable = {
  // In the modern era, servers send it only to end a subscription, and never over HTTP.
  'notifications/cancelled': { from: 'both' },
  'notifications/message': { from: 'server', needs: 'logging' },
  'notifications/tools/list_changed': { from: 'server', needs: 'tools.listChanged' },
  'notifications/prompts/list_changed': { from: 'server', needs: 'prompts.listChanged' },
  'notifications/resources/list_changed': { from: 'server', needs: 'resources.listChanged' },
  'notifications/resources/updated': { from: 'server', needs: 'resources.subscribe' },
}

const modernNotifications: MethodTable = {
  ...sharedNotifications,
  'notifications/progress': { from: 'server' },
  'notifications/subscriptions/acknowledged': { from: 'server' },
}

const legacyNotifications: MethodTable = {
  ...sharedNotifications,
  'notifications/initialized': { from: 'client' },
  'notifications/progress': { from: 'both' },
  'notifications/roots/list_changed': { from: 'client', needs: 'roots.listChanged' },
  'notifications/elicitation/complete': { from: 'server', since: '2025-11-25' },
  'notifications/tasks/status': { ...task, needs: 'tasks' },
}

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
