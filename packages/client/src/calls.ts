/** The calls of a client that exist in both eras. */

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
  quoted,
  type ReadResourceResult,
  type SubscriptionFilter,
} from '@mcpx/protocol'
import { withSignal } from './async.ts'
import type { Listening } from './change-stream.ts'
import type { ClientCalls } from './client.ts'
import { checkResultOf, type EraConnection, requestLabel } from './era.ts'
import type { ExtensionCall } from './extensions.ts'
import { answerForCall, InvalidAnswer } from './input-requests.ts'
import { LegacyTaskTools } from './legacy-tasks.ts'
import type { LockGuard } from './lock.ts'
import {
  type CallOptions,
  checkCallOptions,
  type ListenOptions,
  type RequestCallOptions,
  refuseUnknown,
  type ToolCallOptions,
} from './options.ts'
import { OutputCheck } from './output-check.ts'
import { createListing, type Listing } from './pagination.ts'
import type { Reconnector } from './reconnect.ts'
import type { ClientState } from './state.ts'
import {
  createDoneHandle,
  createHandle,
  type HandleOptions,
  readTask,
  type TaskHandle,
  type TaskOptions,
} from './tasks.ts'

/** The results of the list methods. */
interface Lists {
  'tools/list': ListToolsResult
  'resources/list': ListResourcesResult
  'resources/templates/list': ListResourceTemplatesResult
  'prompts/list': ListPromptsResult
}

/** The calls of a single client. A group of clients has fewer calls. */
export interface Calls extends ClientCalls {
  task(id: string, options?: TaskOptions): TaskHandle
}

