/** Starts a Node HTTP server with one MCP endpoint. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { guarded, invalidRequest, type Responder, unknownOption } from '@mcpx/protocol'
import { Hono } from 'hono'
import { mcp } from '../server/app.ts'
import { MAX_DROPPED } from '../server/body.ts'
import { copyResponse, LOOPBACK_HOSTS } from '../server/guards.ts'
import { pathOf, withoutLastSlash } from '../server/http-request.ts'
import { ENDPOINT_OPTIONS, type EndpointOptions, readPath } from '../server/options.ts'
import { isVisit, notFoundPage } from '../server/page.ts'
import { faultResponse, refusal, toResponse } from '../server/responses.ts'
import { type Address, authorityOf, cannotListen, readAddress } from './address.ts'
import { answerBrokenRequests, arrivalSettings, closeIdleConnections, OpenResponses } from './broken-requests.ts'
import { refuseInvalidRequest } from './to-node-handler.ts'

export interface ServeHttpOptions extends EndpointOptions {
  /**
   * The port to listen on, as a number or a string such as `process.env.PORT`. 0 selects any free port. Default: 3000.
   */
  readonly port?: number | string | undefined
  /**
   * The address or host name to listen on. Other machines can reach every address except loopback addresses. Default:
   * `127.0.0.1`.
   */
  readonly host?: string | undefined
  /**
   * The path of the endpoint. Other paths respond with 404, except the metadata URLs of `authenticate`. `/mcp/` is the
   * same as `/mcp`. Default: `/mcp`.
   */
  readonly path?: string | undefined
  /**
   * The largest size of all headers of a request, in bytes. Larger headers are refused with 431, and the connection is
   * closed. Default: 16,384.
   */
  readonly maxHeaderSize?: number | undefined
  /**
   * The longest time from the first byte of a request to the last byte of its body, in ms. Slower requests are refused
   * with 408, and the connection is closed. The check can be late by up to a quarter of this time. Default: 60,000.
   */
  readonly requestTimeout?: number | undefined
  /**
   * How long a connection may be idle before it is closed, in ms. Behind a proxy, it should be longer than the proxy
   * keeps idle connections open. Otherwise the proxy may send a request just when the server closes the connection, and
   * then responds with 502. Default: 75,000.
   */
  readonly keepAliveTimeout?: number | undefined
}

export interface HttpServer {
  /** The URL of the endpoint. */
  readonly url: string
  /** The port on which the server listens. */
  readonly port: number
  /** Closes all connections immediately. */
  close(): Promise<void>
  /** Refuses new requests, waits up to `ms` milliseconds for running requests, then closes. Default: 5,000. */
  drain(ms?: number): Promise<void>
}

/**
 * Serves a server over HTTP on a port, with `@hono/node-server`. Resolves when clients can connect. Rejects with a
 * `ConnectionError` if it cannot listen, and with a `TypeError` or a `RangeError` for an invalid option.
 *
 * ```ts
 * const { url } = await serveHttp(server, { port: 3000 }) // http://127.0.0.1:3000/mcp
 * ```
 */
export async function serveHttp(server: Responder, options: ServeHttpOptions = {}): Promise<HttpServer> {
  const problem = unknownOption('serveHttp', options, [...ENDPOINT_OPTIONS, ...OWN_OPTIONS], { hostname: 'host' })
  if (problem !== undefined) throw new TypeError(problem)
  const {
    host = '127.0.0.1',
    port: wanted = 3000,
    path,
    maxHeaderSize,
    requestTimeout,
    keepAliveTimeout,
    ...ofEndpoint
  } = options
  const address = readAddress(host, wanted)
  const paths = readPaths(path, options.sse)
  const served = paths.map(withoutLastSlash)
  const settings = arrivalSettings({ maxHeaderSize, requestTimeout, keepAliveTimeout })
  const allowedHosts = options.allowedHosts ?? hostsFor(address)
  const report = guarded(options.onWarning)
  const app = mcp(server, { ...ofEndpoint, allowedHosts })
  const others = createOthers(options, paths[0] as string, report)
  const unsent = new OpenResponses()
  const listener = getRequestListener(
    (request, env) => {
      const isServed = served.includes(withoutLastSlash(pathOf(request.url))) && request.method !== 'TRACE'
      return (isServed ? app : others).fetch(request, env)
    },
    { errorHandler: refuseInvalidRequest },
  )
  const http = createServer(settings, (incoming, outgoing) => {
    unsent.add(incoming.socket, outgoing)
    limitRest(incoming, outgoing)
    if (readTarget(incoming)) void listener(incoming, outgoing)
    else outgoing.writeHead(404).end()
  })
  answerBrokenRequests(http, settings, unsent)
  closeIdleConnections(http, unsent)
  const port = await listen(http, address, report)
  return {
    url: `http://${authorityOf({ ...address, port })}${paths[0]}`,
    port,
    async close() {
      app.close()
      await end(http)
    },
    async drain(ms) {
      await app.drain(ms)
      await flush(unsent)
      await end(http)
    },
  }
}

