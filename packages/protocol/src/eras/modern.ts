/** The modern wire: every request describes itself, and only the client asks. */

import { revisionsOf } from '../versions.ts'
import type { EraTable, MethodTable } from './era.ts'

export const modernRequests: MethodTable = {
  'server/discover': { from: 'client', cacheable: true },
  'tools/list': { from: 'client', capability: 'tools', cacheable: true },
  'tools/call': { from: 'client', capability: 'tools', mayAsk: true },
  'resources/list': { from: 'client', capability: 'resources', cacheable: true },
  'resources/templates/list': { from: 'client', capability: 'resources', cacheable: true },
  'resources/read': { from: 'client', capability: 'resources', cacheable: true, mayAsk: true },
  'prompts/list': { from: 'client', capability: 'prompts', cacheable: true },
  'prompts/get': { from: 'client', capability: 'prompts', mayAsk: true },
  'completion/complete': { from: 'client', capability: 'completions' },
  'subscriptions/listen': { from: 'client' },
}

export const modernNotifications: MethodTable = {
  // The server sends it only to end a subscription, and never over HTTP.
  'notifications/cancelled': { from: 'both' },
  'notifications/progress': { from: 'server' },
  'notifications/message': { from: 'server', capability: 'logging' },
  'notifications/subscriptions/acknowledged': { from: 'server' },
  'notifications/tools/list_changed': { from: 'server', capability: 'tools.listChanged' },
  'notifications/prompts/list_changed': { from: 'server', capability: 'prompts.listChanged' },
  'notifications/resources/list_changed': { from: 'server', capability: 'resources.listChanged' },
  'notifications/resources/updated': { from: 'server', capability: 'resources.subscribe' },
}

export const modernInputRequests: MethodTable = {
  'sampling/createMessage': { from: 'server', capability: 'sampling' },
  'elicitation/create': { from: 'server', capability: 'elicitation' },
  'roots/list': { from: 'server', capability: 'roots' },
}

export const modernCapabilities: EraTable['capabilities'] = {
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

export const modernTable: EraTable = {
  era: 'modern',
  revisions: /* @__PURE__ */ revisionsOf('modern'),
  requests: modernRequests,
  notifications: modernNotifications,
  inputRequests: modernInputRequests,
  capabilities: modernCapabilities,
}
