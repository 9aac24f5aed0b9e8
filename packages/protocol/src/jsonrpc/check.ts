/** The envelope check: which JSON values are JSON-RPC messages, and what is wrong with those that are not. */

import { invalidRequest } from './errors.ts'
import type { Message, RequestId } from './message.ts'
import { Refusal } from './refusal.ts'

/** `string`, `null`, `array` …: the kind of a value, never the value. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (value === undefined) return 'nothing'
  return typeof value
}

/** Whether a value is a JSON object: not null, and no array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An id can be echoed exactly: a string, or an integer within ±(2^53−1). */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

/** Lets a message through unchanged, or says what and where it is not one. Members it does not know stay. */
export function checkMessage(value: unknown): Message | Refusal {
  if (!isObject(value)) return refuse(value, `expected a JSON object, got ${kindOf(value)}`)
  if (value.jsonrpc !== '2.0') return refuse(value, unexpected('jsonrpc', '"2.0"', value.jsonrpc))
  const problem = value.method !== undefined ? callProblem(value) : responseProblem(value)
  if (problem !== undefined) return refuse(value, problem)
  if (value.id === null) delete value.id
  return value as unknown as Message
}

function callProblem(value: Record<string, unknown>): string | undefined {
  const { id, method, params } = value
  if (typeof method !== 'string') return unexpected('method', 'string', method)
  if ('id' in value && !isRequestId(id)) return notInteger('id', 'string or integer', id)
  if (params !== undefined && !isObject(params)) return unexpected('params', 'object', params)
  if (value.result === undefined && value.error === undefined) return undefined
  return 'expected either "method" or one of "result" and "error", got both'
}

function responseProblem({ id, result, error }: Record<string, unknown>): string | undefined {
  if (result === undefined && error === undefined) return 'expected one of "method", "result" and "error", got none'
  if (result !== undefined && error !== undefined) return 'expected one of "result" and "error", got both'
  // JSON-RPC itself writes `"id": null` where an id could not be read; it is taken for an absent one.
  const lacksId = error !== undefined && (id === undefined || id === null)
  if (!lacksId && !isRequestId(id)) return notInteger('id', 'string or integer', id)
  if (error === undefined) return isObject(result) ? undefined : unexpected('result', 'object', result)
  if (!isObject(error)) return unexpected('error', 'object', error)
  if (!Number.isSafeInteger(error.code)) return notInteger('error.code', 'integer', error.code)
  return typeof error.message === 'string' ? undefined : unexpected('error.message', 'string', error.message)
}

/** `params: expected object, got array`. */
export function unexpected(place: string, expected: string, value: unknown): string {
  return `${place}: expected ${expected}, got ${kindOf(value)}`
}

/** What is wrong with a number that is no integer, or none that survives JSON, and with what is no number at all. */
export function notInteger(place: string, expected: string, value: unknown): string {
  if (typeof value !== 'number') return unexpected(place, expected, value)
  return Number.isInteger(value)
    ? `${place}: expected an integer within ±(2^53−1), got a larger one`
    : `${place}: expected ${expected}, got a number that is not an integer`
}

/** The refusal of a message as a whole, for a reason found in it or around it. */
export function refuse(value: unknown, problem: string): Refusal {
  const error = invalidRequest(`Invalid message: ${problem}`)
  if (!isObject(value)) return new Refusal(error)
  const id = isRequestId(value.id) ? value.id : undefined
  if (typeof value.method === 'string') return new Refusal(error, 'id' in value ? 'request' : 'notification', id)
  const answers = value.method === undefined && (value.result !== undefined || value.error !== undefined)
  return new Refusal(error, answers ? 'response' : 'unknown', id)
}