/** Cuts the connection of a client that continues to send a body after the response. */
function limitRest(incoming: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.prependOnceListener('finish', () => {
    if (incoming.complete) return
    const { socket } = incoming
    const most = socket.bytesRead + MAX_DROPPED
    incoming.on('data', () => {
      if (socket.bytesRead > most) socket.destroy()
    })
    // Without a read, Node drops the rest of the body itself, and emits no data.
    incoming.read(0)
  })
}

const OWN_OPTIONS: readonly Exclude<keyof ServeHttpOptions, keyof EndpointOptions>[] = [
  'port',
  'host',
  'path',
  'maxHeaderSize',
  'requestTimeout',
  'keepAliveTimeout',
]

/** Returns the served paths. The first one is the path of the endpoint. */
function readPaths(path = '/mcp', sse?: string): readonly string[] {
  const own = readPath('path', path === '' ? '/' : path, '/mcp')
  if (sse === undefined) return [own]
  const other = readPath('sse', sse, '/sse')
  if (withoutLastSlash(other) !== withoutLastSlash(own)) return [own, other]
  throw new TypeError(`sse: expected another path than the path of the endpoint, "${own}"`)
}

/** Creates the app for all other paths. It serves the metadata of the guard, and shows browsers the path of the endpoint. */
function createOthers(
  { authenticate, page = true }: EndpointOptions,
  path: string,
  report: (problem: Error) => void,
): Hono {
  return new Hono()
    .onError((error, context) => toResponse(context, faultResponse(error, report)))
    .all('*', (context) => {
      const { req } = context
      if (req.method === 'TRACE' || pathOf(req.raw.url).startsWith('//')) {
        const text = 'The method or the target of the request is not supported'
        return toResponse(context, refusal(400, invalidRequest(text)))
      }
      const metadata = authenticate?.metadata?.(req.raw)
      if (metadata !== undefined) return copyResponse(metadata)
      return page && isVisit(req.raw) ? toResponse(context, notFoundPage(path)) : new Response(null, { status: 404 })
    })
}

/** Returns the allowed hosts for an address: the address as given, and its normalized form, which clients may send. */
function hostsFor({ host }: Address): readonly string[] {
  const name = host.includes(':') ? `[${host}]` : host.toLowerCase()
  const url = `http://${name}`
  // URLs cannot contain an IPv6 zone.
  const parsed = URL.canParse(url) ? new URL(url).hostname : name
  return [...new Set([...LOOPBACK_HOSTS, name, parsed])]
}

/** Normalizes an absolute request target, as sent to proxies. Returns false if the target is not a path or an HTTP URL. */
function readTarget(incoming: IncomingMessage): boolean {
  const { url = '/' } = incoming
  if (url.startsWith('/')) return true
  if (!URL.canParse(url) || !/^https?:/i.test(url)) return false
  incoming.url = new URL(url).href
  return true
}

/**
 * How many connections may wait until the process accepts them. The system lowers it to its own limit. With Node's default
 * of 511, the first packets of further connections are lost, and clients send them again after a second.
 */
const BACKLOG = 16_384

function listen(http: Server, address: Address, report: (problem: Error) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: Error) => reject(cannotListen(address, cause))
    http.once('error', refuse)
    http.listen(address.port, address.host, BACKLOG, () => {
      // Later errors are only reported, because a failed connection must not close the server.
      http.off('error', refuse).on('error', report)
      resolve((http.address() as AddressInfo).port)
    })
  })
}

/** How long a closing server waits for its last responses to be sent, in ms. */
const FLUSH_TIMEOUT = 1_000
const FLUSH_POLL = 10

/** Waits until responses are sent. Otherwise Node closes their connections as idle. */
async function flush(unsent: OpenResponses): Promise<void> {
  const end = Date.now() + FLUSH_TIMEOUT
  while (!unsent.isEmpty && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, FLUSH_POLL))
}

function end(http: Server): Promise<void> {
  return new Promise((resolve) => {
    http.close(() => resolve())
    http.closeAllConnections()
  })
}
