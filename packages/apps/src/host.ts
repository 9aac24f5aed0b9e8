/** The host's part of the protocol between views and hosts, over `postMessage`. Revision 2026-01-26. */

import {
  type Awaitable,
  type CallToolResult,
  checkNumbers,
  ErrorCode,
  guarded,
  type Implementation,
  isObject,
  type JsonObject,
  quoted,
  type ReadResourceResult,
  RpcError,
  refuseUnknownOption,
  type Tool,
  withDefaultLimits,
} from '@mcpx/protocol'
import { visibleTo } from './client.ts'
import { copyJson } from './json-copy.ts'
import type { ViewPort } from './window-port.ts'

export { type MessageWindow, type ViewPort, windowPort } from './window-port.ts'

/** The revision of the protocol between views and hosts. */
export const VIEW_PROTOCOL = '2026-01-26'

/** The code of errors for requests that the host refuses. */
const REFUSED = -32000

/** A client that is connected to the server of the view: the result of `connect` of `@mcpx/client`. */
export interface ViewServer {
  /** Calls a tool. */
  callTool(name: string, args: JsonObject, options: { readonly signal: AbortSignal }): Promise<CallToolResult>
  /** Lists the tools. */
  listTools(options?: { readonly signal: AbortSignal }): { all(): Promise<Tool[]> }
  /** Reads a resource. */
  readResource(uri: string, options: { readonly signal: AbortSignal }): Promise<ReadResourceResult>
}

/** Limits of messages from a view. Requests above a limit are refused, and notifications are ignored. */
export interface ViewLimits {
  /** The largest message, in characters of JSON. Default: 1,048,576. */
  readonly message: number
  /** The largest number of messages per second. Default: 100. */
  readonly rate: number
  /** The largest number of requests without a response. Default: 16. */
  readonly pending: number
}

/** The default limits of messages from a view. */
export const VIEW_LIMITS: ViewLimits = { message: 1_048_576, rate: 100, pending: 16 }

/**
 * The callbacks for requests of a view. If a callback is missing, returns `false` or throws, the request is refused
 * with the error -32000.
 */
export interface ViewCallbacks {
  /**
   * Opens a link in a browser. The URL is normalized, with `https:` or `http:`. Show it to the user, and ask for
   * consent.
   */
  onOpenLink?(url: string): Awaitable<boolean>
  /** Adds a message of the user to the conversation. `message` has the members `role` and `content`. */
  onMessage?(message: JsonObject): Awaitable<boolean>
  /**
   * Replaces the part of the model's context that describes the state of the view. `context` has the members `content`
   * and `structuredContent`.
   */
  onModelContext?(context: JsonObject): Awaitable<boolean>
  /** Changes the display mode. Returns the new mode. */
  onDisplayMode?(mode: string): Awaitable<string | false>
}

/** The options of `openView`. */
export interface OpenViewOptions extends ViewCallbacks {
  /** The client that is connected to the server of the view. It receives all calls of the view. */
  readonly client: ViewServer
  /** The tool whose call is displayed. */
  readonly tool: Tool
  /** The messages of the view: a `MessagePort`, or `windowPort(...)` for a frame. */
  readonly port: ViewPort
  /** Name and version of the host. */
  readonly hostInfo: Implementation
  /** Facts for the view, such as `theme`, `locale` and `displayMode`. Default: none. */
  readonly hostContext?: JsonObject | undefined
  /** Called with the new size of the document, in CSS pixels. Default: none. */
  readonly onSize?: ((size: { readonly width?: number; readonly height?: number }) => void) | undefined
  /** Called when the view asks to be closed. Call `close()` to agree. Default: none. */
  readonly onCloseRequest?: (() => void) | undefined
  /** Called with each problem that was handled, such as an invalid message. Default: none. */
  readonly onWarning?: ((warning: Error) => void) | undefined
  /** How long `close()` waits for a response of the view, in ms. Default: 1,000. */
  readonly closeTimeout?: number | undefined
  /** Limits that differ from `VIEW_LIMITS`. */
  readonly limits?: Partial<ViewLimits> | undefined
}

const OPTION_NAMES: readonly (keyof OpenViewOptions)[] = [
  'client',
  'tool',
  'port',
  'hostInfo',
  'hostContext',
  'onOpenLink',
  'onMessage',
  'onModelContext',
  'onDisplayMode',
  'onSize',
  'onCloseRequest',
  'onWarning',
  'closeTimeout',
  'limits',
]

/** An open view. Messages wait until the view is initialized. */
export interface OpenView {
  /** Resolves when the view is initialized. */
  readonly ready: Promise<void>
  /** Sends the complete arguments of the call. Call it once, before the result. */
  sendInput(args: JsonObject): void
  /** Sends the result of the call. */
  sendResult(result: CallToolResult): void
  /** Notifies the view that the call was cancelled. */
  cancel(reason?: string): void
  /** Sends facts that have changed, such as `{ theme: 'dark' }`. */
  changeContext(context: JsonObject): void
  /** Asks the view to end its work, then stops processing its messages. Resolves after `closeTimeout` at the latest. */
  close(): Promise<void>
}

