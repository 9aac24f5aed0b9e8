/** Serves a handler of Node requests on a local port. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HttpServer {
  readonly url: string
  close(): Promise<void>
}

export type HandleHttp = (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>

/** Listens on a free port; passes the parsed body to the handler, as frameworks do. */
export async function listen(handle: HandleHttp): Promise<HttpServer> {
  const server = createServer((request, response) => {
    void readBody(request)
      .then((body) => handle(request, response, body))
      .catch((error: Error) => {
        if (!response.headersSent) response.writeHead(500)
        response.end(error.message)
      })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  if (request.method !== 'POST') return undefined
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}
