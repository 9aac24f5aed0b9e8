/** Mounts a handler under a prefix: the tool `search` of a handler mounted as `github` is `github.search` for clients. */

import {
  type ContentBlock,
  type Context,
  type Handler,
  isObject,
  kindOf,
  type PageRequest,
  quoted,
  RpcError,
  type Tool,
} from '@mcpx/protocol'
import {
  createDynamicHandler,
  type ItemKind,
  type ItemName,
  itemNameIn,
  NAMING_MEMBERS,
  type NamingMember,
  type NamingParams,
  renameParams,
  unknownNameError,
} from '../dispatch.ts'
import { RegistrationError } from '../errors.ts'
import { isNameError, LISTS, type List, type ListingHandler, type ListResult, type OwningHandler } from './combine.ts'

/** A handler, or an object with a handler, such as a server. */
export type Mountable = Handler | { readonly handler: Handler }

export function handlerOf(target: Mountable): Handler {
  return 'handler' in target ? target.handler : target
}

/**
 * Returns a handler that adds a prefix to all names and URIs in results, and removes it in requests. In links and embedded
 * resources, `http:` and `https:` URIs are unchanged. Throws a `RangeError` for a prefix that is not a letter followed by
 * letters, digits, `_` and `-`.
 */
export function mounted(prefix: string, target: Mountable): OwningHandler {
  const names = new Prefix(prefix)
  if (!isObject(target)) {
    throw new RegistrationError(`mount ${quoted(prefix)}: expected a server or a handler, got ${kindOf(target)}`)
  }
  const inner: OwningHandler = handlerOf(target)
  const handler: OwningHandler = createDynamicHandler(
    createMembers(inner, names),
    (member) => inner[member] !== undefined,
  )
  handler.owns = (kind, name) => {
    const own = names.remove(kind, name)
    return own !== undefined && (inner.owns?.(kind, own) ?? true)
  }
  handler.toolOptions = (name, auth) => {
    const own = names.remove('tool', name)
    return own === undefined ? undefined : inner.toolOptions?.(own, auth)
  }
  return handler
}

/** Creates the members of the mounted handler. A member is called only while the inner handler has it. */
function createMembers(source: Handler, names: Prefix): Record<string, (...args: never) => unknown> {
  const inner = source as Required<Handler>
  const lister = source as unknown as Required<ListingHandler>
  const lists = LISTS.map((list) => {
    const listItems = async (page: PageRequest, ctx: Context) => {
      const result = await lister[list.member](page, ctx)
      return result && renameList(result, list, names)
    }
    return [list.member, listItems]
  })
  const naming = Object.keys(NAMING_MEMBERS).map((member) => [
    member,
    createRenaming(inner, member as NamingMember, names),
  ])
  const setLogLevel: Handler['setLogLevel'] = (params, ctx) => inner.setLogLevel(params, ctx)
  const changes: Handler['changes'] = (listener) =>
    inner.changes((change, ...more) =>
      listener(change.kind === 'resource' ? { ...change, uri: names.add('resource', change.uri) } : change, ...more),
    )
  return { ...Object.fromEntries([...lists, ...naming]), setLogLevel, changes }
}

/** Creates a member that calls the inner one with the inner name, and changes results and errors to the outer names. */
function createRenaming(inner: Required<Handler>, member: NamingMember, names: Prefix) {
  return async (params: NamingParams, ctx: Context): Promise<object | undefined> => {
    const outer = itemNameIn(member, params)
    const name = names.remove(outer.kind, outer.name)
    if (name === undefined) throw unknownNameError(outer)
    try {
      const result = await inner[member](renameParams(params, { ...outer, name }) as never, ctx)
      return typeof result === 'object' ? renameResult(result, member, names) : undefined
    } catch (error) {
      throw renameError(error, name, outer)
    }
  }
}

function renameError(error: unknown, name: string, outer: ItemName): unknown {
  if (!isNameError(error)) return error
  const { code, message, data, cause } = error
  const namesUri = (data as { uri?: unknown } | undefined)?.uri === name
  const renamed = message.replace(quoted(name), () => quoted(outer.name))
  if (!namesUri && renamed === message) return error
  return new RpcError(code, renamed, { data: namesUri ? { ...(data as object), uri: outer.name } : data, cause })
}

function renameList(result: ListResult, list: List, names: Prefix): object {
  const items = result[list.items].map((item) => {
    const renamed = { ...item, [list.name]: names.add(list.kind, item[list.name]) }
    return list.kind === 'tool' ? renameView(renamed as unknown as Tool, names) : renamed
  })
  return { ...result, [list.items]: items }
}

/** Renames the URI of a tool's view in the metadata of the tool. */
function renameView(tool: Tool, names: Prefix): Tool {
  const { ui, 'ui/resourceUri': flat } = tool._meta ?? {}
  const uri = (ui as { resourceUri?: unknown } | undefined)?.resourceUri
  if (typeof uri !== 'string' && typeof flat !== 'string') return tool
  const meta = { ...tool._meta }
  if (typeof uri === 'string') meta.ui = { ...(ui as object), resourceUri: names.add('resource', uri) }
  if (typeof flat === 'string') meta['ui/resourceUri'] = names.add('resource', flat)
  return { ...tool, _meta: meta }
}

