/** Answers bytes that never become a request: no HTTP, headers that are too large, requests that arrive too slowly. */

import type { Server, ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import { encode, errorMessage, invalidRequest } from '@mcpx/protocol'
import { JSON_TYPE } from '../headers.ts'
import type { OpenResponses } from './open-responses.ts'

interface ArrivalLimits {
  readonly maxHeaderSize?: number | undefined
  readonly requestTimeout?: number | undefined
}

type ArrivalSettings = Required<
  Pick<ServerOptions, 'maxHeaderSize' | 'requestTimeout' | 'headersTimeout' | 'connectionsCheckingInterval'>
>

/**
 * The limits as options of Node's server, with the defaults.
 *
 * @throws RangeError for an invalid limit
 */
export function arrivalSettings({
  maxHeaderSize = 16 * 1024,
  requestTimeout = 60_000,
}: ArrivalLimits): ArrivalSettings {
  for (const [name, value] of Object.entries({ maxHeaderSize, requestTimeout })) {
    if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name}: expected an integer from 1, got ${value}`)
  }
  const connectionsCheckingInterval = Math.ceil(requestTimeout / 4)
  // Node has a limit of its own for headers, which is shorter than some for the whole.
  return { maxHeaderSize, requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval }
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
    // Requests that arrived before the broken one are answered first; nothing more is read.
    if (waiting.length > 0 && broken.length === 0) waiting.at(-1)?.once('close', refuse)
    else if (!socket.writable || waiting.length > 1 || broken.some(({ headersSent }) => headersSent)) socket.destroy()
    else refuse()
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
  return httpResponse('400 Bad Request', `The bytes are no HTTP request (${code ?? 'unknown'})`)
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
