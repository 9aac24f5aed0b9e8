/** Answers what never becomes a request: no HTTP, headers that are too large, bytes that do not come in time. */

import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { encode, errorMessage, invalidRequest } from '@mcpx/protocol'
import { JSON_TYPE } from '../headers.ts'
import { type ArrivalLimits, readArrivalLimits, sayTooLarge, sayTooSlow } from '../server/arrival-limits.ts'
import type { Neighbour } from '../server/line.ts'

interface ArrivalSettings {
  readonly maxHeaderSize: number
  readonly requestTimeout: number
  /** Node has a time of its own for headers, which is shorter than some for the whole. */
  readonly headersTimeout: number
  readonly connectionsCheckingInterval: number
}

/** What Node is told, so that it finds out by itself. */
export function arrivalSettings(limits: ArrivalLimits): ArrivalSettings {
  const { maxHeaderSize, requestTimeout } = readArrivalLimits(limits)
  const connectionsCheckingInterval = Math.ceil(requestTimeout / 4)
  return { maxHeaderSize, requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval }
}

/** A response that has not reached its client yet. */
export class Unsent implements Neighbour {
  readonly outgoing: ServerResponse
  older: Neighbour['older']
  newer: Neighbour['newer']

  constructor(outgoing: ServerResponse) {
    this.outgoing = outgoing
  }
}

export function answerBrokenRequests(http: Server, limits: ArrivalLimits, unsent: Iterable<Unsent>): void {
  const refusalOf = describeProblems(arrivalSettings(limits))
  http.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket
    const waiting = Array.from(unsent, ({ outgoing }) => outgoing).filter(({ req }) => req.socket === socket)
    const broken = waiting.filter(({ req }) => !req.complete)
    // What came whole before the broken part is still answered; nothing more is read.
    if (waiting.length > 0 && broken.length === 0) waiting.at(-1)?.once('close', () => socket.destroySoon())
    else if (!socket.writable || waiting.length > 1 || broken.some(({ headersSent }) => headersSent)) socket.destroy()
    else {
      socket.write(refusalOf(error.code))
      socket.destroySoon()
    }
  })
}

function describeProblems({ maxHeaderSize, requestTimeout }: ArrivalSettings) {
  return (code: string | undefined): string => {
    if (code === 'HPE_HEADER_OVERFLOW') {
      return response('431 Request Header Fields Too Large', sayTooLarge(maxHeaderSize))
    }
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      return response('408 Request Timeout', sayTooSlow(requestTimeout))
    }
    return response('400 Bad Request', `The bytes are no HTTP request (${code ?? 'unknown'})`)
  }
}

function response(status: string, text: string): string {
  const body = encode(errorMessage(undefined, invalidRequest(text)))
  const lines = [
    `HTTP/1.1 ${status}`,
    `content-type: ${JSON_TYPE}`,
    `content-length: ${new TextEncoder().encode(body).length}`,
    'connection: close',
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
