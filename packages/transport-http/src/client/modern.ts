/** The modern era. Each request contains its envelope, and headers repeat parts of the request. */

import {
  ConnectionError,
  ErrorCode,
  type Exchange,
  type JsonObject,
  type Message,
  type NotificationMessage,
  PROTOCOL_VERSION_KEY,
  quoted,
  type RequestId,
  type RequestMessage,
  type ResponseMessage,
} from '@mcpx/protocol'
import {
  ANNOTATION,
  calledTool,
  checkAnnotations,
  type MirroredArgument,
  mirroredHeaders,
} from '../mirrored-headers.ts'
import type { ClientEra, EraHost } from './era.ts'
import type { Cursor } from './event-reader.ts'
import { readRpcResponse } from './rpc-response.ts'
import { expectAccepted, type HeaderValues, labelOf, post, responseLostError, wasClosedBeforeResponse } from './send.ts'

const LISTEN = 'subscriptions/listen'
/** Maximum number of pages to read in search of the tool that is called. */
const MAX_PAGES = 100
/** Maximum number of notifications that the responder handles at once. */
const MAX_NOTIFICATIONS = 10_000

export class ModernEra implements ClientEra {
  readonly #host: EraHost
  readonly #toolHeaders: ToolHeaders
  /** The revision of the last request; notifications repeat it. */
  #revision: string | undefined
  #handling = 0

  constructor(host: EraHost) {
    this.#host = host
    this.#toolHeaders = createToolHeaders(host.report)
  }

  async request(message: RequestMessage, signal: AbortSignal): Promise<ResponseMessage> {
    const headers = this.#headersOf(message)
    const rpcResponse = await this.#post(message, headers, signal)
    if (message.method === 'tools/call' && isHeaderMismatch(rpcResponse)) {
      return this.#callAgain(message, headers, rpcResponse, signal)
    }
    if (message.method !== 'tools/list' || 'error' in rpcResponse) return rpcResponse
    return { ...rpcResponse, result: this.#toolHeaders.learn(rpcResponse.result) }
  }

  async send(message: NotificationMessage | ResponseMessage, signal: AbortSignal): Promise<void> {
    const headers = 'method' in message ? this.#headersOf(message) : {}
    await expectAccepted(await post(this.#host.settings, message, headers, signal), message)
  }

  #headersOf(message: RequestMessage | NotificationMessage): Record<string, string> {
    this.#revision = revisionOf(message) ?? this.#revision
    return this.#toolHeaders.headersOf(message, this.#revision)
  }

  /**
   * Sends a request. If the connection is closed before the response begins, sends a request that is safe to repeat
   * once more, with another id.
   *
   * @param owner the id of the pending request
   */
  async #post(
    message: RequestMessage,
    headers: HeaderValues,
    signal: AbortSignal,
    owner: RequestId = message.id,
  ): Promise<ResponseMessage> {
    const { settings, report } = this.#host
    const label = labelOf(message)
    const cursor: Cursor = {}
    const onMessage = (other: Message) => this.#handle(other, owner)
    let { id } = message
    const response = await post(settings, message, headers, signal).catch((error: unknown) => {
      // The notifications of a subscription contain the id of its request, so the subscription is opened again instead.
      if (message.method === LISTEN || !wasClosedBeforeResponse(error)) throw error
      id = this.#host.nextId()
      return post(settings, { ...message, id }, headers, signal)
    })
    const rpcResponse = await readRpcResponse(response, settings, { id, label, signal, cursor, onMessage, report })
    if (rpcResponse === undefined) throw responseLostError(label, cursor.cut)
    return id === owner ? rpcResponse : { ...rpcResponse, id: owner }
  }

  /** Handles a message on the stream of a request. The message belongs to this request. */
  #handle(message: Message, id: RequestId): void {
    const { report } = this.#host
    if (!('method' in message)) this.#host.handleResponse(message)
    else if ('id' in message) report(new Error(`A request by the server was ignored: ${message.method.slice(0, 100)}`))
    else if (!this.#host.handleNotification(id, message)) void this.#respond(message)
  }

  /** Passes a notification to the responder. */
  async #respond(message: NotificationMessage): Promise<void> {
    const { responder, signal, report } = this.#host
    if (this.#handling >= MAX_NOTIFICATIONS) {
      const text = `${message.method} was dropped: ${MAX_NOTIFICATIONS} notifications are being handled already`
      report(new ConnectionError('limit', text))
      return
    }
    const exchange: Exchange = {
      signal,
      auth: undefined,
      session: undefined,
      requestInfo: undefined,
      notify: (method, params) => this.#host.notify(method, params),
    }
    this.#handling += 1
    try {
      await responder.respond(message, exchange)
    } catch (error) {
      report(error as Error)
    }
    this.#handling -= 1
  }

