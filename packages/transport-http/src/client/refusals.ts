/** What an HTTP status means to whoever asked. */

import { ConnectionError, ErrorCode, type ErrorMessage, type RequestId, RpcError } from '@mcpx/protocol'

/** Those who guard a server say nothing about what it answers. */
const guards = new Set([401, 403, 407, 408, 429])

/** May go away by itself, and the request was not dealt with. */
const passing = new Set([408, 425, 429, 503])

/** Gateways say that no answer came back; the server may have dealt with the request. */
const lost = new Set([502, 504])

/** What may be asked any number of times. */
const repeatable =
  /^(?:ping|server\/discover|completion\/complete|subscriptions\/listen|resources\/read|.+\/(?:list|get))$/

const hints: Readonly<Record<number, string>> = {
  401: 'The server wants to know who is asking: pass the auth option, or an authorization header.',
  403: 'Whoever is asking may not do this, or may not do it from here.',
  404: 'See that the URL names the endpoint of the server, path included.',
  405: 'See that the URL names the endpoint of the server, path included.',
  413: 'The server takes no request of this size: send less.',
  415: 'A server of the protocol takes application/json: see that the URL names one.',
  429: 'The server gets too many requests: wait before you ask again.',
  431: 'The server takes no headers of this size: shorten the arguments that travel as headers.',
}

/** The codes that only a server of the newer era knows. */
const modernCodes: readonly number[] = [
  ErrorCode.HeaderMismatch,
  ErrorCode.MissingRequiredClientCapability,
  ErrorCode.UnsupportedProtocolVersion,
]

/**
 * Whether the error in a refusal is the answer to this request: it names it, or it is one that only the protocol has.
 * Statuses of guards and outages are none, whatever stands in their body.
 */
export function isAnswer(status: number, error: ErrorMessage, id: RequestId): boolean {
  if (status >= 500 || guards.has(status)) return false
  return error.id === id || (error.id === undefined && modernCodes.includes(error.error.code))
}

export function refusedBy(response: Response, what: string, error?: ErrorMessage): ConnectionError {
  const { status } = response
  const said = error === undefined ? '' : `: ${error.error.message.slice(0, 200)}`
  const hint = hints[status] ?? (status >= 500 ? 'The server, or what stands before it, is in trouble.' : undefined)
  return new ConnectionError('refused', `${what} was refused with HTTP status ${status}${said}`, {
    status,
    retryable: passing.has(status) || (lost.has(status) && repeatable.test(what)),
    ...(hint !== undefined && { hint }),
    ...(error !== undefined && { cause: new RpcError(error.error.code, error.error.message, error.error) }),
  })
}

/** What became of a request is not known, as the connection ended before it was answered. */
export function lostWith({ reason, message, status, cause }: ConnectionError, method: string): ConnectionError {
  const retryable = repeatable.test(method)
  return new ConnectionError(reason, message, {
    retryable,
    hint: hintFor(retryable),
    ...(status !== undefined && { status }),
    cause,
  })
}

function hintFor(retryable: boolean): string {
  return retryable
    ? 'The same request can safely be sent again.'
    : 'The server may have done what was asked: find out before you ask again.'
}

/** The connection broke after a request was sent and before its answer came. */
export function answerLost(method: string, cause?: unknown): ConnectionError {
  const retryable = repeatable.test(method)
  const hint = isGivenUp(cause) ? `${hintFor(retryable)} ${IMPATIENT}` : hintFor(retryable)
  return new ConnectionError('unreachable', `The answer to ${method} was lost${reasonsOf(cause)}`, {
    retryable,
    hint,
    cause,
  })
}

const IMPATIENT =
  'It was `fetch` that gave up waiting: let it wait longer (in Node, headersTimeout and bodyTimeout of its dispatcher), or have the call report progress.'

/** Whether nothing was wrong but that nothing was heard for long. */
function isGivenUp(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth === 3) return false
  const { code, name } = error as { code?: unknown; name: string }
  const isTimeout = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT' || name === 'TimeoutError'
  return isTimeout || isGivenUp(error.cause, depth + 1)
}

/** What `fetch` says is seldom more than that it failed; what says why, such as that the other side closed, is behind it. */
function reasonsOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth === 3) return ''
  const next = error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined)
  return `${error.message === '' ? '' : `: ${error.message}`}${reasonsOf(next, depth + 1)}`
}
