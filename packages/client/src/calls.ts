/** The calls of a client: the methods that both eras have. */

import {
  type CallToolResult,
  type CompleteResult,
  type GetPromptResult,
  isObject,
  type JsonObject,
  kindOf,
  type ListPromptsResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ListToolsResult,
  type ReadResourceResult,
} from '@mcpx/protocol'
import type { ClientCalls } from './client.ts'
import { requestLabel } from './era.ts'
import { InvalidAnswer } from './input-requests.ts'
import type { LockGuard } from './lock.ts'
import { type CallOptions, checkCallOptions, type RequestCallOptions } from './options.ts'
import { OutputCheck } from './output-check.ts'
import { createListing, type Listing } from './pagination.ts'
import type { Reconnector } from './reconnect.ts'
import type { ClientState } from './state.ts'

/** The results of the list methods. */
interface Lists {
  'tools/list': ListToolsResult
  'resources/list': ListResourcesResult
  'resources/templates/list': ListResourceTemplatesResult
  'prompts/list': ListPromptsResult
}

export function createCalls(state: ClientState, reconnector: Reconnector): ClientCalls {
  const output = new OutputCheck(state.onWarning)

  async function request(method: string, params: JsonObject, options: RequestCallOptions = {}): Promise<JsonObject> {
    checkCallOptions(method, options)
    const label = requestLabel(method, params)
    const bound = bindCallbacks(options)
    const use = () => reconnector.use(label, options.signal, (connection) => connection.request(method, params, bound))
    const send = () => state.reporter?.work({ kind: 'call', method, params }, use) ?? use()
    if (bound.onLog === undefined && bound.onAsk === undefined) return send()
    const call = { method, label, options: { ...bound, timeout: options.timeout ?? state.options.timeout } }
    return state.turns.run(await reconnector.connect(label, options.signal), call, send)
  }

  function list<Method extends keyof Lists, Item>(
    method: Method,
    options: CallOptions | undefined,
    itemsOf: (page: Lists[Method]) => readonly Item[],
  ): Listing<Item> {
    return createListing<Item>({
      method,
      maxPages: state.options.maxPages ?? 1_000,
      fetch: (params) => request(method, params, options),
      itemsOf(page) {
        const items = itemsOf(page as Lists[Method])
        state.lock?.checkPage(method, items as Parameters<LockGuard['checkPage']>[1])
        return items
      },
      onStale: () => state.cache.drop(method),
    })
  }

  // The result of each request is valid: the connection has checked it against the schema of its method.
  return {
    request: ((method: string, params = {}, options?: RequestCallOptions) =>
      request(method, params, options)) as ClientCalls['request'],
    listTools: (options) =>
      list('tools/list', options, ({ tools }) => {
        output.learn(tools)
        return tools
      }),
    async callTool(name, args, options) {
      checkString('callTool(name, args)', name)
      const result = await request('tools/call', namedParams(name, args), options)
      return output.check(name, result as unknown as CallToolResult)
    },
    listResources: (options) => list('resources/list', options, (page) => page.resources),
    listResourceTemplates: (options) => list('resources/templates/list', options, (page) => page.resourceTemplates),
    async readResource(uri, options) {
      checkString('readResource(uri)', uri)
      return (await request('resources/read', { uri }, options)) as unknown as ReadResourceResult
    },
    listPrompts: (options) => list('prompts/list', options, (page) => page.prompts),
    async getPrompt(name, args, options) {
      checkString('getPrompt(name, args)', name)
      return (await request('prompts/get', namedParams(name, args), options)) as unknown as GetPromptResult
    },
    async complete(params, options) {
      return (await request('completion/complete', params, options)) as unknown as CompleteResult
    },
  }
}

/** Some servers refuse a request without `arguments`, although the protocol makes them optional. */
export function namedParams(name: string, args: JsonObject = {}): JsonObject {
  return { name, arguments: args }
}

/** Throws for an object with all parameters, as other SDKs expect it. */
export function checkString(form: string, value: unknown): void {
  if (typeof value !== 'string') throw new TypeError(`${form}: expected string first, got ${kindOf(value)}`)
}

type OnAsk = NonNullable<RequestCallOptions['onAsk']>

/** Wraps the callback of a call, so that a value that is no response fails. */
function checkedOnAsk(onAsk: OnAsk): OnAsk {
  return async (request, origin) => {
    const response = await onAsk(request, origin)
    if (isObject(response)) return response
    throw new InvalidAnswer(`onAsk: expected the response to ${request.method}, got ${kindOf(response)}`)
  }
}

type RunInContext = <Args extends unknown[], Result>(run: (...args: Args) => Result, ...args: Args) => Result

/** The part of Node's `process` that gives access to async contexts. Bun and Deno have it too. */
interface Process {
  getBuiltinModule?(name: string): { readonly AsyncLocalStorage?: { snapshot?(): RunInContext } } | undefined
}

/** Binds the callbacks of a call to the async context of its caller, for example to its trace. */
function bindCallbacks(options: RequestCallOptions): RequestCallOptions {
  const { onProgress, onNotification, onLog, onAsk } = options
  if (!(onProgress || onNotification || onLog || onAsk)) return options
  const { process } = globalThis as { readonly process?: Process }
  const runInContext = process?.getBuiltinModule?.('node:async_hooks')?.AsyncLocalStorage?.snapshot?.()
  if (runInContext === undefined) return { ...options, onAsk: onAsk && checkedOnAsk(onAsk) }

  function bind<Args extends unknown[], Result>(callback: ((...args: Args) => Result) | undefined) {
    return callback && ((...args: Args) => (runInContext as RunInContext)(callback, ...args))
  }
  return {
    ...options,
    onProgress: bind(onProgress),
    onNotification: bind(onNotification),
    onLog: bind(onLog),
    onAsk: bind(onAsk && checkedOnAsk(onAsk)),
  }
}