/**
 * Connects a view with its host and its server. The document must be in a sandboxed frame of another origin.
 *
 * ```ts
 * const view = openView({ client, tool, hostInfo, port: windowPort(window, () => frame.contentWindow) })
 * view.sendInput({ city: 'Oslo' })
 * view.sendResult(await client.callTool('weather', { city: 'Oslo' }))
 * ```
 *
 * @throws TypeError for an option that does not exist
 */
export function openView(options: OpenViewOptions): OpenView {
  refuseUnknownOption('openView', options, OPTION_NAMES)
  const { closeTimeout } = options
  checkNumbers('openView: ', { closeTimeout })
  refuseUnknownOption('openView, limits', options.limits ?? {}, Object.keys(VIEW_LIMITS))
  return new Bridge(options)
}

type Id = string | number
/** The longest id of a request, in characters. */
const MAX_ID = 1_024

class Bridge implements OpenView {
  readonly ready: Promise<void>
  readonly #options: OpenViewOptions
  readonly #limits: ViewLimits
  readonly #warn: (warning: Error) => void
  readonly #closing = new AbortController()
  readonly #pending = new Map<Id, AbortController>()
  /** Messages that wait until the view is initialized. Undefined after that. */
  #waiting: JsonObject[] | undefined = []
  #onReady: () => void = () => {}
  #onTornDown: (() => void) | undefined
  #stage: 'new' | 'input' | 'ended' = 'new'
  #second = 0
  #messages = 0

  constructor(options: OpenViewOptions) {
    this.#options = options
    this.#limits = withDefaultLimits(VIEW_LIMITS, options.limits)
    this.#warn = guarded(options.onWarning ?? (() => {}), () => {})
    this.ready = new Promise((resolve) => {
      this.#onReady = resolve
    })
    options.port.addEventListener('message', this.#receive)
    options.port.start?.()
  }

  sendInput(args: JsonObject): void {
    if (this.#stage !== 'new') throw new Error('sendInput: the view has its input already; open another view')
    this.#stage = 'input'
    this.#notify('ui/notifications/tool-input', { arguments: args })
  }

  sendResult(result: CallToolResult): void {
    this.#end('sendResult')
    this.#notify('ui/notifications/tool-result', { ...result })
  }

  cancel(reason?: string): void {
    this.#end('cancel')
    this.#notify('ui/notifications/tool-cancelled', reason === undefined ? {} : { reason })
  }

  changeContext(context: JsonObject): void {
    this.#notify('ui/notifications/host-context-changed', context)
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    if (this.#waiting === undefined) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, this.#options.closeTimeout ?? 1_000)
        this.#onTornDown = () => {
          clearTimeout(timer)
          resolve()
        }
        this.#post({ id: 'teardown', method: 'ui/resource-teardown', params: {} })
      })
    }
    this.#options.port.removeEventListener('message', this.#receive)
    for (const request of this.#pending.values()) request.abort()
  }

  #end(place: string): void {
    if (this.#stage === 'input') this.#stage = 'ended'
    else {
      const problem = this.#stage === 'new' ? 'has no input yet; call sendInput first' : 'has its result already'
      throw new Error(`${place}: the view ${problem}`)
    }
  }

  #notify(method: string, params: JsonObject): void {
    if (this.#closing.signal.aborted) return
    if (this.#waiting === undefined) this.#post({ method, params })
    else this.#waiting.push({ method, params })
  }

  #post(message: JsonObject): void {
    this.#options.port.postMessage({ jsonrpc: '2.0', ...message })
  }

  readonly #receive = ({ data }: { readonly data: unknown }): void => {
    const second = Math.floor(Date.now() / 1_000)
    this.#messages = second === this.#second ? this.#messages + 1 : 1
    this.#second = second
    const { rate, message: limit } = this.#limits
    if (this.#messages > rate) {
      // Send one warning per second, because the view may send messages without a pause.
      const problem = `A view sent more than ${rate} messages in a second`
      if (this.#messages === rate + 1) this.#warn(new Error(problem))
      return void this.#refuseUnread(data, refuse(problem))
    }
    const message = copyJson(data, limit)
    if (!isObject(message) || message.jsonrpc !== '2.0') {
      const problem = `A view sent a message that is no JSON-RPC, or has more than ${limit} characters`
      this.#warn(new Error(problem))
      return void this.#refuseUnread(data, new RpcError(ErrorCode.InvalidRequest, problem))
    }
    const { id, method, params = {} } = message as JsonObject
    if (typeof method !== 'string') {
      if (id === 'teardown') this.#onTornDown?.()
    } else if (isId(id)) {
      void this.#answer(id, method, isObject(params) ? (params as JsonObject) : {})
    } else if (isObject(params)) this.#handleNotification(method, params as JsonObject)
  }

