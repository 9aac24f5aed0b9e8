/** A handler under a prefix: `search` of what is mounted as `github` is `github.search` for everybody else. */

import {
  type Awaitable,
  type CompleteRequestParams,
  type CompleteResult,
  type Context,
  ErrorCode,
  type Handler,
  invalidParams,
  quoted,
  RpcError,
  resourceNotFound,
} from '@mcpx/protocol'
import { settle } from '../settle.ts'
import { membersWhile } from './members.ts'
import { createResultMappings } from './mounted-results.ts'
import type { OwningHandler } from './owning-handler.ts'
import { createPrefix, type Prefix } from './prefix.ts'

/** What can be mounted: a handler, or something that has one, such as a server. */
export type Mountable = Handler | { readonly handler: Handler }

/**
 * Names and URIs get the prefix on their way out and lose it on their way in, wherever the protocol has them.
 * In links and embedded resources, `http:` and `https:` URIs stay. Throws a `RangeError` for a prefix that is not
 * a letter followed by letters, digits and hyphens.
 */
export function mounted(prefix: string, target: Mountable): OwningHandler {
  const names = createPrefix(prefix)
  const inner: OwningHandler = 'handler' in target ? target.handler : target
  const handler: OwningHandler = membersWhile(membersOf(inner, names), (name) => inner[name] !== undefined)
  handler.owns = (kind, name) => {
    const own = kind === 'resource' ? names.cutFromUri(name) : names.cutFromName(name)
    return own !== undefined && (inner.owns?.(kind, own) ?? true)
  }
  return handler
}

/** Each is called only while the handler behind it has the method. */
function membersOf(source: Handler, names: Prefix): Required<Handler> {
  const inner = source as Required<Handler>
  const map = createResultMappings(names)
  const { addToUri, addToName } = names
  return {
    listTools: (page, ctx) => then(inner.listTools(page, ctx), map.tools),
    listPrompts: (page, ctx) => then(inner.listPrompts(page, ctx), map.prompts),
    listResources: (page, ctx) => then(inner.listResources(page, ctx), map.resources),
    listResourceTemplates: (page, ctx) => then(inner.listResourceTemplates(page, ctx), map.templates),
    callTool(params, ctx) {
      const name = cutName(names, params.name, 'tool')
      const run = () => inner.callTool({ ...params, name }, ctx)
      return renamed(run, map.toolResult, name, addToName)
    },
    getPrompt(params, ctx) {
      const name = cutName(names, params.name, 'prompt')
      const run = () => inner.getPrompt({ ...params, name }, ctx)
      return renamed(run, map.prompt, name, addToName)
    },
    readResource(params, ctx) {
      const uri = cutUri(names, params.uri)
      return renamed(() => inner.readResource({ ...params, uri }, ctx), map.contents, uri, addToUri)
    },
    subscribe(params, ctx) {
      const uri = cutUri(names, params.uri)
      return renamed<void>(() => inner.subscribe({ ...params, uri }, ctx), nothing, uri, addToUri)
    },
    unsubscribe(params, ctx) {
      const uri = cutUri(names, params.uri)
      return renamed<void>(() => inner.unsubscribe({ ...params, uri }, ctx), nothing, uri, addToUri)
    },
    complete: (params, ctx) => complete(inner, names, params, ctx),
    setLogLevel: (params, ctx) => inner.setLogLevel(params, ctx),
    changes: (listener) =>
      inner.changes((change) => {
        listener(change.kind === 'resource' ? { kind: 'resource', uri: addToUri(change.uri) } : change)
      }),
  }
}

function nothing(): void {}

function then<Result>(answer: Awaitable<Result>, map: (result: Result) => Result): Awaitable<Result> {
  return settle(() => answer, map, rethrow)
}

function rethrow(error: unknown): never {
  throw error
}

/** The result with its names as the outside knows them, and so an error that names what was asked for. */
function renamed<Result>(
  run: () => Awaitable<Result>,
  map: (result: Result) => Result,
  name: string,
  add: (name: string) => string,
): Awaitable<Result> {
  return settle(run, map, (error) => {
    throw renamedError(error, name, add(name))
  })
}

function renamedError(error: unknown, name: string, outer: string): unknown {
  const isAboutName =
    error instanceof RpcError && [ErrorCode.InvalidParams, ErrorCode.ResourceNotFound].includes(error.code as never)
  if (!isAboutName) return error
  const { code, message, data, cause } = error
  const namesUri = (data as { uri?: unknown } | undefined)?.uri === name
  const text = message.replace(quoted(name), () => quoted(outer))
  if (!namesUri && text === message) return error
  return new RpcError(code, text, { data: namesUri ? { ...(data as object), uri: outer } : data, cause })
}

function cutName(names: Prefix, name: string, what: string): string {
  const own = names.cutFromName(name)
  if (own === undefined) throw invalidParams(`Unknown ${what}: ${quoted(name)}`)
  return own
}

function cutUri(names: Prefix, uri: string): string {
  const own = names.cutFromUri(uri)
  if (own === undefined) throw resourceNotFound(uri, 'modern')
  return own
}

function complete(
  inner: Required<Handler>,
  names: Prefix,
  params: CompleteRequestParams,
  ctx: Context,
): Awaitable<CompleteResult> {
  const { ref } = params
  if (ref.type === 'ref/prompt') {
    const name = cutName(names, ref.name, 'prompt')
    const run = () => inner.complete({ ...params, ref: { ...ref, name } }, ctx)
    return renamed(run, same, name, names.addToName)
  }
  const uri = cutUri(names, ref.uri)
  return renamed(() => inner.complete({ ...params, ref: { ...ref, uri } }, ctx), same, uri, names.addToUri)
}

function same<Value>(value: Value): Value {
  return value
}
