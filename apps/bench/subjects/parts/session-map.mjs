// Sessions of the official SDKs: a transport for each id.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { asEvents, host, port, ready } from './listening.mjs'

export function serveSessions(build, Transport) {
  const transports = new Map()
  const open = async () => {
    const transport = new Transport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: !asEvents && !process.env.TOOLS?.includes('count'),
      onsessioninitialized: (id) => void transports.set(id, transport),
    })
    await build().connect(transport)
    return transport
  }
  createServer(async (request, response) => {
    const id = request.headers['mcp-session-id']
    const transport = id === undefined ? await open() : transports.get(id)
    if (transport === undefined) return response.writeHead(404).end()
    await transport.handleRequest(request, response)
  }).listen(port, host, ready)
}
