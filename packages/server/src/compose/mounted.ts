/** A handler under a prefix: `search` of what is mounted as `github` is `github.search` for everybody else. */

import {
  type Awaitable,
  type Change,
  type Context,
  type Handler,
  kindOf,
  type PageRequest,
  quoted,
  RpcError,
} from '@mcpx/protocol'
import { RegistrationError } from '../features/registration-error.ts'
import { isObject } from '../features/subschemas.ts'
import {
  type Answering,
  membersWhile,
  NAMING,
  type Naming,
  type NamingParams,
  renamedParams,
  type Subject,
  subjectOf,
  unknownName,
} from '../members.ts'
import { settle } from '../settle.ts'
import { LISTS, type Lister, type Page } from './list.ts'
import { mapList, mapResult } from './mounted-results.ts'
import { isNameError, type OwningHandler } from './owning-handler.ts'
import { createPrefix, type Prefix } from './prefix.ts'

/** What can be mounted: a handler, or something that has one, such as a server. */
export type Mountable = Handler | { readonly handler: Handler }

/** The handler that is meant. */
export function handlerOf(target: Mountable): Handler {
  return 'handler' in target ? target.handler : target
}

/**
 * Names and URIs get the prefix on their way out and lose it on their way in, wherever the protocol has them.
 * In links and embedded resources, `http:` and `https:` URIs stay. Throws a `RangeError` for a prefix that is not
 * a letter followed by letters, digits and hyphens.
 */
export function mounted(prefix: string, target: Mountable): OwningHandler {
  const names = createPrefix(prefix)
  if (!isObject(target))
    throw new RegistrationError(`mount ${quoted(prefix)}: expected a server or a handler, got ${kindOf(target)}`)
  const inner: OwningHandler = handlerOf(target)
  const handler: OwningHandler = membersWhile(membersOf(inner, names), (name) => inner[name] !== undefined)
  handler.owns = (kind, name) => {
    const own = names.cut(kind, name)
    return own !== undefined && (inner.owns?.(kind, own) ?? true)
  }
  return handler
}

/** Each is called only while the handler behind it has the method. */
function membersOf(source: Handler, names: Prefix): Record<string, (...args: never) => unknown> {
  const inner = source as Required<Handler>
  const lister = source as unknown as Required<Lister>
  const lists = LISTS.map((list) => {
    const map = mapList(list, names)
    const listing = (page: PageRequest, ctx: Context) =>
      settle(() => lister[list.method](page, ctx) as Awaitable<Page>, map, rethrow)
    return [list.method, listing]
  })
  const naming = Object.keys(NAMING).map((name) => [name, renaming(inner, name as Naming, names)])
  const setLogLevel: Answering = (params, ctx) => inner.setLogLevel(params, ctx)
  const changes = (listener: (change: Change) => void) =>
    inner.changes((change) =>
      listener(change.kind === 'resource' ? { ...change, uri: names.add('resource', change.uri) } : change),
    )
  return { ...Object.fromEntries([...lists, ...naming]), setLogLevel, changes }
}

function rethrow(error: unknown): never {
  throw error
}

/** Asks by the name that is known inside; the result, or an error that names what was asked for, is for the outside. */
function renaming(
  inner: Required<Handler>,
  member: Naming,
  names: Prefix,
): (params: NamingParams, ctx: Context) => Awaitable<object | undefined> {
  const map = mapResult(member, names)
  return (params, ctx) => {
    const outer = subjectOf(member, params)
    const name = names.cut(outer.kind, outer.name)
    if (name === undefined) throw unknownName(outer)
    return settle<object | undefined, object | undefined>(
      () => inner[member](renamedParams(params, { ...outer, name }) as never, ctx) as Awaitable<object | undefined>,
      (result) => result && map(result),
      (error) => rethrow(renamedError(error, name, outer)),
    )
  }
}

function renamedError(error: unknown, name: string, outer: Subject): unknown {
  if (!isNameError(error)) return error
  const { code, message, data, cause } = error
  const namesUri = (data as { uri?: unknown } | undefined)?.uri === name
  const text = message.replace(quoted(name), () => quoted(outer.name))
  if (!namesUri && text === message) return error
  return new RpcError(code, text, { data: namesUri ? { ...(data as object), uri: outer.name } : data, cause })
}
