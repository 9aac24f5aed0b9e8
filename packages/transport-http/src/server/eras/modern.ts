/** POSTs of the modern era: each stands alone, and ends when its client goes away. */

import {
  type Awaitable,
  ErrorCode,
  eraOf,
  isPromise,
  isRevision,
  methodNotFound,
  type NotificationMessage,
  quoted,
  type RequestMessage,
  type ResponseMessage,
  RpcError,
  revisionsOf,
  unsupportedVersion,
} from '@mcpx/protocol'
import { encodeEvent } from '@mcpx/sse/encode'
import { VERSION_HEADER } from '../../headers.ts'
import { argumentsProblem, calledTool, envelopeProblem, mirroredArguments } from '../../mirrored-headers.ts'
import { accepted, refusal } from '../answers.ts'
import { EventStream, type StreamOwner } from '../event-stream.ts'
import { HttpExchange } from '../exchange.ts'
import { answerRequest, type Host, hearNotification, type Inbound } from '../host.ts'
import type { HttpAnswer } from '../http-answer.ts'
import { LazyReply, type Manner, type MessageStream } from '../lazy-reply.ts'

const LISTEN = 'subscriptions/listen'

/** Whether the version header alone names a modern revision. */
export function namesModern({ request }: Inbound): boolean {
  const version = request.header(VERSION_HEADER)
  return isRevision(version) && eraOf(version) === 'modern'
}

export function postModern(
  message: RequestMessage | NotificationMessage,
  inbound: Inbound,
  host: Host,
): Awaitable<HttpAnswer> {
  if ('id' in message) return request(message, inbound, host)
  const { auth, request: from } = inbound
  const exchange = new HttpExchange({ request: from, auth, endsWithClient: true })
  return hearNotification(host, message, exchange).then(accepted)
}

/**
 * A request without an envelope, where only modern ones are served. It names what is served in its text too, as a client
 * may show nothing else.
 */
export function refuseUnclaimed(message: RequestMessage, { request: from }: Inbound): HttpAnswer {
  const { id } = message
  const supported = revisionsOf('modern')
  const requested = requestedVersion(message) ?? from.header(VERSION_HEADER)
  if (requested !== null) return refusal(400, unsupportedVersion(requested, supported), id)
  const text = `MCP-Protocol-Version is missing; only ${supported.map(quoted).join(', ')} is served here`
  return refusal(400, new RpcError(ErrorCode.HeaderMismatch, `Header mismatch: ${text}`, { data: { supported } }), id)
}

/** The handshake of the other era says in its body which revision it is for, as no header has been agreed on yet. */
function requestedVersion({ method, params }: RequestMessage): string | null {
  if (method !== 'initialize') return null
  const version = params?.protocolVersion
  return typeof version === 'string' ? version : 'none'
}

function request(message: RequestMessage, inbound: Inbound, host: Host): Awaitable<HttpAnswer> {
  const { id, method } = message
  const problem = envelopeProblem(message, inbound.request)
  if (problem !== undefined) return refusal(400, problem, id)
  if (method === LISTEN && !inbound.takesEvents) return refusal(404, methodNotFound(method), id)

  const exchange = new HttpExchange({ request: inbound.request, auth: inbound.auth, endsWithClient: true })
  const reply = new LazyReply(host, inbound, manner, exchange)
  exchange.speakBy(reply)
  const checked = checkArguments(message, exchange, inbound, host)
  return isPromise(checked)
    ? checked.then((refused) => answerChecked(message, refused, reply))
    : answerChecked(message, checked, reply)
}

function answerChecked(
  message: RequestMessage,
  refused: RpcError | undefined,
  reply: LazyReply<HttpExchange>,
): Awaitable<HttpAnswer> {
  if (refused !== undefined) return refusal(400, refused, message.id)
  return reply.answer(answerRequest(reply.host, message, reply.owner))
}

function checkArguments(
  message: RequestMessage,
  exchange: HttpExchange,
  { request: from }: Inbound,
  host: Host,
): Awaitable<RpcError | undefined> {
  const tool = calledTool(message)
  if (tool === undefined || host.toolSchemas === undefined) return undefined
  const schema = host.toolSchemas(tool, exchange)
  if (!isPromise(schema)) return argumentsProblem(message, from, mirroredArguments(schema))
  return schema.then((known) => argumentsProblem(message, from, mirroredArguments(known)))
}

/** Each request has its exchange. */
const manner: Manner<HttpExchange> = { openStream: openPlainStream, wholeStream, statusOf }

function wholeStream(_: HttpExchange, messages: readonly string[]): string {
  return messages.map((data) => encodeEvent({ data })).join('')
}

function openPlainStream({ host, inbound, owner }: LazyReply<HttpExchange>): MessageStream {
  return new PlainStream(host, inbound, owner)
}

/** Events without ids: a stream that is lost is not resumed. */
class PlainStream implements MessageStream, StreamOwner {
  readonly body: EventStream
  readonly #exchange: HttpExchange

  constructor(host: Host, inbound: Inbound, exchange: HttpExchange) {
    this.body = new EventStream(host, this, inbound)
    this.#exchange = exchange
  }

  send(text: string): Awaitable<void> {
    return this.body.send(encodeEvent({ data: text }))
  }

  end(): void {
    this.body.end()
  }

  onGone(reason: Error): void {
    this.#exchange.abort(reason)
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
