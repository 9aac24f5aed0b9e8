/** Creates HTTP responses: JSON-RPC messages, and refusals of requests that do not reach the MCP server. */

import {
  ErrorCode,
  type ErrorObject,
  encode,
  errorMessage,
  internalError,
  invalidRequest,
  type Message,
  type MessageObserver,
  parseError,
  type RequestId,
  type ResponseMessage,
  RpcError,
} from '@mcpx/protocol'
import type { Context } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import { EVENTS_HEADERS, EVENTS_TYPE, JSON_TYPE } from '../headers.ts'
import type { HttpRequest } from './http-request.ts'
import type { EndpointOptions } from './options.ts'

type Report = (problem: Error) => void
type HeaderRecord = Record<string, string>

/**
 * The parts of an HTTP response. `toResponse` creates the response through the Hono context, which keeps the headers that
 * middleware has set.
 */
export interface HttpAnswer {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | string | null
  readonly status: number
  readonly headers: HeaderRecord
}

export function toResponse(context: Context, { body, status, headers }: HttpAnswer): Response {
  return context.newResponse(body, status as StatusCode, headers)
}

const JSON_HEADERS: HeaderRecord = { 'content-type': JSON_TYPE }

export function jsonResponse(text: string, status = 200, headers?: HeaderRecord): HttpAnswer {
  return { body: text, status, headers: headers === undefined ? JSON_HEADERS : { ...headers, ...JSON_HEADERS } }
}

export function eventsResponse(body: ReadableStream<Uint8Array<ArrayBuffer>> | string): HttpAnswer {
  return { body, status: 200, headers: EVENTS_HEADERS }
}

/** Responds to a cancelled request with an SSE stream without events. */
export function emptyEventsResponse(): HttpAnswer {
  return eventsResponse('')
}

/** Responds with 202 to a message that needs no response. */
export function accepted(): HttpAnswer {
  return { body: null, status: 202, headers: {} }
}

/**
 * Refuses a request with an HTTP status and a JSON-RPC error. If the id of the request is known, the error contains it.
 */
export function refusal(status: number, error: ErrorObject, id?: RequestId, headers?: HeaderRecord): HttpAnswer {
  return jsonResponse(encode(errorMessage(id, error)), status, headers)
}

/** Refuses a request with 503. Clients may retry after a second. */
export function unavailable(text: string, id?: RequestId): HttpAnswer {
  return refusal(503, internalError(text), id, { 'retry-after': '1' })
}

/**
 * Refuses a request with 429, because the caller uses its whole share of a limit. The caller may retry after a second.
 *
 * @param what the beginning of the message, for example `Too many requests`
 * @param share the largest amount that one caller may use
 * @param option the name of the limit
 */
export function callerLimited(what: string, share: number, option: string, id?: RequestId): HttpAnswer {
  const text = `${what} from one caller at once: expected at most ${share} (limits.perCaller, a share of ${option})`
  const error = invalidRequest(text)
  return refusal(429, error, id, { 'retry-after': '1' })
}

/** Refuses a request of a caller that does not read the responses to its earlier requests. */
export function tooMuchUnread(): HttpAnswer {
  const text = 'Too many bytes of responses are unread: read them first (limits.unreadBytes, limits.perCaller)'
  return refusal(429, invalidRequest(text), undefined, { 'retry-after': '1' })
}

export function shuttingDown(id?: RequestId): HttpAnswer {
  return unavailable('Shutting down: no new requests are accepted', id)
}

/** @param allow the methods that are supported */
export function methodNotAllowed(allow: string): HttpAnswer {
  return { body: null, status: 405, headers: { allow } }
}

export function eventsNotAccepted(): HttpAnswer {
  return refusal(406, invalidRequest(`Accept must list ${EVENTS_TYPE}`))
}

export function bodyTooLarge(limit: number): HttpAnswer {
  return refusal(413, invalidRequest(`The body is larger than ${limit} bytes (limits.body)`))
}

