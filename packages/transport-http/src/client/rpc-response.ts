/** Finds the JSON-RPC response to a request in the HTTP response to its POST: JSON or an SSE stream. */

import {
  ConnectionError,
  decode,
  isIdOf,
  type Message,
  Refusal,
  type RequestId,
  type ResponseMessage,
} from '@mcpx/protocol'
import { EVENTS_TYPE, JSON_TYPE } from '../headers.ts'
import { type Cursor, decodeReceived, readEvents } from './event-reader.ts'
import type { Settings } from './options.ts'
import { discardBody, isResponseTo, readText, responseLostError, statusError } from './send.ts'

/** The request whose JSON-RPC response is read. */
export interface SentRequest {
  readonly id: RequestId
  /** The name of the request in error messages, such as `tools/call "add"`. */
  readonly label: string
  readonly signal: AbortSignal
  readonly cursor: Cursor
  /** Called with each message that is not the response. */
  readonly onMessage: (message: Message) => void
  readonly report: (problem: Error) => void
}

/**
 * Resolves to the JSON-RPC response, or to undefined if the stream ended before it. Rejects with a `ConnectionError`. Its
 * reason is `refused` if the HTTP status is an error status, `invalid-message` if the response is invalid, `limit` if the
 * response is too large, and `unreachable` if the JSON is incomplete.
 */
export async function readRpcResponse(
  response: Response,
  settings: Settings,
  pending: SentRequest,
): Promise<ResponseMessage | undefined> {
  if (!response.ok) return readFailure(response, settings, pending)
  const type = mediaType(response)
  if (type === EVENTS_TYPE) return readStreamedResponse(response, settings, pending)
  if (type !== JSON_TYPE) {
    await discardBody(response)
    throw contentTypeError(response, type, pending)
  }
  const text = await readText(response, settings.maxResponseSize).catch((error: unknown) => {
    throw error instanceof ConnectionError ? error : responseLostError(pending.label, error)
  })
  const rpcResponses = decodeReceived(text, settings).map((message) => pickResponse(message, pending))
  const rpcResponse = rpcResponses.find((each) => each !== undefined)
  if (rpcResponse === undefined) throw missingResponseError('the JSON body', pending)
  return rpcResponse
}

/** Returns the content type without its parameters. */
function mediaType({ headers }: Response): string {
  return (headers.get('content-type')?.split(';')[0] ?? '').trim().toLowerCase()
}

/** How many bytes are read at most from the body of a response with an error status. */
const MAX_FAILURE_SIZE = 2 ** 20

async function readFailure(response: Response, settings: Settings, pending: SentRequest): Promise<ResponseMessage> {
  const { id, label } = pending
  const text = await readText(response, Math.min(settings.maxResponseSize, MAX_FAILURE_SIZE)).catch(() => '')
  const message = decode(text)
  if (!(message instanceof Refusal)) settings.onMessage?.('in', message)
  const isError = !Array.isArray(message) && !(message instanceof Refusal) && 'error' in message
  if (!isError) throw statusError(response, label)
  if (!isResponseTo(response.status, message, id)) throw statusError(response, label, message)
  return withId(message, id)
}

/**
 * Adds the id of the request to a response without an id. Does not change an id that is a string instead of a number, so
 * that the caller can report this mistake of the server.
 */
function withId(message: ResponseMessage, id: RequestId): ResponseMessage {
  return message.id === undefined ? { ...message, id } : message
}

/**
 * How long to wait for the end of a stream after the response, in ms. When the stream has ended, the HTTP connection
 * can be reused.
 */
const LINGER = 1_000

/** Resolves when the JSON-RPC response arrives. Then reads the rest of the stream until its end. */
function readStreamedResponse(
  response: Response,
  settings: Settings,
  pending: SentRequest,
): Promise<ResponseMessage | undefined> {
  const { cursor, signal } = pending
  const linger = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  return new Promise((resolve, reject) => {
    const onMessage = (message: Message | Refusal) => {
      const rpcResponse = pickResponse(message, pending)
      if (rpcResponse === undefined) return
      timer ??= setTimeout(() => linger.abort(), LINGER)
      resolve(rpcResponse)
    }
    readEvents(response, settings, { cursor, onMessage, signal: AbortSignal.any([signal, linger.signal]) })
      .then(() => resolve(undefined), reject)
      .finally(() => clearTimeout(timer))
  })
}

/** Returns the message if it is the response. Passes other messages to `onMessage`. Throws if the response is invalid. */
function pickResponse(message: Message | Refusal, pending: SentRequest): ResponseMessage | undefined {
  const { id } = pending
  if (message instanceof Refusal) {
    if (message.kind === 'request' || message.kind === 'notification') pending.report(message.error)
    else if (message.id === undefined || isIdOf(message.id, id)) throw invalidResponseError(message, pending)
    return undefined
  }
  // An error without an id is the response to the only request of this POST.
  if (!('method' in message) && (message.id === undefined || isIdOf(message.id, id))) return withId(message, id)
  pending.onMessage(message)
  return undefined
}

const RPC_HINT = 'The server does not follow JSON-RPC 2.0.'

function invalidResponseError({ error }: Refusal, { label }: SentRequest): ConnectionError {
  const message = `The response to ${label} was refused. ${error.message}`
  return new ConnectionError('invalid-message', message, { hint: RPC_HINT })
}

function missingResponseError(where: string, { label }: SentRequest): ConnectionError {
  const message = `No response to ${label} in ${where}`
  return new ConnectionError('invalid-message', message, { hint: RPC_HINT })
}

function contentTypeError({ status }: Response, type: string, pending: SentRequest): ConnectionError {
  if (status === 202 || status === 204) return missingResponseError(`the empty body (HTTP status ${status})`, pending)
  const got = type === '' ? 'no content type' : type.slice(0, 100)
  const message = `The response to ${pending.label} was refused: expected ${JSON_TYPE} or ${EVENTS_TYPE}, got ${got}`
  const hint = 'Check that the URL is the endpoint of an MCP server.'
  return new ConnectionError('invalid-message', message, { hint })
}
