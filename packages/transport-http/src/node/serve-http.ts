/** An HTTP server on a port of this machine, with one MCP endpoint. */

import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Awaitable, guarded, type Responder } from '@mcpx/protocol'
import { faultAnswer } from '../server/answers.ts'
import { createEndpoint, type Send } from '../server/endpoint.ts'
import { LOOPBACK_HOSTS } from '../server/guards.ts'
import { HttpAnswer } from '../server/http-answer.ts'
import type { HttpRequest } from '../server/http-request.ts'
import { NodeRequest } from '../server/incoming.ts'
import { Line } from '../server/line.ts'
import type { EndpointOptions } from '../server/options.ts'
import { closeWith, hasGone } from '../server/outgoing.ts'
import { readPath } from '../server/path.ts'
import { fromResponse } from '../server/web.ts'
import { type Address, authorityOf, cannotListen, readAddress } from './address.ts'
import { answerBrokenRequests, arrivalSettings, Unsent } from './broken-requests.ts'
import { loadHttp } from './load-http.ts'
import { createEras } from './select.ts'
import { sendAnswer } from './send-answer.ts'

export interface ServeHttpOptions extends EndpointOptions {
  /** The port to listen on, as a number or its text, such as `process.env.PORT`; 0: any that is free. Default: 3000. */
  readonly port?: number | string | undefined
  /**
   * The address to listen on, or a name for it. Anything but a loopback address can be reached from other machines.
   * Default: `127.0.0.1`.
   */
  readonly host?: string | undefined
  /**
   * The path of the endpoint; every other one is answered with 404, but for the metadata of a guard. A slash that it
   * ends with is part of it. Default: `/mcp`.
   */
  readonly path?: string | undefined
}

export interface HttpServer {
  /** Where clients reach the endpoint. */
  readonly url: string
  readonly port: number
  /** Ends every connection at once. */
  close(): Promise<void>
  /** Refuses what is new, gives what runs this many ms to end, then closes. Default: 5,000. */
  drain(ms?: number): Promise<void>
}

/**
 * Serves a server on a port of this machine. Resolves when it can be reached; rejects with a `ConnectionError` when it
 * cannot listen there, and a `TypeError` or a `RangeError` for an option that is none.
 *
 * ```ts
 * const { url } = await serveHttp(server, { port: 3000 }) // http://127.0.0.1:3000/mcp
 * ```
 */
export async function serveHttp(server: Responder, options: ServeHttpOptions = {}): Promise<HttpServer> {
  const { host = '127.0.0.1', port: wanted = 3000 } = options
  const address = readAddress(host, wanted)
  const paths = readPaths(options)
  const allowedHosts = options.allowedHosts ?? hostsFor(address)
  const endpoint = createEndpoint(server, { ...options, ...ENFORCED_BY_NODE, allowedHosts }, createEras)
  const answer = (request: HttpRequest, send: Send<void>): Awaitable<void> => {
    if (paths.includes(pathOf(request.target))) return endpoint.answer(request, send)
    const metadata = options.authenticate?.metadata?.(request.web)
    send(metadata === undefined ? new HttpAnswer(404, {}, null) : fromResponse(metadata))
  }
  const report = guarded(options.report)
  // What one request brings about must not end the process, which serves others.
  const fault: Fault = (error) => faultAnswer(error, report)
  const unsent = new Line<Unsent>()
  const { createServer } = await loadHttp()
  const http = createServer(arrivalSettings(options), (incoming, outgoing) => {
    const waiting = new Unsent(outgoing)
    unsent.add(waiting)
    const send: Send<void> = (answered) => {
      sendSafely(outgoing, answered, fault)
      // Small answers are with the system at once.
      const isSent = outgoing.writableEnded && outgoing.writableLength === 0
      if (isSent || hasGone(incoming, outgoing)) unsent.delete(waiting)
      else {
        closeWith(incoming.socket, outgoing)
        outgoing.on('close', () => unsent.delete(waiting))
      }
    }
    try {
      void answer(new NodeRequest(incoming, outgoing), send)
    } catch (error) {
      send(fault(error))
    }
  })
  answerBrokenRequests(http, options, unsent)
  const port = await listen(http, address, report)
  return {
    url: `http://${authorityOf({ ...address, port })}${paths[0]}`,
    port,
    async close() {
      endpoint.close()
      await end(http)
    },
    async drain(ms) {
      await endpoint.drain(ms)
      await flush(unsent)
      await end(http)
    },
  }
}

/** Before a request reaches the endpoint. */
const ENFORCED_BY_NODE = { maxHeaderSize: Number.POSITIVE_INFINITY, requestTimeout: Number.POSITIVE_INFINITY }

type Fault = (error: unknown) => HttpAnswer

/** A hook may have answered with what cannot be sent. */
function sendSafely(outgoing: ServerResponse, answered: HttpAnswer, fault: Fault): void {
  try {
    sendAnswer(outgoing, answered)
  } catch (error) {
    sendFault(outgoing, fault(error))
  }
}

function sendFault(outgoing: ServerResponse, answered: HttpAnswer): void {
  try {
    for (const name of outgoing.getHeaderNames()) outgoing.removeHeader(name)
    sendAnswer(outgoing, answered)
  } catch {
    outgoing.destroy()
  }
}

/** How long what was answered may take to reach its client while the server ends, in ms. */
const FLUSH = 1_000
const LOOK = 10

/** Waits for answers that are still on their way: Node takes their connections for idle, and would cut them. */
async function flush(unsent: Line<Unsent>): Promise<void> {
  const until = Date.now() + FLUSH
  while (unsent.size > 0 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, LOOK))
}

function end(http: Server): Promise<void> {
  return new Promise((resolve) => {
    http.close(() => resolve())
    http.closeAllConnections()
  })
}

/** Where something is served: the endpoint first. */
function readPaths({ path = '/mcp', sse }: ServeHttpOptions): readonly string[] {
  const own = readPath('path', path === '' ? '/' : path, '/mcp')
  if (sse === undefined) return [own]
  const other = readPath('sse', sse, '/sse')
  if (other !== own) return [own, other]
  throw new TypeError(`sse: expected another path than that of the endpoint, "${own}"`)
}

/** The names by which a server on this address is called: as it is written, and as clients that parse its URL write it. */
function hostsFor({ host }: Address): readonly string[] {
  const name = host.includes(':') ? `[${host}]` : host.toLowerCase()
  const url = `http://${name}`
  // A zone is no part of a URL.
  const parsed = URL.canParse(url) ? new URL(url).hostname : name
  return [...new Set([...LOOPBACK_HOSTS, name, parsed])]
}

function pathOf(url: string): string {
  const query = url.indexOf('?')
  return query === -1 ? url : url.slice(0, query)
}

function listen(http: Server, address: Address, report: (problem: Error) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: Error) => reject(cannotListen(address, cause))
    http.once('error', refuse)
    http.listen(address.port, address.host, () => {
      // A connection that could not be taken must not end those that were.
      http.off('error', refuse).on('error', report)
      resolve((http.address() as AddressInfo).port)
    })
  })
}