export function bodyStalled(timeout: number): HttpAnswer {
  const text = `No byte of the body arrived within ${timeout} ms (bodyTimeout)`
  return refusal(408, invalidRequest(text), undefined, { connection: 'close' })
}

export function notUtf8(): HttpAnswer {
  return refusal(400, parseError('Parse error: the body is not valid UTF-8'))
}

export function bodyUnreadable(): HttpAnswer {
  return refusal(400, invalidRequest('The body could not be read: the connection broke while it was sent'))
}

export function bodyAlreadyRead(): HttpAnswer {
  const problem = 'Other code, such as middleware, has already read the body'
  const remedy =
    'let that code read a clone of the request, or use toNodeHandler of @mcpx/transport-http/node with Express'
  return refusal(500, internalError(`${problem}; ${remedy}`))
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('The thrown value is not an Error', { cause: error })
}

/** Reports an error of this package, a store, a callback or middleware. The response contains no details of the error. */
export function faultResponse(error: unknown, report: Report): HttpAnswer {
  report(asError(error))
  if (isRetryable(error)) return unavailable('The state of this server cannot be reached at the moment')
  return refusal(500, internalError())
}

/** Returns whether an error of a store says that the same request may succeed later. */
export function isRetryable(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error && error.retryable === true
}

/** The callbacks of an endpoint: `onMessage` is called with each sent message, and `report` with each error. */
interface SendCallbacks {
  readonly report: Report
  readonly onMessage: MessageObserver | undefined
}

/**
 * Returns a response as JSON. If `encode` throws, reports the error. If the error is an `RpcError`, returns an error
 * response for it; otherwise throws the error again.
 */
export function answerText(answer: ResponseMessage, { report, onMessage }: SendCallbacks): string {
  try {
    const text = encode(answer)
    onMessage?.('out', answer)
    return text
  } catch (problem) {
    report(problem as Error)
    if (!(problem instanceof RpcError)) throw problem
    const refused = errorMessage(answer.id, problem)
    onMessage?.('out', refused)
    return encode(refused)
  }
}

/** Returns a message as JSON. If the message cannot be written as JSON, reports the reason and returns undefined. */
export function messageText(message: Message, { report, onMessage }: SendCallbacks): string | undefined {
  try {
    const text = encode(message)
    onMessage?.('out', message)
    return text
  } catch (problem) {
    report(problem as Error)
    return undefined
  }
}

/** Returns the scopes that a call requires, from an error about scopes. Returns undefined for other errors. */
export function requiredScopesOf({ code, data }: ErrorObject): readonly string[] | undefined {
  if (code !== ErrorCode.InsufficientScope) return undefined
  const { requiredScopes } = (data ?? {}) as { requiredScopes?: unknown }
  return Array.isArray(requiredScopes) ? requiredScopes.filter((scope) => typeof scope === 'string') : undefined
}

/** Responds to a caller who lacks scopes. The status and the challenge make clients request the scopes. */
export function scopeResponse(
  text: string,
  requiredScopes: readonly string[],
  { auth, raw }: HttpRequest,
  { authenticate }: EndpointOptions,
): HttpAnswer {
  const refused = authenticate?.refuse?.(raw, { requiredScopes, auth })
  const status = refused?.status ?? (auth === undefined ? 401 : 403)
  const headers =
    refused === undefined
      ? { 'www-authenticate': challenge(requiredScopes, auth) }
      : Object.fromEntries(refused.headers)
  return jsonResponse(text, status, headers)
}

/** A scope that can be written in a challenge. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/**
 * Returns the challenge. It names the required scopes and also the scopes that the caller already has, because the new
 * token will replace the old one and must have all of them.
 */
function challenge(requiredScopes: readonly string[], auth: HttpRequest['auth']): string {
  const scopes = new Set([...(auth?.scopes ?? []), ...requiredScopes].filter((scope) => SCOPE.test(scope)))
  const scope = `scope="${[...scopes].join(' ')}"`
  return auth === undefined ? `Bearer ${scope}` : `Bearer error="insufficient_scope", ${scope}`
}
