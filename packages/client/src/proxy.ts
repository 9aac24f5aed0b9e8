/**
 * `proxy` creates a handler that forwards requests to the server of a client, and forwards messages of this server to
 * the callers.
 */

import {
  type Change,
  ConnectionError,
  type Context,
  guarded,
  type Handler,
  hasCapability,
  type InputRequest,
  type InputResponse,
  invalidParams,
  isReservedMetaKey,
  type JsonObject,
  type ListToolsResult,
  methodNotFound,
  type PageRequest,
  pause,
  readEnvelope,
  type ServerCapabilities,
  TASKS_EXTENSION,
  type Tool,
  userRejected,
  type WholeHandler,
} from '@mcpx/protocol'
import { namedParams } from './calls.ts'
import type { Client } from './client.ts'
import { withAnswers } from './modern-input.ts'
import { type InputRequestOrigin, type RequestCallOptions, refuseUnknown } from './options.ts'
import { Subscriptions } from './subscriptions.ts'
import { reporters } from './telemetry.ts'

/** The options of `proxy`. */
export interface ProxyOptions {
  /** Called with every problem that was handled: messages that were ignored or dropped. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
}

/**
 * Creates a handler with the tools, resources and prompts of the client's server. It can be served and mounted. A legacy
 * server sends only the input requests that the client declared: pass `capabilities` to `connect`.
 *
 * ```ts
 * const client = await connect(spawn('old-server'), { capabilities: { elicitation: { form: {}, url: {} } } })
 * createServer(info).mount('old', proxy(client))
 * ```
 */
export function proxy(client: Client, options: ProxyOptions = {}): Handler & WholeHandler {
  refuseUnknown('proxy', options, { onWarning: true })
  const { capabilities } = client.server
  const feed = new ChangeFeed(client, guarded(options.onWarning))
  const forwarder = new Forwarder(client)
  const handler: Handler = {}
  if (capabilities.tools) {
    handler.listTools = async (page, ctx) => {
      const list = await forwarder.forward<ListToolsResult>('tools/list', pageParams(page), ctx)
      return list.tools.some((tool) => 'execution' in tool)
        ? { ...list, tools: list.tools.map(withoutExecution) }
        : list
    }
    handler.callTool = ({ name, arguments: args }, ctx) =>
      forwarder.forwardCall('tools/call', namedParams(name, args), ctx)
  }
  if (capabilities.prompts) {
    handler.listPrompts = (page, ctx) => forwarder.forward('prompts/list', pageParams(page), ctx)
    handler.getPrompt = ({ name, arguments: args }, ctx) =>
      forwarder.forwardCall('prompts/get', namedParams(name, args), ctx)
  }
  if (capabilities.resources) {
    handler.listResources = (page, ctx) => forwarder.forward('resources/list', pageParams(page), ctx)
    handler.listResourceTemplates = (page, ctx) => forwarder.forward('resources/templates/list', pageParams(page), ctx)
    handler.readResource = ({ uri }, ctx) => forwarder.forwardCall('resources/read', { uri }, ctx)
  }
  if (capabilities.resources?.subscribe) {
    handler.subscribe = ({ uri }) => feed.subscribe(uri)
    handler.unsubscribe = ({ uri }) => feed.unsubscribe(uri)
  }
  if (announcesChanges(capabilities)) handler.changes = (listener) => feed.addListener(listener)
  // The oldest revision has completion, but no capability for it.
  if (capabilities.completions || !hasCapability(client.revision, 'server', 'completions')) {
    handler.complete = ({ _meta, ...params }, ctx) => forwarder.forward('completion/complete', params, ctx)
  }
  if (capabilities.logging) handler.setLogLevel = ({ level }) => client.setLogLevel(level)
  // Each capability above adds all members of its part.
  return handler as Handler & WholeHandler
}

/** Removes the declaration of tasks from a tool, because the proxy itself waits for the tasks of its server. */
function withoutExecution(tool: Tool): Tool {
  const { execution: _, ...rest } = tool as Tool & { readonly execution?: unknown }
  return rest
}

function announcesChanges({ tools, prompts, resources }: ServerCapabilities): boolean {
  return [tools?.listChanged, prompts?.listChanged, resources?.listChanged, resources?.subscribe].includes(true)
}

function pageParams({ cursor }: PageRequest): JsonObject {
  return cursor === undefined ? {} : { cursor }
}

// Calls

/**
 * How long a server may take to cancel the input request of a call that has ended, in ms. After this time, the proxy
 * responds.
 */
const CANCEL_TIMEOUT = 1_000

/**
 * Forwards calls with the metadata of their callers, and forwards the messages that the server sends before the result.
 */
class Forwarder {
  readonly #client: Client
  /**
   * How many calls with input requests were forwarded for one call of a caller. The number becomes part of the keys of
   * the input requests, so that each response reaches the right call. Lists are not counted, because they may be cached
   * when the call runs again.
   */
  readonly #counts = new WeakMap<Context, number>()

