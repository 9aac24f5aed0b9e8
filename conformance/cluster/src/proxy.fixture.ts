/** A load balancer without sticky sessions: each request goes to the next node that accepts connections. */

import { once } from 'node:events'
import { type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export interface Balancer {
  readonly url: string
  /** The nodes that requests were sent to, as `POST 0`. */
  readonly seen: string[]
  /** The number of requests that each node has received. */
  readonly counts: number[]
  /** Sends all requests to one node. Default: each request goes to the next node. */
  pin(node: number | undefined): void
  /** Cuts all open responses. */
  cutAll(): void
  close(): void
}

/** @param ports the ports of the nodes, which may be down */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const open = new Set<ServerResponse>()
  const seen: string[] = []
  const counts = ports.map(() => 0)
  let pinned: number | undefined
  let turn = 0

  async function forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming)
    const first = turn++
    for (let attempt = 0; attempt < ports.length; attempt++) {
      const node = pinned ?? (first + attempt) % ports.length
      const outgoing = await send(incoming, body, ports[node] as number)
      if (outgoing === undefined) continue
      seen.push(`${incoming.method} ${node}`)
      if (seen.length > 1_000) seen.splice(0, 500)
      counts[node] = (counts[node] ?? 0) + 1
      return pass(outgoing, response)
    }
    response.writeHead(503, { 'retry-after': '1' }).end()
  }

  const server = createServer((incoming, response) => {
    open.add(response)
    response.on('close', () => open.delete(response))
    forward(incoming, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cutAll = () => {
    for (const response of open) response.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen,
    counts,
    pin(node) {
      pinned = node
    },
    cutAll,
    close() {
      server.close()
      cutAll()
      server.closeAllConnections()
    },
  }
}

/** Sends a request to a node. Returns undefined if the node does not accept connections; then nothing was sent. */
async function send(incoming: IncomingMessage, body: Buffer, port: number): Promise<ClientRequest | undefined> {
  const { method, url: path, headers } = incoming
  const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent: false })
  outgoing.on('error', () => {})
  const [socket] = await once(outgoing, 'socket')
  try {
    if (socket.connecting) await once(socket, 'connect')
  } catch {
    return undefined
  }
  outgoing.end(body)
  return outgoing
}

/** Forwards the response of a node as it arrives. */
function pass(outgoing: ClientRequest, response: ServerResponse): void {
  response.on('close', () => outgoing.destroy())
  outgoing.on('error', () => {
    // The node has ended while it handled the request.
    if (response.headersSent) response.destroy()
    else response.writeHead(502).end()
  })
  outgoing.on('response', (incoming) => {
    response.writeHead(incoming.statusCode ?? 502, incoming.headers)
    response.flushHeaders()
    incoming.on('error', () => response.destroy())
    incoming.on('close', () => incoming.complete || response.destroy())
    incoming.pipe(response)
  })
}
