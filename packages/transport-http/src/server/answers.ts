/** Makes HTTP answers of what is answered, and of what was refused before anything could answer. */

import {
  type ErrorObject,
  encode,
  errorMessage,
  internalError,
  invalidRequest,
  type Message,
  parseError,
  type RequestId,
  type ResponseMessage,
  RpcError,
} from '@mcpx/protocol'
import { EVENTS_HEADERS, JSON_TYPE } from '../headers.ts'
import type { EventStream } from './event-stream.ts'
import { type HeaderRecord, HttpAnswer } from './http-answer.ts'
import { UnaddressedError } from './http-request.ts'

/** Of every answer that says nothing else in its headers. */
export const JSON_HEADERS: HeaderRecord = { 'content-type': JSON_TYPE }

export function jsonAnswer(text: string, status = 200, headers?: HeaderRecord): HttpAnswer {
  return new HttpAnswer(status, headers === undefined ? JSON_HEADERS : { ...headers, ...JSON_HEADERS }, text)
}

/** A refusal as an HTTP status and a JSON-RPC error, with the id of the refused request where it is known. */
export function refusal(status: number, error: ErrorObject, id?: RequestId, headers?: HeaderRecord): HttpAnswer {
  return jsonAnswer(encode(errorMessage(id, error)), status, headers)
}

/** What cannot be answered now may be asked again in a second. */
export function unavailable(text: string, asked?: RequestId): HttpAnswer {
  return refusal(503, internalError(text), asked, { 'retry-after': '1' })
}

export function shuttingDown(asked?: RequestId): HttpAnswer {
  return unavailable('Shutting down: no new requests are taken', asked)
}

/** A method that is not there; `allow` lists those that are. */
export function notAllowed(allow: string): HttpAnswer {
  return new HttpAnswer(405, { allow }, null)
}

const none: HeaderRecord = {}

/** Taken, and nothing to say. */
export function accepted(): HttpAnswer {
  return new HttpAnswer(202, none, null)
}

export function eventsAnswer(body: EventStream | string, headers?: HeaderRecord): HttpAnswer {
  return new HttpAnswer(200, headers === undefined ? EVENTS_HEADERS : { ...headers, ...EVENTS_HEADERS }, body)
}

/** What answers a request that its sender gave up: a stream that ends without a word. */
export function silentAnswer(headers?: HeaderRecord): HttpAnswer {
  return eventsAnswer('', headers)
}

/** A fault of this side, or of a hook of the user's, says nothing of itself; a request that is none is the client's. */
export function faultAnswer(error: unknown, report: (problem: Error) => void): HttpAnswer {
  if (error instanceof UnaddressedError) return refusal(400, invalidRequest(error.message))
  report(error instanceof Error ? error : new Error('A hook threw what is no error', { cause: error }))
  return refusal(500, internalError())
}

export function tooLarge(limit: number): HttpAnswer {
  // What is left of the body is not read: the connection cannot carry another request.
  const headers = { connection: 'close' }
  return refusal(413, invalidRequest(`The body is larger than ${limit} bytes (limits.body)`), undefined, headers)
}

/** The text of an answer. One that cannot be written as JSON becomes the error that says so. */
export function answerText(answer: ResponseMessage, report: (problem: Error) => void): string {
  try {
    return encode(answer)
  } catch (problem) {
    report(problem as Error)
    if (problem instanceof RpcError) return encode(errorMessage(answer.id, problem))
    throw problem
  }
}

/** The text of something said before the answer; nothing when it cannot be written as JSON. */
export function messageText(message: Message, report: (problem: Error) => void): string | undefined {
  try {
    return encode(message)
  } catch (problem) {
    report(problem as Error)
    return undefined
  }
}

export function notText(): HttpAnswer {
  return refusal(400, parseError('Parse error: the body is not valid UTF-8'))
}

export function unreadable(): HttpAnswer {
  return refusal(400, invalidRequest('The body could not be read: the connection broke while it was sent'))
}

export function readBefore(): HttpAnswer {
  return refusal(500, internalError('The body was read by other code of this server before: have that read a clone'))
}