  /** Sends a call again if the server has rejected its headers and the newest list of tools requires other headers. */
  async #callAgain(
    call: RequestMessage,
    headers: HeaderValues,
    rejection: ResponseMessage,
    signal: AbortSignal,
  ): Promise<ResponseMessage> {
    await this.#refreshTools(call, signal).catch(this.#host.report)
    const newHeaders = this.#headersOf(call)
    if (JSON.stringify(newHeaders) === JSON.stringify(headers)) return rejection
    return this.#post({ ...call, id: this.#host.nextId() }, newHeaders, signal, call.id)
  }

  /** Lists the tools, up to the page with the called tool. */
  async #refreshTools(call: RequestMessage, signal: AbortSignal): Promise<void> {
    const { progressToken: _, ..._meta } = (call.params?._meta ?? {}) as JsonObject
    let cursor: unknown
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = cursor === undefined ? { _meta } : { _meta, cursor }
      const list: RequestMessage = { jsonrpc: '2.0', id: this.#host.nextId(), method: 'tools/list', params }
      const rpcResponse = await this.#post(list, this.#headersOf(list), signal)
      if ('error' in rpcResponse) return
      this.#toolHeaders.learn(rpcResponse.result)
      const { tools, nextCursor } = rpcResponse.result
      if (Array.isArray(tools) && tools.some((tool) => tool?.name === call.params?.name)) return
      if (typeof nextCursor !== 'string') return
      cursor = nextCursor
    }
  }
}

function revisionOf({ params }: RequestMessage | NotificationMessage): string | undefined {
  const revision = (params?._meta as JsonObject | undefined)?.[PROTOCOL_VERSION_KEY]
  return typeof revision === 'string' ? revision : undefined
}

function isHeaderMismatch(rpcResponse: ResponseMessage): boolean {
  return 'error' in rpcResponse && rpcResponse.error.code === ErrorCode.HeaderMismatch
}

export interface ToolHeaders {
  /** Returns the headers of a message. The newest list of tools determines which arguments are sent as headers. */
  headersOf(message: RequestMessage | NotificationMessage, revision: string | undefined): Record<string, string>
  /** Remembers the tools of a list. Returns the list without the tools whose annotations are not valid. */
  learn(result: JsonObject): JsonObject
}

/** The largest number of remembered tools with annotations. Above this number, the oldest tool is removed. */
const MAX_TOOLS = 10_000

/** Remembers which arguments of which tool are repeated in headers. */
export function createToolHeaders(report: (problem: Error) => void): ToolHeaders {
  const mirroredByTool = new Map<string, readonly MirroredArgument[]>()

  function remember(name: string, mirrored: readonly MirroredArgument[]): void {
    mirroredByTool.delete(name)
    if (mirrored.length === 0) return
    if (mirroredByTool.size >= MAX_TOOLS) mirroredByTool.delete(mirroredByTool.keys().next().value as string)
    mirroredByTool.set(name, mirrored)
  }

  /** Returns whether the annotations of a tool are valid. */
  function learnTool(tool: unknown): boolean {
    const { name, inputSchema } = (tool ?? {}) as JsonObject
    if (typeof name !== 'string' || typeof inputSchema !== 'object' || inputSchema === null) return true
    const mirrored = checkAnnotations(inputSchema as JsonObject)
    const isValid = typeof mirrored !== 'string'
    remember(name, isValid ? mirrored : [])
    if (isValid) return true
    const hint = 'Its author has to correct the schema; until then the tool cannot be called over HTTP.'
    report(new ConnectionError('invalid-message', `The tool ${quoted(name)} was left out. ${mirrored}`, { hint }))
    return false
  }

  return {
    headersOf(message, revision) {
      const tool = calledTool(message)
      return mirroredHeaders(message, revision, tool === undefined ? [] : mirroredByTool.get(tool))
    },
    learn(result) {
      if (!Array.isArray(result.tools)) return result
      if (mirroredByTool.size === 0 && !JSON.stringify(result.tools).includes(ANNOTATION)) return result
      const tools = result.tools.filter(learnTool)
      return tools.length === result.tools.length ? result : { ...result, tools }
    },
  }
}
