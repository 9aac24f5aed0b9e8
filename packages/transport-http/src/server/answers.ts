/** Makes HTTP responses of what is answered, and of what was refused before anything could answer. */

import {
  type ErrorObject,
  encode,
  errorMessage,
  type Message,
  type RequestId,
  type ResponseMessage,
  RpcError,
} from '@mcpx/protocol'
import { EVENTS_HEADERS, JSON_TYPE } from '../headers.ts'

type HeaderRecord = Readonly<Record<string, string>>

export function jsonResponse(text: string, status = 200, headers?: HeaderRecord): Response {
  return new Response(text, { status, headers: { ...headers, 'content-type': JSON_TYPE } })
}

/** A refusal as an HTTP status and a JSON-RPC error, with the id of the refused request where it is known. */
export function refusal(status: number, error: ErrorObject, id?: RequestId, headers?: HeaderRecord): Response {
  return jsonResponse(encode(errorMessage(id, error)), status, headers)
}

/** A method that is not there; `allow` lists those that are. */
export function notAllowed(allow: string): Response {
  return new Response(null, { status: 405, headers: { allow } })
}

/** Taken, and nothing to say. */
export function accepted(): Response {
  return new Response(null, { status: 202 })
}

export function eventsResponse(body: ReadableStream<Uint8Array<ArrayBuffer>>, headers?: HeaderRecord): Response {
  return new Response(body, { status: 200, headers: { ...headers, ...EVENTS_HEADERS } })
}

/** What answers a request that its sender gave up: a stream that ends without a word. */
export function silentResponse(headers?: HeaderRecord): Response {
  return new Response('', { status: 200, headers: { ...headers, ...EVENTS_HEADERS } })
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
