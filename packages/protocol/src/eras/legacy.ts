/** The legacy wire: a handshake opens a session, and both sides may ask. */

import { revisionsOf } from '../versions.ts'
import type { EraTable, MethodTable, Span } from './era.ts'

/** Tasks of the core protocol, an experiment of one revision. */
const tasks = { since: '2025-11-25', until: '2025-11-25' } as const satisfies Span

export const legacyRequests: MethodTable = {
  initialize: { from: 'client' },
  ping: { from: 'both' },
  'tools/list': { from: 'client', capability: 'tools' },
  'tools/call': { from: 'client', capability: 'tools' },
  'resources/list': { from: 'client', capability: 'resources' },
  'resources/templates/list': { from: 'client', capability: 'resources' },
  'resources/read': { from: 'client', capability: 'resources' },
  'resources/subscribe': { from: 'client', capability: 'resources.subscribe' },
  'resources/unsubscribe': { from: 'client', capability: 'resources.subscribe' },
  'prompts/list': { from: 'client', capability: 'prompts' },
  'prompts/get': { from: 'client', capability: 'prompts' },
  'completion/complete': { from: 'client', capability: 'completions' },
  'logging/setLevel': { from: 'client', capability: 'logging' },
  'sampling/createMessage': { from: 'server', capability: 'sampling' },
  'roots/list': { from: 'server', capability: 'roots' },
  'elicitation/create': { from: 'server', capability: 'elicitation', since: '2025-06-18' },
  'tasks/get': { from: 'both', capability: 'tasks', ...tasks },
  'tasks/result': { from: 'both', capability: 'tasks', ...tasks },
  'tasks/list': { from: 'both', capability: 'tasks.list', ...tasks },
  'tasks/cancel': { from: 'both', capability: 'tasks.cancel', ...tasks },
}

export const legacyNotifications: MethodTable = {
  'notifications/initialized': { from: 'client' },
  'notifications/cancelled': { from: 'both' },
  'notifications/progress': { from: 'both' },
  'notifications/message': { from: 'server', capability: 'logging' },
  'notifications/tools/list_changed': { from: 'server', capability: 'tools.listChanged' },
  'notifications/prompts/list_changed': { from: 'server', capability: 'prompts.listChanged' },
  'notifications/resources/list_changed': { from: 'server', capability: 'resources.listChanged' },
  'notifications/resources/updated': { from: 'server', capability: 'resources.subscribe' },
  'notifications/roots/list_changed': { from: 'client', capability: 'roots.listChanged' },
  'notifications/elicitation/complete': { from: 'server', since: '2025-11-25' },
  'notifications/tasks/status': { from: 'both', capability: 'tasks', ...tasks },
}

export const legacyCapabilities: EraTable['capabilities'] = {
  client: {
    roots: {},
    'roots.listChanged': {},
    sampling: {},
    'sampling.context': { since: '2025-11-25' },
    'sampling.tools': { since: '2025-11-25' },
    elicitation: { since: '2025-06-18' },
    'elicitation.form': { since: '2025-11-25' },
    'elicitation.url': { since: '2025-11-25' },
    tasks,
    'tasks.list': tasks,
    'tasks.cancel': tasks,
    'tasks.requests.sampling.createMessage': tasks,
    'tasks.requests.elicitation.create': tasks,
    experimental: {},
    // Not in the schema of that revision, but extensions that predate the next one are announced there.
    extensions: { since: '2025-11-25' },
  },
  server: {
    logging: {},
    completions: { since: '2025-03-26' },
    prompts: {},
    'prompts.listChanged': {},
    resources: {},
    'resources.subscribe': {},
    'resources.listChanged': {},
    tools: {},
    'tools.listChanged': {},
    tasks,
    'tasks.list': tasks,
    'tasks.cancel': tasks,
    'tasks.requests.tools.call': tasks,
    experimental: {},
    extensions: { since: '2025-11-25' },
  },
}

export const legacyTable: EraTable = {
  era: 'legacy',
  revisions: /* @__PURE__ */ revisionsOf('legacy'),
  requests: legacyRequests,
  notifications: legacyNotifications,
  inputRequests: {},
  capabilities: legacyCapabilities,
}
