/** Handles requests of the modern era: there are no sessions, and a request is cancelled when its client disconnects. */

import {
  claimsModern,
  ErrorCode,
  eraOf,
  invalidRequest,
  isRevision,
  methodNotFound,
  quoted,
  type RequestMessage,
  RpcError,
  revisionsOf,
  unsupportedVersion,
} from '@mcpx/protocol'
import { VERSION_HEADER } from '../headers.ts'
import { argumentsProblem, calledTool, checkEnvelope } from '../mirrored-headers.ts'
import type { EndpointContext } from './endpoint-context.ts'
import { EventStream } from './event-stream.ts'
import { HttpExchange } from './exchange.ts'
import type { HttpRequest, PostBody } from './http-request.ts'
import { createPlainStream, Reply } from './reply.ts'
import { accepted, emptyEventsResponse, type HttpAnswer, refusal } from './responses.ts'

const LISTEN = 'subscriptions/listen'

/** HTTP statuses of error codes of the transport and the protocol. Other errors are sent with 200. */
const statuses: Readonly<Record<number, number>> = {
  [ErrorCode.MethodNotFound]: 404,
  [ErrorCode.HeaderMismatch]: 400,
  [ErrorCode.MissingRequiredClientCapability]: 400,
  [ErrorCode.UnsupportedProtocolVersion]: 400,
}

/** Returns whether a POST belongs to the modern era. The body decides first, then the headers. */
export function isModern(posted: PostBody, request: HttpRequest): boolean {
  if (Array.isArray(posted)) return posted.some(claimsModern) || namesModern(request)
  if (!('method' in posted)) return false
  return claimsModern(posted) || (posted.method !== 'initialize' && namesModern(request))
}

export function namesModern(request: HttpRequest): boolean {
  const version = request.header(VERSION_HEADER)
  return isRevision(version) && eraOf(version) === 'modern'
}

export async function postModern(
  endpoint: EndpointContext,
  posted: PostBody,
  request: HttpRequest,
): Promise<HttpAnswer> {
  if (Array.isArray(posted)) {
    return refusal(400, invalidRequest('Invalid message: expected one message, got an array of them'))
  }
  if (!('method' in posted)) {
    return refusal(400, invalidRequest('Invalid message: expected a request or a notification, got a response'))
  }
  if (!('id' in posted)) {
    await endpoint.handleNotification(posted, new HttpExchange({ request, endsWithClient: true }))
    return accepted()
  }
  // The request may have waited for its turn after its client has disconnected.
  if (request.isGone) return emptyEventsResponse()
  const { id, method } = posted
  const envelope = checkEnvelope(posted, request)
  if (envelope instanceof RpcError) return refusal(400, envelope, id)
  if (method === LISTEN && !request.acceptsEvents) return refusal(404, methodNotFound(method), id)
  const exchange = new HttpExchange({ request, envelope, endsWithClient: true })
  const { inputSchemaOf } = endpoint
  const tool = calledTool(posted)
  if (tool !== undefined && inputSchemaOf !== undefined) {
    const mismatch = argumentsProblem(posted, request, await inputSchemaOf(tool, exchange))
    if (mismatch !== undefined) return refusal(400, mismatch, id)
  }
  const openStream = () =>
    createPlainStream(new EventStream(endpoint, request, { onGone: (reason) => exchange.abort(reason) }))
  const reply = new Reply(endpoint, request, { openStream, statuses, canClose: false })
  exchange.sink = reply
  return await reply.respondWith(endpoint.answerRequest(posted, exchange))
}

/** Refuses a legacy request. The message also names the revisions, because some clients show only the message. */
export function refuseLegacy({ id, method, params }: RequestMessage, request: HttpRequest): HttpAnswer {
  const supported = revisionsOf('modern')
  let requested = request.header(VERSION_HEADER)
  // The legacy handshake names its revision in the body.
  if (method === 'initialize') requested = typeof params?.protocolVersion === 'string' ? params.protocolVersion : 'none'
  if (requested !== null) return refusal(400, unsupportedVersion(requested, supported), id)
  const text = `MCP-Protocol-Version is missing; this endpoint serves only ${supported.map(quoted).join(', ')}`
  return refusal(400, new RpcError(ErrorCode.HeaderMismatch, `Header mismatch: ${text}`, { data: { supported } }), id)
}
