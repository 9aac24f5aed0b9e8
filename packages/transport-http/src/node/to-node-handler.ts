/** An app as a handler of Express, Fastify or plain `node:http`. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { McpApp } from '../server/app.ts'

/** An `IncomingMessage` of Node, whose body a middleware may have parsed, as `express.json()` does. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly body?: unknown
}

/** A `ServerResponse` of Node. */
export interface NodeResponse {
  readonly headersSent: boolean
  end(): unknown
}

/** Resolves when the response was written. Works without a `this`. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>

/**
 * Returns a handler for servers of Node. A body that was parsed already, in `request.body`, is used.
 *
 * ```ts
 * express().use(express.json()).all('/mcp', toNodeHandler(mcp(server)))
 * ```
 */
export function toNodeHandler(app: Pick<McpApp, 'fetch'>): NodeHandler {
  const listener = getRequestListener((request, env) => {
    const { incoming } = env
    const { body } = incoming as NodeRequest
    const isParsed = body !== undefined && incoming.readableDidRead
    return app.fetch(isParsed ? withBody(request, body) : request, env)
  })
  // Named by their members, so that users need no types of Node.
  return (request, response) => listener(request as IncomingMessage, response as ServerResponse)
}

function withBody(request: Request, body: unknown): Request {
  const { url, method } = request
  const headers = new Headers(request.headers)
  // They are about the bytes that were parsed.
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name)
  return new Request(url, { method, headers, ...(method === 'POST' && { body: textOf(body) }) })
}

function textOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
}
