/**
 * Responds to bytes that are not a complete request: to invalid HTTP, to headers that are too large, and to requests
 * that are too slow.
 */

import type { Server, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { encode, errorMessage, invalidRequest } from '@mcpx/protocol'
import { JSON_TYPE } from '../headers.ts'

interface ArrivalLimits {
  readonly maxHeaderSize?: number | undefined
  readonly requestTimeout?: number | undefined
  readonly keepAliveTimeout?: number | undefined
}

type ArrivalSettings = Required<
  Pick<ServerOptions, keyof ArrivalLimits | 'headersTimeout' | 'connectionsCheckingInterval'>
>

/**
 * Returns the limits, with defaults, as options of Node's `createServer`.
 *
 * @throws RangeError for an invalid limit
 */
export function arrivalSettings({
  maxHeaderSize = 16 * 1024,
  requestTimeout = 60_000,
  keepAliveTimeout = 75_000,
}: ArrivalLimits): ArrivalSettings {
  for (const [name, value] of Object.entries({ maxHeaderSize, requestTimeout, keepAliveTimeout })) {
    if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name}: expected an integer from 1, got ${value}`)
  }
  const connectionsCheckingInterval = Math.ceil(requestTimeout / 4)
  // Node has a separate timeout for headers. Its default may be shorter than `requestTimeout`.
  return {
    maxHeaderSize,
    requestTimeout,
    keepAliveTimeout,
    headersTimeout: requestTimeout,
    connectionsCheckingInterval,
  }
}

export function answerBrokenRequests(http: Server, limits: ArrivalSettings, unsent: OpenResponses): void {
  http.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket
    const waiting = unsent.of(socket)
    const broken = waiting.filter(({ req }) => !req.complete)
    const refuse = () => {
      if (socket.writable) socket.write(refusalOf(error.code, limits))
      socket.destroySoon()
    }
    // Respond to earlier complete requests of the connection first. No more bytes are read from the connection.
    if (waiting.length > 0 && broken.length === 0) waiting.at(-1)?.once('close', refuse)
    else if (!socket.writable || waiting.length > 1 || broken.some(({ headersSent }) => headersSent)) socket.destroy()
    else refuse()
  })
}

/**
 * Closes idle connections, as Node does, but after their bytes were read. If a handler has blocked the event loop,
 * timers fire before Node reads the requests that have arrived meanwhile, and these would be lost.
 */
export function closeIdleConnections(http: Server, unsent: OpenResponses): void {
  http.on('timeout', (socket) => {
    const { bytesRead } = socket
    setImmediate(() => {
      const isIdle = socket.bytesRead === bytesRead && unsent.of(socket).length === 0
      if (isIdle) socket.destroy()
    })
  })
}

function refusalOf(code: string | undefined, { maxHeaderSize, requestTimeout }: ArrivalSettings): string {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const text = `The headers are larger than ${maxHeaderSize} bytes (maxHeaderSize)`
    return httpResponse('431 Request Header Fields Too Large', text)
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    const text = `The request did not arrive within ${requestTimeout} ms (requestTimeout)`
    return httpResponse('408 Request Timeout', text)
  }
  return httpResponse('400 Bad Request', `The bytes are not a valid HTTP request (${code ?? 'unknown'})`)
}

function httpResponse(status: string, text: string): string {
  const body = encode(errorMessage(undefined, invalidRequest(text)))
  const lines = [
    `HTTP/1.1 ${status}`,
    `content-type: ${JSON_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/**
 * The responses that are not fully sent yet, by connection.
 *
 * There is a list per connection instead of one `Set`. If a set changes very often, V8 often replaces its hash table,
 * and the members of a replaced table are not freed before the next full garbage collection. A `Set` took 9 of the 25
 * µs of a call.
 */
export class OpenResponses {
  readonly #bySocket = new Map<Socket, ServerResponse[]>()

  /** Whether all responses are fully sent. */
  get isEmpty(): boolean {
    for (const responses of this.#bySocket.values()) if (responses.length > 0) return false
    return true
  }

  /** Returns the open responses of one connection, oldest first. */
  of(socket: Socket): readonly ServerResponse[] {
    return this.#bySocket.get(socket) ?? []
  }

  add(socket: Socket, response: ServerResponse): void {
    const responses = this.#bySocket.get(socket)
    if (responses === undefined) this.#follow(socket, [response])
    else responses.push(response)
    response.on('close', () => {
      const open = this.#bySocket.get(socket) ?? []
      const index = open.indexOf(response)
      if (index >= 0) open.splice(index, 1)
    })
  }

  /**
   * Starts the list of a connection, and closes its waiting responses when the connection closes. Node 24 and newer do
   * this themselves.
   */
  #follow(socket: Socket, responses: ServerResponse[]): void {
    this.#bySocket.set(socket, responses)
    socket.on('close', () => {
      this.#bySocket.delete(socket)
      for (const waiting of responses) if (!waiting.destroyed) waiting.destroy().emit('close')
    })
  }
}
