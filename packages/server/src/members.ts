/** The methods of handlers that answer requests: what of the protocol each answers, and what its parameters name. */

import { type Context, type Handler, invalidParams, quoted, type RpcError, resourceNotFound } from '@mcpx/protocol'

/** The method of a handler for each method of the protocol that one may have. */
export const MEMBERS = {
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

/** What handlers have names for. Resources are named by their URIs, templates by the template. */
export type Kind = 'tool' | 'prompt' | 'resource'

/** What a request is about. */
export interface Subject {
  readonly kind: Kind
  readonly name: string
}

/** The methods whose parameters name something, and of what kind it is; a completion says that itself. */
export const NAMING = {
  callTool: 'tool',
  getPrompt: 'prompt',
  readResource: 'resource',
  subscribe: 'resource',
  unsubscribe: 'resource',
  complete: undefined,
} as const satisfies Partial<Record<keyof Handler, Kind | undefined>>

export type Naming = keyof typeof NAMING

/** The parameters of all of those methods, as far as they name something. */
export interface NamingParams {
  readonly name?: string
  readonly uri?: string
  readonly ref?: { readonly type: string; readonly name?: string; readonly uri?: string }
}

/** A method of a handler that answers a request, whichever it is. */
export type Answering = (params: never, ctx: Context) => unknown

/** What the parameters of one of those methods name. */
export function subjectOf(member: Naming, params: NamingParams): Subject {
  const { name, uri = '' } = params.ref ?? params
  return { kind: NAMING[member] ?? (params.ref?.type === 'ref/prompt' ? 'prompt' : 'resource'), name: name ?? uri }
}

/** The parameters with another name in the place of theirs. */
export function renamedParams<Params extends NamingParams>(params: Params, { kind, name }: Subject): Params {
  const named = kind === 'resource' ? { uri: name } : { name }
  return params.ref === undefined ? { ...params, ...named } : { ...params, ref: { ...params.ref, ...named } }
}

/** The error for a name that is nobody's. */
export function unknownName({ kind, name }: Subject): RpcError {
  return kind === 'resource' ? resourceNotFound(name, 'modern') : invalidParams(`Unknown ${kind}: ${quoted(name)}`)
}

/** A handler with these methods, each of which is there only while `isThere` says so. */
export function membersWhile(
  members: Readonly<Record<string, (...args: never) => unknown>>,
  isThere: (name: keyof Handler) => boolean,
): Handler {
  const handler: Handler = {}
  for (const [name, method] of Object.entries(members)) {
    const get = () => (isThere(name as keyof Handler) ? method : undefined)
    Object.defineProperty(handler, name, { get, enumerable: true })
  }
  return handler
}