  /** Responds with an error to a request whose parameters were not read, so that the view does not wait. */
  #refuseUnread(data: unknown, { code, message }: RpcError): void {
    const { id, method } = isObject(data) ? (data as JsonObject) : {}
    if (typeof method === 'string' && isId(id)) this.#post({ id, error: { code, message } })
  }

  #handleNotification(method: string, params: JsonObject): void {
    const { onSize, onCloseRequest } = this.#options
    if (method === 'ui/notifications/initialized') {
      const waiting = this.#waiting ?? []
      this.#waiting = undefined
      for (const message of waiting) this.#post(message)
      this.#onReady()
    } else if (method === 'ui/notifications/size-changed') {
      const { width, height } = params
      const isLength = (value: unknown) => typeof value === 'number' && value >= 0
      const size = { ...(isLength(width) && { width }), ...(isLength(height) && { height }) }
      guarded(onSize ?? (() => {}), this.#warn)(size as { width?: number; height?: number })
    } else if (method === 'ui/notifications/request-teardown') guarded(onCloseRequest ?? (() => {}), this.#warn)()
    else if (method === 'notifications/cancelled') this.#pending.get(params.requestId as Id)?.abort()
  }

  async #answer(id: Id, method: string, params: JsonObject): Promise<void> {
    const request = new AbortController()
    try {
      if (this.#closing.signal.aborted) throw refuse('The view is being closed')
      if (this.#pending.has(id)) throw new RpcError(ErrorCode.InvalidRequest, 'The id is in use')
      const { pending } = this.#limits
      if (this.#pending.size >= pending) throw refuse(`More than ${pending} requests wait for a response`)
      this.#pending.set(id, request)
      const result = await this.#run(method, params, request.signal)
      this.#post({ id, result })
    } catch (error) {
      const { code, message } = error instanceof RpcError ? error : refuse('The request failed')
      if (!(error instanceof RpcError)) this.#warn(new Error(`A view's ${method} failed`, { cause: error }))
      this.#post({ id, error: { code, message } })
    } finally {
      if (this.#pending.get(id) === request) this.#pending.delete(id)
    }
  }

  async #run(method: string, params: JsonObject, signal: AbortSignal): Promise<object> {
    const { client, onOpenLink, onMessage, onModelContext, onDisplayMode } = this.#options
    if (method === 'ui/initialize') return this.#initialize()
    if (method === 'ping') return {}
    if (this.#waiting !== undefined) throw refuse(`${method} was sent before ui/notifications/initialized`)
    switch (method) {
      case 'tools/list':
        return { tools: visibleTo(await client.listTools({ signal }).all(), 'app') }
      case 'tools/call': {
        const { name, arguments: args = {} } = params
        const tools = visibleTo(await client.listTools({ signal }).all(), 'app')
        const tool = tools.find((each) => each.name === name)
        if (tool === undefined) throw refuse(`Views cannot call the tool ${quoted(String(name))}`)
        if (!isObject(args)) throw new RpcError(ErrorCode.InvalidParams, 'arguments: expected an object')
        return client.callTool(tool.name, args as JsonObject, { signal })
      }
      case 'resources/read':
        return client.readResource(readString(params, 'uri'), { signal })
      case 'ui/open-link': {
        const text = readString(params, 'url')
        // Use the normalized form, in which international names are in Punycode, because some characters look alike.
        const url = URL.canParse(text) ? new URL(text) : undefined
        if (!/^https?:$/.test(url?.protocol ?? '')) throw refuse('url: expected an address of the web')
        return accept(method, await onOpenLink?.(`${url}`))
      }
      case 'ui/message':
        return accept(method, await onMessage?.(params))
      case 'ui/update-model-context':
        return accept(method, await onModelContext?.(params))
      case 'ui/request-display-mode': {
        const mode = await onDisplayMode?.(readString(params, 'mode'))
        return typeof mode === 'string' ? { mode } : accept(method, false)
      }
      default:
        throw new RpcError(ErrorCode.MethodNotFound, `Unknown method: ${quoted(method)}`)
    }
  }

  #initialize(): object {
    const { hostInfo, hostContext, tool, onOpenLink, onMessage, onModelContext } = this.#options
    const hostCapabilities = {
      serverTools: {},
      serverResources: {},
      ...(onOpenLink && { openLinks: {} }),
      ...(onMessage && { message: {} }),
      ...(onModelContext && { updateModelContext: {} }),
    }
    const context = { toolInfo: { tool }, ...hostContext }
    return { protocolVersion: VIEW_PROTOCOL, hostInfo, hostCapabilities, hostContext: context }
  }
}

function isId(value: unknown): value is Id {
  return typeof value === 'number' || (typeof value === 'string' && value.length <= MAX_ID)
}

function accept(method: string, isAccepted: boolean | undefined): object {
  if (isAccepted === true) return {}
  throw refuse(`${method} was refused by the host`)
}

function readString(params: JsonObject, name: string): string {
  const value = params[name]
  if (typeof value === 'string') return value
  throw new RpcError(ErrorCode.InvalidParams, `${name}: expected a string`)
}

function refuse(message: string): RpcError {
  return new RpcError(REFUSED, message)
}
