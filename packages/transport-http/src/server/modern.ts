/** The modern era: each POST stands alone and ends when its client disconnects. */

import {
  claimsModern,
  ErrorCode,
  eraOf,
  invalidRequest,
  isRevision,
  methodNotFound,
  quoted,
  type RequestMessage,
  type ResponseMessage,
  RpcError,
  readEnvelope,
  revisionsOf,
  unsupportedVersion,
} from '@mcpx/protocol'
import { encodeEvent } from '@mcpx/sse/encode'
import { VERSION_HEADER } from '../headers.ts'
import { argumentsProblem, calledTool, envelopeProblem, mirroredArguments } from '../mirrored-headers.ts'
import type { EndpointContext } from './endpoint-context.ts'
import type { HttpEra, Posted } from './era.ts'
import { EventStream } from './event-stream.ts'
import { type Envelope, HttpExchange } from './exchange.ts'
import type { HttpRequest } from './http-request.ts'
import { type MessageStream, Reply, type ReplyPolicy } from './reply.ts'
import { accepted, methodNotAllowed, refusal } from './responses.ts'

const LISTEN = 'subscriptions/listen'

/** Whether a request is for this era: by its body first, by its headers second. */
export function isModern(posted: Posted | undefined, request: HttpRequest): boolean {
  if (posted === undefined) return namesModern(request)
  if (Array.isArray(posted)) return posted.some(claimsModern) || namesModern(request)
  if (!('method' in posted)) return false
  return claimsModern(posted) || (posted.method !== 'initialize' && namesModern(request))
}

function namesModern(request: HttpRequest): boolean {
  const version = request.header(VERSION_HEADER)
  return isRevision(version) && eraOf(version) === 'modern'
}

export class ModernEra implements HttpEra {
  readonly #endpoint: EndpointContext

  constructor(endpoint: EndpointContext) {
    this.#endpoint = endpoint
  }

  async post(posted: Posted, request: HttpRequest): Promise<Response> {
    if (Array.isArray(posted)) {
      return refusal(400, invalidRequest('Invalid message: expected one message, got an array of them'))
    }
    if (!('method' in posted)) {
      return refusal(400, invalidRequest('Invalid message: nothing was asked that could be answered'))
    }
    if ('id' in posted) {
      return isModern(posted, request) ? this.#answer(posted, request) : refuseUnclaimed(posted, request)
    }
    const exchange = new HttpExchange({ request, endsWithClient: true })
    await this.#endpoint.handleNotification(posted, exchange)
    return accepted()
  }

  async other(): Promise<Response> {
    return methodNotAllowed('POST')
  }

  closeStreams(): void {}

  close(): void {}

  async #answer(message: RequestMessage, request: HttpRequest): Promise<Response> {
    const { id, method } = message
    const problem = envelopeProblem(message, request)
    if (problem !== undefined) return refusal(400, problem, id)
    if (method === LISTEN && !request.acceptsEvents) return refusal(404, methodNotFound(method), id)
    // It was found to be valid just now.
    const envelope = readEnvelope(message.params) as Envelope
    const exchange = new HttpExchange({ request, envelope, endsWithClient: true })
    const tool = calledTool(message)
    const refused = tool === undefined ? undefined : await this.#argumentsProblem(tool, message, exchange, request)
    if (refused !== undefined) return refusal(400, refused, id)
    const reply = new Reply(this.#endpoint, request, this.#policyOf(request, exchange))
    exchange.sink = reply
    return reply.respondWith(this.#endpoint.answerRequest(message, exchange))
  }

  async #argumentsProblem(
    tool: string,
    message: RequestMessage,
    exchange: HttpExchange,
    request: HttpRequest,
  ): Promise<RpcError | undefined> {
    const schema = await this.#endpoint.inputSchemaOf(tool, exchange)
    return argumentsProblem(message, request, mirroredArguments(schema))
  }

  #policyOf(request: HttpRequest, exchange: HttpExchange): ReplyPolicy {
    return { openStream: () => this.#openStream(request, exchange), statusOf, canResume: false }
  }

  /** Events have no ids: a stream that is lost cannot be resumed. */
  #openStream(request: HttpRequest, exchange: HttpExchange): MessageStream {
    const body = new EventStream(this.#endpoint, request, { onGone: (reason) => exchange.abort(reason) })
    return {
      body,
      send: async (text) => body.send(encodeEvent({ data: text })),
      end: async () => body.end(),
    }
  }
}

/** Errors of the transport and of the protocol have a status, those of handlers do not. */
const statuses: Readonly<Record<number, number>> = {
  [ErrorCode.MethodNotFound]: 404,
  [ErrorCode.HeaderMismatch]: 400,
  [ErrorCode.MissingRequiredClientCapability]: 400,
  [ErrorCode.UnsupportedProtocolVersion]: 400,
}

function statusOf(answer: ResponseMessage): number {
  return 'error' in answer ? (statuses[answer.error.code] ?? 200) : 200
}

/** Refuses a request without an envelope. The text names the revisions too: some clients show nothing else. */
function refuseUnclaimed(message: RequestMessage, request: HttpRequest): Response {
  const { id } = message
  const supported = revisionsOf('modern')
  const requested = requestedVersion(message) ?? request.header(VERSION_HEADER)
  if (requested !== null) return refusal(400, unsupportedVersion(requested, supported), id)
  const text = `MCP-Protocol-Version is missing; only ${supported.map(quoted).join(', ')} is served here`
  return refusal(400, new RpcError(ErrorCode.HeaderMismatch, `Header mismatch: ${text}`, { data: { supported } }), id)
}

/** The legacy handshake names its revision in the body. */
function requestedVersion({ method, params }: RequestMessage): string | null {
  if (method !== 'initialize') return null
  const version = params?.protocolVersion
  return typeof version === 'string' ? version : 'none'
}
