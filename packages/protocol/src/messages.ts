/** The types of JSON-RPC 2.0 messages, and the check of their JSON-RPC members. */

import { type ErrorObject, invalidRequest, type RpcError } from './errors.ts'
import { isObject, kindOf, notInteger, tooLong, unexpected } from './json.ts'
import { MAX_ID_LENGTH } from './limits.ts'

/** The id of a request, which its response repeats. Numbers are safe integers. `1` and `'1'` are different ids. */
export type RequestId = string | number

/** A JSON object with any members. */
export interface JsonObject {
  [key: string]: unknown
}

/** A JSON-RPC request. */
export interface RequestMessage {
  /** The version of JSON-RPC. */
  jsonrpc: '2.0'
  /** The id that the response repeats. */
  id: RequestId
  /** The name of the method, such as `tools/call`. */
  method: string
  /** The parameters, including `_meta`. */
  params?: JsonObject | undefined
}

/** A JSON-RPC notification: a message without a response. */
export interface NotificationMessage {
  /** The version of JSON-RPC. */
  jsonrpc: '2.0'
  /** The name of the notification, such as `notifications/progress`. */
  method: string
  /** The parameters, including `_meta`. */
  params?: JsonObject | undefined
}

/** A successful JSON-RPC response. */
export interface ResultMessage {
  /** The version of JSON-RPC. */
  jsonrpc: '2.0'
  /** The id of the request. */
  id: RequestId
  /** The result. */
  result: JsonObject
}

/** A response with an error. */
export interface ErrorMessage {
  /** The version of JSON-RPC. */
  jsonrpc: '2.0'
  /** The id of the request. Missing if the id of the refused message could not be read. */
  id?: RequestId | undefined
  /** The error. */
  error: ErrorObject
}

/** A JSON-RPC response. */
export type ResponseMessage = ResultMessage | ErrorMessage

/** A JSON-RPC message. */
export type Message = RequestMessage | NotificationMessage | ResponseMessage

/** Returns whether a message is a request. */
export function isRequest(message: Message): message is RequestMessage {
  return 'method' in message && 'id' in message
}

/** Returns whether a message is a notification. */
export function isNotification(message: Message): message is NotificationMessage {
  return 'method' in message && !('id' in message)
}

/** Returns whether a message is a response. */
export function isResponse(message: Message): message is ResponseMessage {
  return !('method' in message)
}

/** Creates a response with a result. */
export function resultMessage(id: RequestId, result: object): ResultMessage {
  return { jsonrpc: '2.0', id, result: result as JsonObject }
}

/** Creates a response with an error. Pass no id if it could not be read. */
export function errorMessage(id: RequestId | undefined, error: ErrorObject): ErrorMessage {
  const { code, message, data } = error
  const body = data === undefined ? { code, message } : { code, message, data }
  return id === undefined ? { jsonrpc: '2.0', error: body } : { jsonrpc: '2.0', id, error: body }
}

/** The kind of a refused message, as far as it could be determined. */
export type RefusedKind = 'request' | 'notification' | 'response' | 'unknown'

/** A refused message, with the problem and the response for its sender. */
export class Refusal {
  /** The problem of the message. */
  readonly error: RpcError
  /** The kind of the refused message, as far as it could be determined. */
  readonly kind: RefusedKind
  /** The id of the refused message, if it could be read. */
  readonly id: RequestId | undefined

  constructor(error: RpcError, kind: RefusedKind = 'unknown', id?: RequestId) {
    this.error = error
    this.kind = kind
    this.id = id
  }

  /**
   * The error response for the peer, without `id` if it could not be read. Undefined for notifications and responses.
   */
  get answer(): ErrorMessage | undefined {
    return this.kind === 'notification' || this.kind === 'response' ? undefined : errorMessage(this.id, this.error)
  }
}

/** Returns whether a value is a valid id: a string of at most 1,024 characters, or an integer within ±(2^53−1). */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' ? value.length <= MAX_ID_LENGTH : Number.isSafeInteger(value)
}

/**
 * Returns whether a response with the first id belongs to the request with the second id. Some peers send numbers back
 * as strings.
 */
export function isIdOf(id: RequestId | undefined, requestId: RequestId): boolean {
  return id === requestId || (typeof id === 'string' && id === String(requestId))
}

/** Returns a sentence about a value that is not a valid id. */
export function idProblem(place: string, value: unknown): string {
  return typeof value === 'string'
    ? tooLong(place, MAX_ID_LENGTH, value)
    : notInteger(place, 'string or integer', value)
}

/** Checks a message. Returns it with all its members, or a refusal that names the first problem and its place. */
export function checkMessage(value: unknown): Message | Refusal {
  if (!isObject(value)) return refuse(value, `expected a JSON object, got ${kindOf(value)}`)
  if (value.jsonrpc !== '2.0') return refuse(value, unexpected('jsonrpc', '"2.0"', value.jsonrpc))
  const problem = value.method !== undefined ? callProblem(value) : responseProblem(value)
  if (problem !== undefined) return refuse(value, problem)
  if (value.id === null) delete value.id
  // The checks above cover all members of the type.
  return value as unknown as Message
}

function callProblem(value: Record<string, unknown>): string | undefined {
  const { id, method, params } = value
  if (typeof method !== 'string') return unexpected('method', 'string', method)
  if ('id' in value && !isRequestId(id)) return idProblem('id', id)
  if (params !== undefined && !isObject(params)) return unexpected('params', 'object', params)
  if (value.result === undefined && value.error === undefined) return undefined
  return 'expected either "method" or one of "result" and "error", got both'
}

function responseProblem({ id, result, error }: Record<string, unknown>): string | undefined {
  if (result === undefined && error === undefined) return 'expected one of "method", "result" and "error", got none'
  if (result !== undefined && error !== undefined) return 'expected one of "result" and "error", got both'
  // In JSON-RPC, `"id": null` means that the id could not be read. It is treated as missing.
  const lacksId = error !== undefined && (id === undefined || id === null)
  if (!lacksId && !isRequestId(id)) return idProblem('id', id)
  if (error === undefined) return isObject(result) ? undefined : unexpected('result', 'object', result)
  if (!isObject(error)) return unexpected('error', 'object', error)
  if (!Number.isSafeInteger(error.code)) return notInteger('error.code', 'integer', error.code)
  return typeof error.message === 'string' ? undefined : unexpected('error.message', 'string', error.message)
}

/** Creates the refusal of a message. */
export function refuse(value: unknown, problem: string): Refusal {
  const error = invalidRequest(`Invalid message: ${problem}`)
  if (!isObject(value)) return new Refusal(error)
  const id = isRequestId(value.id) ? value.id : undefined
  if (typeof value.method === 'string') return new Refusal(error, 'id' in value ? 'request' : 'notification', id)
  const isAnswer = value.method === undefined && (value.result !== undefined || value.error !== undefined)
  return new Refusal(error, isAnswer ? 'response' : 'unknown', id)
}
