/** Servers on 127.0.0.1 that say what a test wants said, and connections to them. */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Connection,
  type JsonObject,
  LATEST_LEGACY_REVISION,
  LATEST_MODERN_REVISION,
  type Message,
  type Responder,
  type Revision,
} from '@mcpx/protocol'
import { onTestFinished } from 'vitest'
import { http } from '../client.ts'
import type { HttpOptions } from './options.ts'

/** One HTTP request as it arrived. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The message in the body; an empty object when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every kind
  readonly message: any
  /** Fires when the client has gone before the response was ended. */
  readonly gone: AbortSignal
}

export interface Peer {
  readonly url: string
  /** All requests so far, in order. */
  readonly seen: Seen[]
}

type Answer = (seen: Seen, response: ServerResponse) => unknown

/** Starts a server; it is stopped with the test. */
export async function serve(answer: Answer): Promise<Peer> {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const gone = new AbortController()
    response.on('close', () => response.writableFinished || gone.abort(new Error('The client has gone')))
    const one: Seen = {
      method: request.method as string,
      path: request.url as string,
      headers: request.headers,
      message: body === '' ? {} : JSON.parse(body),
      gone: gone.signal,
    }
    seen.push(one)
    await answer(one, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen }
}

export function json(response: ServerResponse, body: object, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

export function result(response: ServerResponse, { message }: Seen, value: object, headers?: Record<string, string>) {
  json(response, { jsonrpc: '2.0', id: message.id, result: value }, 200, headers)
}

export function failure(
  response: ServerResponse,
  { message }: Seen,
  status: number,
  error: { code: number; data?: unknown },
) {
  json(response, { jsonrpc: '2.0', id: message.id, error: { message: 'no', ...error } }, status)
}

export function empty(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, headers).end()
}

/** Begins an event stream. */
export function stream(response: ServerResponse, headers: Record<string, string> = {}) {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
  response.flushHeaders()
  return {
    raw: (text: string) => void response.write(text),
    event: (message: object, id?: string) =>
      void response.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`),
    end: () => void response.end(),
    /** Breaks the connection below the protocol. */
    cut: () => void response.destroy(),
  }
}

export interface Reached {
  readonly connection: Connection
  readonly problems: Error[]
  /** The messages that the responder received. */
  readonly heard: Message[]
}

/** A connection, closed with the test. */
export async function reach(url: string, options: HttpOptions = {}, responder?: Responder): Promise<Reached> {
  const problems: Error[] = []
  const heard: Message[] = []
  const listener: Responder = {
    respond(message, exchange) {
      heard.push(message)
      return responder?.respond(message, exchange)
    },
  }
  const report = (problem: Error) => void problems.push(problem)
  const connection = await http(url, options).connect({ responder: listener, onWarning: report })
  onTestFinished(() => connection.close())
  return { connection, problems, heard }
}

export const note = (method: string, params?: object) => ({ jsonrpc: '2.0', method, ...(params && { params }) })

/** Waits until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 400 && !holds(); turn++) await new Promise((resolve) => setTimeout(resolve, 5))
  if (!holds()) throw new Error('It never came to be')
}

/** Parameters of the modern era. */
export function modern(params: object = {}): JsonObject {
  const { _meta, ...rest } = params as JsonObject
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': LATEST_MODERN_REVISION,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return { ...rest, _meta: { ...(_meta as object | undefined), ...envelope } }
}

/** Reaches a server and shakes hands. */
export async function shakeHands(
  reached: Reached,
  protocolVersion: string = LATEST_LEGACY_REVISION,
  onMissed?: () => void,
): Promise<Reached> {
  const { connection } = reached
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  await connection.request('initialize', params, { announceCancel: false })
  await connection.notify('notifications/initialized')
  await connection.negotiated?.(protocolVersion as Revision, onMissed)
  return reached
}

/** The answer to a handshake. */
export function welcome(
  response: ServerResponse,
  seen: Seen,
  sessionId?: string,
  protocolVersion: string = LATEST_LEGACY_REVISION,
): void {
  const value = { protocolVersion, capabilities: {}, serverInfo: { name: 'peer', version: '1' } }
  result(response, seen, value, sessionId === undefined ? {} : { 'mcp-session-id': sessionId })
}

interface Legacy {
  readonly sessionId?: string | undefined
  readonly revision?: string
  readonly get?: Answer
  readonly delete?: Answer
  /** Notifications and answers. Default: taken. */
  readonly told?: Answer
}

/** A legacy server with one endpoint; `answer` takes all requests but the handshake. */
export function serveLegacy(answer: Answer, options: Legacy = {}): Promise<Peer> {
  return serve((seen, response) => {
    const { revision, get, told } = options
    const sessionId = 'sessionId' in options ? options.sessionId : 's-1'
    if (seen.method === 'GET') return get ? get(seen, response) : empty(response, 405)
    if (seen.method === 'DELETE') return options.delete ? options.delete(seen, response) : empty(response, 204)
    if (seen.message.method === 'initialize') return welcome(response, seen, sessionId, revision)
    if (seen.message.id === undefined || seen.message.method === undefined)
      return told ? told(seen, response) : empty(response, 202)
    return answer(seen, response)
  })
}
