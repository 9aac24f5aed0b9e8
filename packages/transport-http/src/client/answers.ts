/** Finds the answer to a request in the response to its POST: JSON or an SSE stream. */

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
import { type Cursor, readEvents } from './event-reader.ts'
import type { Settings } from './options.ts'
import { answerLostError, discardBody, isAnswer, readText, statusError } from './send.ts'

/** The request whose answer is read. */
export interface PendingAnswer {
  readonly id: RequestId
  readonly method: string
  readonly signal: AbortSignal
  readonly cursor: Cursor
  /** Called with all other messages. */
  readonly onMessage: (message: Message) => void
  readonly report: (problem: Error) => void
}

/**
 * Resolves to the answer, or to undefined when the stream ended before it. Rejects with `ConnectionError`: `refused`
 * with the status, `invalid-message` for anything but an answer, `limit`, or `unreachable` when JSON was cut.
 */
export async function readAnswer(
  response: Response,
  settings: Settings,
  pending: PendingAnswer,
): Promise<ResponseMessage | undefined> {
  if (!response.ok) return readFailure(response, settings, pending)
  const type = mediaType(response)
  if (type === EVENTS_TYPE) return readStreamedAnswer(response, settings, pending)
  if (type !== JSON_TYPE) {
    await discardBody(response)
    throw contentTypeError(response, type, pending)
  }
  const text = await readText(response, settings.maxResponseSize).catch((error: unknown) => {
    throw error instanceof ConnectionError ? error : answerLostError(pending.method, error)
  })
  const answers = [decode(text)].flat().map((message) => pickAnswer(message, pending))
  const answer = answers.find((each) => each !== undefined)
  if (answer === undefined) throw missingAnswerError('the JSON body', pending)
  return answer
}

/** Returns the content type without its parameters. */
function mediaType({ headers }: Response): string {
  return (headers.get('content-type')?.split(';')[0] ?? '').trim().toLowerCase()
}

/** Larger bodies of failures are not read, in bytes. */
const MAX_FAILURE_SIZE = 2 ** 20

async function readFailure(response: Response, settings: Settings, pending: PendingAnswer): Promise<ResponseMessage> {
  const { id, method } = pending
  const text = await readText(response, Math.min(settings.maxResponseSize, MAX_FAILURE_SIZE)).catch(() => '')
  const message = decode(text)
  const isError = !Array.isArray(message) && !(message instanceof Refusal) && 'error' in message
  if (!isError) throw statusError(response, method)
  if (!isAnswer(response.status, message, id)) throw statusError(response, method, message)
  return { ...message, id }
}

/** How long the server may take to end a stream after the answer, in ms. A connection that ends can be used again. */
const LINGER = 1_000

/** Resolves as soon as there is an answer. The rest of the stream is read until it ends. */
function readStreamedAnswer(
  response: Response,
  settings: Settings,
  pending: PendingAnswer,
): Promise<ResponseMessage | undefined> {
  const { cursor, signal } = pending
  const linger = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  return new Promise((resolve, reject) => {
    const onMessage = (message: Message | Refusal) => {
      const answer = pickAnswer(message, pending)
      if (answer === undefined) return
      timer ??= setTimeout(() => linger.abort(), LINGER)
      resolve(answer)
    }
    readEvents(response, settings, { cursor, onMessage, signal: AbortSignal.any([signal, linger.signal]) })
      .then(() => resolve(undefined), reject)
      .finally(() => clearTimeout(timer))
  })
}

/** Returns the message if it is the answer, and passes other messages on. Throws for an answer that is not valid. */
function pickAnswer(message: Message | Refusal, pending: PendingAnswer): ResponseMessage | undefined {
  const { id } = pending
  if (message instanceof Refusal) {
    if (message.kind === 'request' || message.kind === 'notification') pending.report(message.error)
    else if (message.id === undefined || isIdOf(message.id, id)) throw invalidAnswerError(message, pending)
    return undefined
  }
  // An error without an id answers the only request of this POST.
  if (!('method' in message) && (message.id === undefined || isIdOf(message.id, id))) return { ...message, id }
  pending.onMessage(message)
  return undefined
}

const RPC_HINT = 'The server does not speak JSON-RPC 2.0 as it should.'

function invalidAnswerError({ error }: Refusal, { method }: PendingAnswer): ConnectionError {
  const message = `The response to ${method} was refused. ${error.message}`
  return new ConnectionError('invalid-message', message, { hint: RPC_HINT })
}

function missingAnswerError(where: string, { method }: PendingAnswer): ConnectionError {
  const message = `No response to ${method} in ${where}`
  return new ConnectionError('invalid-message', message, { hint: RPC_HINT })
}

function contentTypeError({ status }: Response, type: string, pending: PendingAnswer): ConnectionError {
  if (status === 202 || status === 204) return missingAnswerError(`the empty body (HTTP status ${status})`, pending)
  const got = type === '' ? 'no content type' : type.slice(0, 100)
  const message = `The response to ${pending.method} was refused: expected ${JSON_TYPE} or ${EVENTS_TYPE}, got ${got}`
  const hint = 'Check that the URL is the endpoint of an MCP server.'
  return new ConnectionError('invalid-message', message, { hint })
}
