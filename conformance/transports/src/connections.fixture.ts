/** A connection over every transport, on which only the handshake has been made. */

import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial } from 'node:net'
import {
  type Connection,
  type ConnectOptions,
  createDuplex,
  type JsonObject,
  type Requester,
  type Responder,
  resultMessage,
} from '@mcpx/protocol'
import { createChannelPair } from '@mcpx/protocol/memory'
import { type HttpOptions, http } from '@mcpx/transport-http/client'
import { type ServeHttpOptions, serveHttp } from '@mcpx/transport-http/node'
import { overStreams, serveStdio } from '@mcpx/transport-stdio'
import { onTestFinished } from 'vitest'

export const MODERN = '2026-07-28'
export const LEGACY = '2025-11-25'

export const silent: ConnectOptions = { responder: { respond: () => undefined }, onWarning: () => {} }

export interface TransportCase {
  readonly name: string
  /** Whether the client can cancel a request on the server. */
  readonly supportsCancel: boolean
  /** Connects to the responder. The connection is closed at the end of the test. */
  connect(responder: Responder): Promise<Requester>
}

/** Adds the modern envelope to parameters. */
export function modern(params: object = {}): JsonObject {
  const { _meta, ...rest } = params as JsonObject
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return { ...rest, _meta: { ...(_meta as object | undefined), ...envelope } }
}

export const handshake = (protocolVersion = LEGACY) => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
})

/** Wraps a responder so that it answers `initialize`. */
export function withHandshake(responder: Responder): Responder {
  return {
    async respond(message, exchange) {
      if (!('id' in message) || message.method !== 'initialize') return responder.respond(message, exchange)
      const { protocolVersion } = message.params as { protocolVersion: string }
      await exchange.session?.update((state) => Object.assign(state, { revision: protocolVersion, initialized: true }))
      return resultMessage(message.id, {
        protocolVersion,
        capabilities: {},
        serverInfo: { name: 'contract', version: '1' },
      })
    },
  }
}

/** Adds the modern envelope to each message. */
function asModern(connection: Connection): Requester {
  return {
    request: (method, params, options) => connection.request(method, modern(params), options),
    notify: (method, params) => connection.notify(method, modern(params)),
    close: (reason) => connection.close(reason),
    closed: connection.closed,
  }
}

async function initializeLegacy(
  connection: Connection,
  revision: typeof LEGACY | '2024-11-05' = LEGACY,
): Promise<Requester> {
  await connection.request('initialize', handshake(revision), { announceCancel: false })
  await connection.notify('notifications/initialized')
  await connection.negotiated?.(revision)
  return connection
}

/** Serves on a free port until the end of the test. */
export async function serve(responder: Responder, options: ServeHttpOptions = {}) {
  const server = await serveHttp(responder, { port: 0, ...options })
  onTestFinished(() => server.close())
  return server
}

async function serveAndConnect(
  responder: Responder,
  options: ServeHttpOptions = {},
  path?: string,
): Promise<Connection> {
  const { url } = await serve(responder, options)
  return connectTo(path === undefined ? url : url.replace(/\/mcp$/, path))
}

/** Connects to a URL. The connection is closed at the end of the test. */
export async function connectTo(url: string, options: HttpOptions = {}): Promise<Connection> {
  const connection = await http(url, options).connect(silent)
  onTestFinished(() => connection.close())
  return connection
}

async function overSocket(responder: Responder): Promise<Requester> {
  const server = createServer(
    (socket) => void serveStdio(responder, { input: socket, output: socket, drainTimeout: 0 }),
  ).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return overStreams(() => {
    const socket = dial(port, '127.0.0.1')
    return { input: socket, output: socket }
  }).connect(silent)
}

export const transportCases: readonly TransportCase[] = [
  {
    name: 'memory',
    supportsCancel: true,
    async connect(responder) {
      const [clientEnd, serverEnd] = createChannelPair()
      createDuplex(serverEnd, { responder })
      return createDuplex(clientEnd)
    },
  },
  { name: 'lines over a socket', supportsCancel: true, connect: overSocket },
  {
    name: 'HTTP, modern',
    supportsCancel: true,
    connect: async (responder) => asModern(await serveAndConnect(responder)),
  },
  {
    name: 'HTTP, modern, JSON until the first notification',
    supportsCancel: true,
    connect: async (responder) => asModern(await serveAndConnect(responder, { legacy: false, strictAccept: true })),
  },
  {
    name: 'HTTP, legacy, with sessions',
    supportsCancel: true,
    connect: async (responder) => initializeLegacy(await serveAndConnect(withHandshake(responder))),
  },
  {
    name: 'HTTP, legacy, with sessions without stored events',
    supportsCancel: true,
    connect: async (responder) =>
      initializeLegacy(await serveAndConnect(withHandshake(responder), { sessions: { events: false } })),
  },
  {
    name: 'HTTP, legacy, without sessions',
    // Without a session a cancellation cannot be matched to its request.
    supportsCancel: false,
    connect: async (responder) =>
      initializeLegacy(await serveAndConnect(withHandshake(responder), { sessions: false })),
  },
  {
    name: 'HTTP+SSE',
    supportsCancel: true,
    connect: async (responder) =>
      initializeLegacy(await serveAndConnect(withHandshake(responder), { sse: '/sse' }, '/sse'), '2024-11-05'),
  },
]