export function createCalls(
  state: ClientState,
  reconnector: Reconnector,
  listen: (filter: SubscriptionFilter, options?: ListenOptions) => Listening,
): Calls {
  const output = new OutputCheck(state.onWarning)
  const taskTools = new LegacyTaskTools(state.options, () => listTools().all())
  const { extensions } = state

  async function request(method: string, params: JsonObject, options: RequestCallOptions = {}): Promise<JsonObject> {
    checkCallOptions(method, options)
    const { reporter } = state
    const run = () => sendUntilComplete(method, params, bindCallbacks(options))
    return reporter?.isActive === true ? reporter.work({ kind: 'call', method, params }, run) : run()
  }

  async function sendUntilComplete(
    method: string,
    params: JsonObject,
    options: RequestCallOptions,
  ): Promise<JsonObject> {
    const label = requestLabel(method, params)
    const result = await sendInTurn(label, method, params, options)
    const complete = extensions.completion(method, result.resultType)
    if (complete === undefined || options.resultTypes?.includes(result.resultType as string)) return result
    return checkComplete(method, label, await useCall(label, options, (call) => complete(result, call)))
  }

  async function sendInTurn(label: string, method: string, params: JsonObject, options: RequestCallOptions) {
    const sendOver = (connection: EraConnection) =>
      taskTools.send(connection, method, params, options, (sent) => extensions.send(connection, method, sent, options))
    const send = () => reconnector.use(label, options.signal, sendOver)
    if (options.onLog === undefined && options.onInputRequest === undefined) return send()
    const call = { method, label, options: { ...options, timeout: options.timeout ?? state.options.timeout } }
    return state.turns.run(await reconnector.connect(label, options.signal), call, send)
  }

  /** Runs a function with a call object for extensions. Stops when the signal in the options is aborted. */
  function useCall<T>(
    label: string,
    options: RequestCallOptions,
    run: (call: ExtensionCall) => Promise<T>,
  ): Promise<T> {
    const { signal, meta, capabilities, onInputRequest } = options
    const runCall = async (signal: AbortSignal) => {
      signal.throwIfAborted()
      return run({
        label,
        era: reconnector.current.era,
        options,
        client: state.options,
        signal,
        request: (method, params, own) => request(method, params, { meta, capabilities, ...own }),
        answer(asked, signal, key) {
          const origin = { server: reconnector.current.server.info, signal, key }
          return answerForCall({ label, state, onInputRequest }, asked, origin)
        },
        on: extensions.on,
        listen,
      })
    }
    return withSignal(label, signal, runCall, reconnector.closing)
  }

  function checkComplete(method: string, label: string, result: JsonObject): JsonObject {
    return checkResultOf(state, reconnector.current.revision, method, label, result)
  }

  function handleOptions(
    tool: string | undefined,
    label: string,
    options: CallOptions = {},
  ): HandleOptions<CallToolResult> {
    // `signal` and `maxTimeout` belong to the call that started the task, not to the handle.
    const { signal, maxTimeout, onStatus, ...shared } = options
    return {
      use(own, run) {
        checkCallOptions('result', own)
        return useCall(label, { ...shared, ...bindCallbacks(own) }, run)
      },
      complete: (result) => checkOutput(tool, checkComplete('tools/call', label, result)),
      onWarning: state.onWarning,
      onStatus,
    }
  }

  function checkOutput(tool: string | undefined, result: JsonObject): CallToolResult {
    const checked = result as unknown as CallToolResult
    return tool === undefined ? checked : output.check(tool, checked)
  }

  async function callAsTask(name: string, args: JsonObject | undefined, options: CallOptions): Promise<TaskHandle> {
    const params = namedParams(name, args)
    const label = requestLabel('tools/call', params)
    const bound = bindCallbacks(options)
    const result = await request('tools/call', params, { ...bound, resultTypes: ['task'] })
    const handle = handleOptions(name, label, bound)
    if (result.resultType !== 'task') return createDoneHandle(checkOutput(name, result), handle)
    const task = readTask(result, label)
    return createHandle(task.taskId, handle, task)
  }

  const listTools: ClientCalls['listTools'] = (options) =>
    list('tools/list', options, ({ tools }) => {
      output.learn(tools)
      taskTools.learn(tools)
      return tools
    })

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
      onRepeatedEnd: () =>
        state.tolerate(
          'cursor',
          `${method}: the last page has an empty nextCursor: expected none at the end of a list`,
        ),
    })
  }

  // The result of each request is valid: the connection has checked it against the schema of its method.
  return {
    request: ((method: string, params = {}, options?: RequestCallOptions) =>
      request(method, params, options)) as ClientCalls['request'],
    listTools,
    callTool: (async (name: string, args?: JsonObject, { task, ...options }: ToolCallOptions = {}) => {
      checkString('callTool(name, args)', name)
      if (task === 'handle') return callAsTask(name, args, options)
      if (task !== undefined) throw new TypeError(`callTool: task: expected "handle", got ${quoted(String(task))}`)
      return checkOutput(name, await request('tools/call', namedParams(name, args), options))
    }) as ClientCalls['callTool'],
    task(id, options = {}) {
      if (typeof id !== 'string' || id === '')
        throw new TypeError(`task(id): expected the id of a task, got ${id === '' ? 'an empty string' : kindOf(id)}`)
      refuseUnknown('task', options, { tool: true })
      return createHandle(id, handleOptions(options.tool, `task ${quoted(id)}`))
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

/** Throws if the first argument is not a string. In other SDKs, it is an object with all parameters. */
export function checkString(form: string, value: unknown): void {
  if (typeof value !== 'string') throw new TypeError(`${form}: expected string first, got ${kindOf(value)}`)
}

type OnInputRequest = NonNullable<RequestCallOptions['onInputRequest']>

/** Wraps the callback of a call. The wrapped callback throws if the callback returns a value that is not a response. */
function checkedOnInputRequest(onInputRequest: OnInputRequest): OnInputRequest {
  return async (request, origin) => {
    const response = await onInputRequest(request, origin)
    if (isObject(response)) return response
    throw new InvalidAnswer(`onInputRequest: expected the response to ${request.method}, got ${kindOf(response)}`)
  }
}

type RunInContext = <Args extends unknown[], Result>(run: (...args: Args) => Result, ...args: Args) => Result

/** The members of Node's `process` that give access to async contexts. Bun and Deno have them too. */
interface Process {
  getBuiltinModule?(name: string): { readonly AsyncLocalStorage?: { snapshot?(): RunInContext } } | undefined
}

/** Binds the callbacks of a call to the async context of its caller, for example to its trace. */
function bindCallbacks(options: RequestCallOptions): RequestCallOptions {
  const { onProgress, onStatus, onNotification, onLog, onInputRequest } = options
  if (!(onProgress || onStatus || onNotification || onLog || onInputRequest)) return options
  const { process } = globalThis as { readonly process?: Process }
  const snapshot = process?.getBuiltinModule?.('node:async_hooks')?.AsyncLocalStorage?.snapshot?.()
  const runInContext: RunInContext = snapshot ?? ((run, ...args) => run(...args))

  function bind<Args extends unknown[], Result>(callback: ((...args: Args) => Result) | undefined) {
    return callback && ((...args: Args) => runInContext(callback, ...args))
  }
  return {
    ...options,
    onProgress: bind(onProgress),
    onStatus: bind(onStatus),
    onNotification: bind(onNotification),
    onLog: bind(onLog),
    onInputRequest: bind(onInputRequest && checkedOnInputRequest(onInputRequest)),
  }
}
