/** Converts an app to a handler for Express, Fastify or plain `node:http`. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, RequestError } from '@hono/node-server'
import { internalError, invalidRequest } from '@mcpx/protocol'
import type { McpApp } from '../server/app.ts'
import { type HttpAnswer, refusal } from '../server/responses.ts'

/** An `IncomingMessage` of Node, whose body a middleware may have parsed, as `express.json()` does. */
export interface NodeRequest {
  /** The HTTP method. */
  readonly method?: string | undefined
  /** The path and the query. */
  readonly url?: string | undefined
  /** The path and the query as the client has sent them. Express removes the path of a router from `url`. */
  readonly originalUrl?: string | undefined
  /** The body, if a framework has parsed it. */
  readonly body?: unknown
}

/** A `ServerResponse` of Node. */
export interface NodeResponse {
  /** Whether the headers were sent. */
  readonly headersSent: boolean
  /** Ends the response. */
  end(): unknown
}

/** Handles a request. Resolves when the response was written. It can be called without `this`. */
export type NodeHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>

/**
 * Returns a handler for Node HTTP servers. If a framework has already parsed the body, `request.body` is used.
 *
 * ```ts
 * express().use(express.json()).all('/mcp', toNodeHandler(mcp(server)))
 * ```
 */
export function toNodeHandler(app: Pick<McpApp, 'fetch'>): NodeHandler {
  const listener = getRequestListener(
    (request, env) => {
      const { incoming } = env
      const { body } = incoming as NodeRequest
      // Express 4 sets `body` even if it has not read one.
      const isParsed = body !== undefined && (incoming.readableDidRead || incoming.readableEnded)
      if (!isParsed) return app.fetch(request, env)
      const text = textOf(body)
      return text === undefined ? toWebResponse(bodyNotWritable()) : app.fetch(withBody(request, text), env)
    },
    { errorHandler: refuseInvalidRequest },
  )
  return (request, response) => {
    // The public types list the used members, so that users do not need the types of Node.
    const incoming = request as IncomingMessage
    // Clients know only the whole path: the path of HTTP+SSE and the URLs in proofs begin with it.
    if (request.originalUrl !== undefined) incoming.url = request.originalUrl
    return listener(incoming, response as ServerResponse)
  }
}

/** Responds to a request that cannot be converted to a web `Request`. Such a request does not reach the app. */
export function refuseInvalidRequest(error: unknown): Response {
  if (!(error instanceof RequestError)) return toWebResponse(refusal(500, internalError()))
  return toWebResponse(refusal(400, invalidRequest(`The Host header or the target is not valid: ${error.message}`)))
}

function toWebResponse({ body, status, headers }: HttpAnswer): Response {
  return new Response(body, { status, headers })
}

function withBody(request: Request, body: string | Uint8Array<ArrayBuffer>): Request {
  const { url, method } = request
  const headers = new Headers(request.headers)
  // These headers describe the original bytes.
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding']) headers.delete(name)
  return new Request(url, { method, headers, ...(method === 'POST' && { body }) })
}

/** Returns a parsed body as JSON or bytes. Returns undefined if it cannot be written as JSON. */
function textOf(body: unknown): string | Uint8Array<ArrayBuffer> | undefined {
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return new Uint8Array(body)
  try {
    return JSON.stringify(body)
  } catch {
    return undefined
  }
}

function bodyNotWritable(): HttpAnswer {
  return refusal(500, internalError('request.body: expected a JSON value, got one that cannot be written as JSON'))
}