function renameResult(result: object, member: NamingMember, names: Prefix): object {
  switch (member) {
    case 'callTool':
      return mapMember(result, 'content', (blocks: ContentBlock[]) => blocks.map((block) => renameBlock(block, names)))
    case 'getPrompt':
      return mapMember(result, 'messages', (messages: object[]) =>
        messages.map((message) => mapMember(message, 'content', (block: ContentBlock) => renameBlock(block, names))),
      )
    case 'readResource':
      return mapMember(result, 'contents', (contents: { uri: string }[]) =>
        contents.map((each) => ({ ...each, uri: names.add('resource', each.uri) })),
      )
    default:
      return result
  }
}

/** Renames the URI in a content block. Web addresses are unchanged, because clients fetch them directly. */
function renameBlock(block: ContentBlock, names: Prefix): ContentBlock {
  const rename = (uri: string) => (/^https?:/i.test(uri) ? uri : names.add('resource', uri))
  if (block.type === 'resource_link') return mapMember(block, 'uri', rename)
  if (block.type !== 'resource') return block
  return mapMember(block, 'resource', (held: { uri: string }) => mapMember(held, 'uri', rename))
}

/** Returns a copy with a mapped member, or the object itself if it does not have the member. */
function mapMember<Holder extends object, Value>(holder: Holder, key: string, map: (value: Value) => Value): Holder {
  if (!(key in holder)) return holder
  return { ...holder, [key]: map((holder as Record<string, Value>)[key] as Value) }
}

/** Schemes that hosts recognize and that are kept. The prefix becomes the first path segment. */
const NAMED_SCHEME = /^(?:ui|skill):\/\//

/** Adds a prefix to names and URIs, and removes it. */
class Prefix {
  readonly #start: string
  readonly #uriStart: string
  readonly #segment: string

  /** Throws a `RangeError` for a prefix that cannot begin both a name and a URI scheme. */
  constructor(prefix: string) {
    if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(prefix)) {
      const rule = 'expected a letter, then letters, digits, "_" and "-", such as "github"'
      throw new RangeError(`mount: ${JSON.stringify(prefix)} cannot begin names and URI schemes; ${rule}`)
    }
    this.#start = `${prefix}.`
    // A URI scheme may contain `+` but no `_`.
    this.#uriStart = `${prefix.replaceAll('_', '+')}.`
    this.#segment = `${prefix}/`
  }

  /** `search` to `github.search`; the resource `config://app` to `github.config://app`, `ui://view` to `ui://github/view`. */
  add(kind: ItemKind, name: string): string {
    const [scheme] = (kind === 'resource' && NAMED_SCHEME.exec(name)) || []
    if (scheme !== undefined) return scheme + this.#segment + name.slice(scheme.length)
    return (kind === 'resource' ? this.#uriStart : this.#start) + name
  }

  /** Removes the prefix. Returns undefined for a name without it. */
  remove(kind: ItemKind, name: string): string | undefined {
    const own = name.slice(this.#start.length)
    if (kind !== 'resource') return name.startsWith(this.#start) ? own : undefined
    // Clients may write the scheme in lower case.
    if (name.slice(0, this.#uriStart.length).toLowerCase() === this.#uriStart.toLowerCase()) return own
    const [scheme = ''] = NAMED_SCHEME.exec(name) ?? []
    return scheme !== '' && name.startsWith(this.#segment, scheme.length)
      ? scheme + name.slice(scheme.length + this.#segment.length)
      : undefined
  }
}

interface Mount {
  readonly prefix: string
  readonly handler: Handler
}

const mounts = new WeakMap<Handler, Mount[]>()

/**
 * Records a mount. Throws a `RegistrationError` if the outer handler would contain itself, directly or through other
 * servers.
 */
export function recordMount(outer: Handler, prefix: string, handler: Handler): void {
  const path = findPath(outer, { prefix, handler }, new Set())
  if (path !== undefined) {
    throw new RegistrationError(
      `mount: ${JSON.stringify(path.join('.'))} would mount the server inside itself; mount another server`,
    )
  }
  mounts.set(outer, [...(mounts.get(outer) ?? []), { prefix, handler }])
}

/** Returns the prefixes from a mount to a handler, or undefined if the mount does not contain it. */
function findPath(goal: Handler, { prefix, handler }: Mount, seen: Set<Handler>): string[] | undefined {
  if (handler === goal) return [prefix]
  if (seen.has(handler)) return undefined
  seen.add(handler)
  for (const inner of mounts.get(handler) ?? []) {
    const path = findPath(goal, inner, seen)
    if (path !== undefined) return [prefix, ...path]
  }
  return undefined
}