  constructor(client: Client) {
    this.#client = client
  }

  /** Forwards a call that may return input requests, together with the responses to them. */
  forwardCall<Result>(method: string, params: JsonObject, ctx: Context): Promise<Result> {
    const count = (this.#counts.get(ctx) ?? 0) + 1
    this.#counts.set(ctx, count)
    return this.forward(method, withAnswers(params, ctx.inputResponses, ctx.requestState), ctx, count)
  }

  /** Resolves to the unchanged result. */
  async forward<Result>(method: string, params: JsonObject, ctx: Context, count = 1): Promise<Result> {
    const stop = new AbortController()
    const options = forwardOptions(ctx, stop.signal, onInputRequest)
    let asked = 0

    /**
     * Forwards an input request to the caller. In the modern era, this ends the call. The caller sends the call again
     * with the responses; the same input requests then have the same keys and receive these responses at once.
     */
    async function onInputRequest(request: InputRequest, { signal, key }: InputRequestOrigin): Promise<InputResponse> {
      asked += 1
      // Use the key of the task. A number would change when the task is followed again, because answered input requests
      // are missing.
      const own = key === undefined ? `${asked}` : `task-${key}`
      const name = count === 1 ? `upstream-${own}` : `upstream-${count}.${own}`
      let responses: Awaited<ReturnType<Context['ask']>>
      try {
        responses = await ctx.ask({ [name]: request })
      } catch (error) {
        stop.abort(error)
        // The call has ended, so wait until the server cancels its input request. It does not expect a response.
        await pause(CANCEL_TIMEOUT, signal).catch(() => {})
        throw userRejected('The input request is sent by another call')
      }
      const response = (responses as Record<string, InputResponse | undefined>)[name]
      if (response === undefined) throw methodNotFound(request.method)
      return response
    }

    try {
      const request = () => this.#request(method, params, options, ctx, count)
      const work = { kind: 'delegate', method, params } as const
      return (await (reporters.get(this.#client)?.work(work, request) ?? request())) as Result
    } catch (error) {
      throw stop.signal.aborted ? stop.signal.reason : error
    }
  }

  /**
   * Sends a request. If it becomes a task, stores the id as the result of a step, so that the same task continues when
   * the caller sends the call again with an answer. The task is cancelled with its caller.
   */
  async #request(
    method: string,
    params: JsonObject,
    options: RequestCallOptions,
    ctx: Context,
    count: number,
  ): Promise<JsonObject> {
    const client = this.#client
    const hasTasks = client.server.capabilities.extensions?.[TASKS_EXTENSION] !== undefined
    if (method !== 'tools/call' || !hasTasks) return client.request(method, params, options)
    let result: JsonObject = {}
    const start = async () => {
      result = await client.request(method, params, { ...options, resultTypes: ['task'] })
      if (result.resultType !== 'task') throw new NoTask()
      return result.taskId as string
    }
    let id: string
    try {
      id = await ctx.step(`upstream-task-${count}`, start)
    } catch (error) {
      if (error instanceof NoTask) return result
      throw error
    }
    const { onStatus, ...shared } = options
    const task = client.task(id)
    if (onStatus !== undefined) task.onStatus(onStatus)
    try {
      return (await task.result(shared)) as unknown as JsonObject
    } catch (error) {
      // `onInputRequest` ends the call to ask the caller, who sends it again.
      const isAsking = shared.signal?.aborted === true && !ctx.signal.aborted
      const isLeft = error instanceof ConnectionError && LEFT.includes(error.reason) && !isAsking
      if (isLeft) task.cancel().catch(() => {})
      throw error
    }
  }
}

/** Thrown in the step if the call was answered without a task. */
class NoTask extends Error {}

/** After errors with these reasons, the caller does not wait for the task any more. */
const LEFT: readonly string[] = ['cancelled', 'limit', 'invalid-message']

function forwardOptions(
  ctx: Context,
  stop: AbortSignal,
  onInputRequest: NonNullable<RequestCallOptions['onInputRequest']>,
): RequestCallOptions {
  const envelope = readEnvelope({ _meta: ctx.meta })
  const isLegacy = typeof envelope === 'string'
  // Request all messages, because `ctx.log` applies the level of the legacy session.
  const logLevel = isLegacy ? 'debug' : envelope.logLevel
  // The client waits for tasks itself, so its own declaration is sent, not the declaration of the caller.
  const { [TASKS_EXTENSION]: _, ...extensions } = ctx.client.capabilities.extensions ?? {}
  let progressed = 0
  return {
    signal: AbortSignal.any([ctx.signal, stop]),
    input: 'pass',
    // The client does not cache responses to calls with capabilities. The server of this handler caches them.
    capabilities: { ...ctx.client.capabilities, extensions },
    logLevel,
    // A legacy request does not state whether its caller wants log messages.
    logs: isLegacy || logLevel !== undefined ? 'own' : 'mixed',
    meta: ownMeta(ctx.meta),
    onLog: ({ level, data, logger }) => void ctx.log[level](data, logger),
    onInputRequest,
    ...(ctx.meta.progressToken !== undefined && {
      onProgress({ progress, total, message }) {
        progressed = progress
        void ctx.progress(progress, total, message)
      },
      onStatus({ status, statusMessage }) {
        progressed += 1
        void ctx.progress(progressed, undefined, statusMessage ?? status)
      },
    }),
  }
}

/** Returns the metadata without members that belong to one connection. */
function ownMeta(meta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => key !== 'progressToken' && !isReservedMetaKey(key)))
}

// Changes

/**
 * One stream of changes for all listeners and subscribers. It is open while there is at least one listener or
 * subscriber.
 */
class ChangeFeed {
  readonly #client: Client
  readonly #onWarning: (warning: Error) => void
  readonly #listeners = new Set<(change: Change, isShared: boolean) => void>()
  /** How many subscribers each resource has. */
  readonly #subscribers = new Map<string, { count: number }>()
  #subscriptions: Subscriptions | undefined

