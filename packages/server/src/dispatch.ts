/** Calls the handler member for a request, and lists which members and parameters belong to each method. */

import {
  type Context,
  type Handler,
  invalidParams,
  type JsonObject,
  methodNotFound,
  quoted,
  type RpcError,
  resourceNotFound,
  type ServerCapabilities,
} from '@mcpx/protocol'
import type { Faults } from './errors.ts'
import type { Endpoint, ServerRequest } from './middleware.ts'

/** The handler member for each request method. */
export const HANDLER_MEMBERS = {
  'tools/list': 'listTools',
  'tools/call': 'callTool',
  'resources/list': 'listResources',
  'resources/templates/list': 'listResourceTemplates',
  'resources/read': 'readResource',
  'prompts/list': 'listPrompts',
  'prompts/get': 'getPrompt',
  'completion/complete': 'complete',
  'resources/subscribe': 'subscribe',
  'resources/unsubscribe': 'unsubscribe',
  'logging/setLevel': 'setLogLevel',
} as const satisfies Readonly<Record<string, keyof Handler>>

/**
 * Optional members. If a handler lacks one of them, its requests succeed without an effect. Capabilities decide whether
 * clients may send these requests.
 */
const OPTIONAL_MEMBERS: readonly string[] = ['subscribe', 'unsubscribe', 'setLogLevel']

/** Calls the handler member for a request. Converts tool failures to results. Throws for an unknown method. */
export async function dispatch(
  handler: Handler,
  request: ServerRequest,
  ctx: Context,
  faults: Faults,
): Promise<object> {
  const { method, params } = request
  const member = Object.hasOwn(HANDLER_MEMBERS, method)
    ? HANDLER_MEMBERS[method as keyof typeof HANDLER_MEMBERS]
    : undefined
  if (member === undefined) throw methodNotFound(method)
  if (handler[member] === undefined) {
    if (OPTIONAL_MEMBERS.includes(member)) return {}
    // A handler that lists resources supports template lists (empty by default).
    if (member === 'listResourceTemplates' && handler.listResources !== undefined) return { resourceTemplates: [] }
    throw methodNotFound(method)
  }
  const members = handler as Record<typeof member, (params: object, ctx: Context) => unknown>
  try {
    const result = (await members[member](params, ctx)) as object
    return OPTIONAL_MEMBERS.includes(member) ? {} : result
  } catch (error) {
    if (member !== 'callTool') throw error
    return faults.toToolResult(error, ctx, request)
  }
}

/** The lists for which clients receive change notifications. */
export const LIST_KINDS = ['tools', 'prompts', 'resources'] as const

/** Returns the capabilities of a handler, which its members determine. */
export function capabilitiesOf(handler: Handler, isLogging: boolean): ServerCapabilities {
  const list = handler.changes === undefined ? {} : { listChanged: true }
  const capabilities: ServerCapabilities = {}
  if (isLogging) capabilities.logging = {}
  if (handler.complete !== undefined) capabilities.completions = {}
  if (handler.getPrompt !== undefined) capabilities.prompts = list
  if (handler.readResource !== undefined) {
    capabilities.resources = handler.subscribe === undefined ? list : { ...list, subscribe: true }
  }
  if (handler.callTool !== undefined) capabilities.tools = list
  return capabilities
}

/** Creates a handler from these members. A member is visible only while `exists` returns true for it. */
export function createDynamicHandler(
  members: Readonly<Record<string, (...args: never) => unknown>>,
  exists: (member: keyof Handler) => boolean,
): Handler {
  const handler: Handler = {}
  for (const [member, method] of Object.entries(members)) {
    const get = () => (exists(member as keyof Handler) ? method : undefined)
    Object.defineProperty(handler, member, { get, enumerable: true })
  }
  return handler
}

/** A kind of item. The name of a resource is its URI; the name of a template is the template string. */
export type ItemKind = 'tool' | 'prompt' | 'resource'

export interface ItemName {
  readonly kind: ItemKind
  readonly name: string
}

/** The members whose parameters name an item, with the kind of item. Completion requests contain the kind. */
export const NAMING_MEMBERS = {
  callTool: 'tool',
  getPrompt: 'prompt',
  readResource: 'resource',
  subscribe: 'resource',
  unsubscribe: 'resource',
  complete: undefined,
} as const satisfies Partial<Record<keyof Handler, ItemKind | undefined>>

export type NamingMember = keyof typeof NAMING_MEMBERS

/** The parameters of these members that name an item. */
export interface NamingParams {
  readonly name?: string
  readonly uri?: string
  readonly ref?: { readonly type: string; readonly name?: string; readonly uri?: string }
}

export function itemNameIn(member: NamingMember, params: NamingParams): ItemName {
  const { name, uri = '' } = params.ref ?? params
  const kind = NAMING_MEMBERS[member] ?? (params.ref?.type === 'ref/prompt' ? 'prompt' : 'resource')
  return { kind, name: name ?? uri }
}

/** Returns a copy of the parameters with another name. */
export function renameParams<Params extends NamingParams>(params: Params, { kind, name }: ItemName): Params {
  const named = kind === 'resource' ? { uri: name } : { name }
  return params.ref === undefined ? { ...params, ...named } : { ...params, ref: { ...params.ref, ...named } }
}

/** Creates the error for a name that does not exist. */
export function unknownNameError({ kind, name }: ItemName): RpcError {
  return kind === 'resource' ? resourceNotFound(name, 'modern') : invalidParams(`Unknown ${kind}: ${quoted(name)}`)
}

/** Creates a handler whose members run requests through the middleware of the server. */
export function createServerHandler(run: Endpoint, exists: (member: keyof Handler) => boolean): Handler {
  const members = Object.entries(HANDLER_MEMBERS).map(([method, member]) => {
    return [member, (params: JsonObject, ctx: Context) => run({ method, params }, ctx)] as const
  })
  return createDynamicHandler(Object.fromEntries(members), exists)
}
