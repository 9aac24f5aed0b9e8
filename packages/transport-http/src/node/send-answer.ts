/** Sends what the endpoint answered on Node's own HTTP server. */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { EventStream } from '../server/event-stream.ts'
import type { HeaderRecord, HttpAnswer } from '../server/http-answer.ts'
import { closeWith, hasGone } from '../server/outgoing.ts'
import { flowTo, watchClient } from '../server/outgoing-sink.ts'

export function sendAnswer(outgoing: ServerResponse, { status, headers, body }: HttpAnswer): void {
  const isWeb = areWebs(headers)
  if (isWeb) outgoing.setHeaders(headers)
  const plain = isWeb ? {} : headers
  const text = textOf(body)
  if (text !== undefined) {
    const length = Buffer.byteLength(text)
    outgoing.writeHead(status, inTurn(plain, status, length))
    const isLast = isWeb ? headers.has('connection') : 'connection' in headers
    if (isLast && !outgoing.req.complete) linger(outgoing, text)
    // Text of one byte a character need not be looked at once more.
    else outgoing.end(text, length === text.length ? 'latin1' : 'utf8')
    return
  }
  outgoing.writeHead(status, plain)
  if (body instanceof ReadableStream) void sendStream(outgoing, body)
  else sendEvents(outgoing, body as EventStream)
}

/** To ask whether they are `instanceof Headers` would have Node load all of `fetch` for the first answer. */
function areWebs(headers: HttpAnswer['headers']): headers is Headers {
  return typeof headers.forEach === 'function'
}

/** Names and values in turn, as Node writes them with the least ado. */
function inTurn(headers: HeaderRecord, status: number, length: number): string[] {
  const all: string[] = []
  for (const name in headers) all.push(name, headers[name] as string)
  // A 204 has no length.
  if (status !== 204) all.push('content-length', String(length))
  return all
}

function textOf(body: HttpAnswer['body']): string | undefined {
  if (typeof body === 'string') return body
  if (body === null) return ''
  return body instanceof ReadableStream ? undefined : body.whole
}

/** How long a client may go on sending what was refused, in ms. */
const LINGER = 500

/** A connection that is ended while its client is sending is reset, and the answer on it is lost. */
function linger(outgoing: ServerResponse, text: string): void {
  outgoing.write(text)
  const end = () => outgoing.end()
  const timer = setTimeout(end, LINGER)
  outgoing.req.once('end', end).resume()
  outgoing.once('close', () => clearTimeout(timer))
}

function sendEvents(outgoing: ServerResponse, stream: EventStream): void {
  // Written by itself, the head becomes one string: joined to what follows, Node keeps its pieces as long as the stream.
  const { socket } = outgoing
  socket?.cork()
  outgoing.flushHeaders()
  flowTo(outgoing, stream, process.nextTick)
  watchClient(outgoing, stream)
  process.nextTick(uncork, socket)
}

function uncork(socket: Socket | null): void {
  socket?.uncork()
}

/** The body of a response that a hook made. */
async function sendStream(outgoing: ServerResponse, body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
  try {
    for await (const chunk of body) {
      if (hasGone(outgoing.req, outgoing)) break
      if (!outgoing.write(chunk)) await room(outgoing)
    }
    outgoing.end()
  } catch {
    outgoing.destroy()
  }
}

function room(outgoing: ServerResponse): Promise<void> {
  return new Promise((resume) => {
    const go = () => {
      outgoing.off('drain', go)
      outgoing.off('close', go)
      resume()
    }
    closeWith(outgoing.req.socket, outgoing)
    outgoing.on('drain', go)
    outgoing.on('close', go)
  })
}
