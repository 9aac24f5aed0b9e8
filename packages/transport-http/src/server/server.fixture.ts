/** A hand-written responder, and functions that send requests to an endpoint and read its responses. */

import type {
  Awaitable,
  Exchange,
  JsonObject,
  NotificationMessage,
  RequestMessage,
  Responder,
  ResponseMessage,
  Session,
} from '@mcpx/protocol'
import {
  errorMessage,
  invalidParams,
  LATEST_LEGACY_REVISION,
  LATEST_MODERN_REVISION,
  methodNotFound,
  resultMessage,
} from '@mcpx/protocol'
import { createDecoder, type SseEvent } from '@mcpx/sse'
import type { McpApp } from '../index.ts'

export const MODERN = LATEST_MODERN_REVISION
export const LEGACY = LATEST_LEGACY_REVISION
const KEY = 'io.modelcontextprotocol'

export type Method = (params: JsonObject, exchange: Exchange) => Awaitable<object>

/** Responds to `initialize` and the given methods; records exchanges and notifications. */
export class HandWritten implements Responder {
  readonly notifications: NotificationMessage[] = []
  readonly exchanges: Exchange[] = []
  readonly #methods: Readonly<Record<string, Method>>

  constructor(methods: Readonly<Record<string, Method>> = {}) {
    this.#methods = methods
  }

  async respond(
    message: RequestMessage | NotificationMessage,
    exchange: Exchange,
  ): Promise<ResponseMessage | undefined> {
    if (!('id' in message)) {
      this.notifications.push(message)
      return undefined
    }
    this.exchanges.push(exchange)
    const { id, method, params = {} } = message
    if (method === 'initialize' && exchange.session !== undefined) return this.#open(id, params, exchange.session)
    const run = Object.hasOwn(this.#methods, method) ? this.#methods[method] : undefined
    if (run === undefined) return errorMessage(id, methodNotFound(method))
    return resultMessage(id, await run(params, exchange))
  }

  async #open(id: string | number, params: JsonObject, session: Session): Promise<ResponseMessage> {
    const { protocolVersion } = params
    if (typeof protocolVersion !== 'string') return errorMessage(id, invalidParams('protocolVersion'))
    await session.update((state) => void Object.assign(state, { revision: protocolVersion, initialized: true }))
    return resultMessage(id, { protocolVersion, capabilities: {}, serverInfo: { name: 'hand', version: '1' } })
  }
}

export function request(method: string, params: JsonObject = {}, id: string | number = 1): RequestMessage {
  return { jsonrpc: '2.0', id, method, params }
}

/** A modern request with its envelope. */
export function modern(method: string, params: JsonObject = {}, id: string | number = 1): RequestMessage {
  const meta = { [`${KEY}/protocolVersion`]: MODERN, [`${KEY}/clientCapabilities`]: {} }
  return request(method, { ...params, _meta: meta }, id)
}

type HeaderInit = Record<string, string | undefined>

/** Posts a message with the headers of a modern client; headers that are `undefined` are not sent. */
export function postModern(
  app: McpApp,
  message: RequestMessage,
  headers: HeaderInit = {},
  init: RequestInit = {},
): Promise<Response> {
  const { name, uri } = message.params ?? {}
  const named = message.method === 'resources/read' ? uri : name
  const own = {
    'mcp-protocol-version': MODERN,
    'mcp-method': message.method,
    'mcp-name': typeof named === 'string' ? named : undefined,
  }
  return post(app, message, { ...own, ...headers }, init)
}

export function post(app: McpApp, body: unknown, headers: HeaderInit = {}, init: RequestInit = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return Promise.resolve(app.request('/', { method: 'POST', body: text, headers: headersOf(headers), ...init }))
}

export function get(app: McpApp, headers: HeaderInit = {}, init: RequestInit = {}): Promise<Response> {
  return Promise.resolve(app.request('/', { headers: headersOf(headers), ...init }))
}

function headersOf(headers: HeaderInit): Headers {
  const all: HeaderInit = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  }
  return new Headers(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Opens a session and returns its id. */
export async function openSession(app: McpApp, revision = LEGACY, headers: HeaderInit = {}): Promise<string> {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const response = await post(app, request('initialize', params, 'open'), headers)
  const id = response.headers.get('mcp-session-id')
  if (id === null) throw new Error(`no session: ${response.status} ${await response.text()}`)
  await response.body?.cancel()
  return id
}

/** Reads the events of a response one by one. */
export function eventsOf(response: Response) {
  const events: SseEvent[] = []
  const comments: string[] = []
  const decoder = createDecoder({
    onEvent: (event) => events.push(event),
    onComment: (comment) => comments.push(comment),
  })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let ended = false
  async function read(): Promise<boolean> {
    const { done, value } = await reader.read()
    if (value !== undefined) decoder.push(value)
    ended = done
    return !done
  }
  return {
    comments,
    /** Returns the next event, or undefined at the end of the stream. */
    async next(): Promise<SseEvent | undefined> {
      while (events.length === 0 && !ended) await read()
      return events.shift()
    },
    /** Returns the message of the next event that contains one. */
    async message(): Promise<JsonObject | undefined> {
      for (;;) {
        const event = await this.next()
        if (event === undefined) return undefined
        if (event.data !== '') return JSON.parse(event.data) as JsonObject
      }
    },
    async rest(): Promise<JsonObject[]> {
      while (!ended) await read()
      return events
        .splice(0)
        .filter(({ data }) => data !== '')
        .map(({ data }) => JSON.parse(data) as JsonObject)
    },
    async comment(): Promise<string | undefined> {
      while (comments.length === 0 && !ended) await read()
      return comments.shift()
    },
    cancel: () => reader.cancel(),
  }
}

export async function json(response: Response): Promise<JsonObject> {
  return (await response.json()) as JsonObject
}

/** Returns a promise and the function that resolves it. */
export function gate<T = void>() {
  let open: (value: T) => void = () => {}
  const promise = new Promise<T>((resolve) => {
    open = resolve
  })
  return { promise, open: (value: T) => open(value) }
}
