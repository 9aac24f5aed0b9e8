// The official SDK 1 as a fetch handler; without sessions it needs a server for each request.
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { build } from '../parts/official-1.mjs'

export async function handle(request) {
  const server = build()
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  const response = await transport.handleRequest(request)
  await server.close()
  return response
}