  constructor(client: Client, onWarning: (warning: Error) => void) {
    this.#client = client
    this.#onWarning = onWarning
  }

  /** Returns a function that removes the listener. */
  addListener(listener: (change: Change, isShared?: boolean) => void): () => void {
    // `guarded` returns a new function, so that the same listener can be added twice.
    const added = guarded(listener, this.#onWarning)
    this.#listeners.add(added)
    this.#open()
    return () => {
      this.#listeners.delete(added)
      this.#closeIfUnused()
    }
  }

  async subscribe(uri: string): Promise<void> {
    const subscribers = this.#subscribers.get(uri) ?? { count: 0 }
    this.#subscribers.set(uri, subscribers)
    subscribers.count += 1
    try {
      await this.#open().subscribe(uri, {})
    } catch (error) {
      this.#removeSubscriber(uri, subscribers)
      this.#closeIfUnused()
      // The caller requested a resource that cannot be subscribed to. This is not a fault of this server.
      const isRefused = error instanceof ConnectionError && error.reason === 'unsupported'
      throw isRefused ? invalidParams(error.message) : error
    }
  }

  async unsubscribe(uri: string): Promise<void> {
    if (!this.#removeSubscriber(uri, this.#subscribers.get(uri))) return
    this.#closeIfUnused()
    const subscriptions = this.#subscriptions
    try {
      await subscriptions?.unsubscribe(uri)
    } catch (error) {
      // If the stream was closed meanwhile, the subscription has ended too.
      if (subscriptions === this.#subscriptions) throw error
    }
  }

  /** Removes one subscriber of a resource. Returns true if it was the last one. */
  #removeSubscriber(uri: string, subscribers: { count: number } | undefined): boolean {
    if (subscribers === undefined) return false
    subscribers.count -= 1
    if (subscribers.count > 0 || this.#subscribers.get(uri) !== subscribers) return false
    return this.#subscribers.delete(uri)
  }

  #open(): Subscriptions {
    this.#subscriptions ??= new Subscriptions({
      listen: (filter, options) => this.#client.listen(filter, options),
      capabilities: () => this.#client.server.capabilities,
      onChange: (change) => {
        // `true`: the remote server notifies the proxies of all processes, so the change must not be published.
        for (const listener of this.#listeners) listener(change, true)
      },
      onWarning: this.#onWarning,
    })
    return this.#subscriptions
  }

  #closeIfUnused(): void {
    if (this.#listeners.size > 0 || this.#subscribers.size > 0) return
    this.#subscriptions?.close()
    this.#subscriptions = undefined
  }
}
