/** The envelope check: which JSON values are JSON-RPC messages, and what is wrong with those that are not. */

import { invalidRequest, type RpcError } from './errors.ts'
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
  if (!isObject(value)) return new Refusal(invalidMessage(`expected a JSON object, got ${kindOf(value)}`))
  if (value.jsonrpc !== '2.0') return refuse(value, `jsonrpc: expected "2.0", got ${kindOf(value.jsonrpc)}`)
  const problem = value.method !== undefined ? callProblem(value) : responseProblem(value)
  if (problem !== undefined) return refuse(value, problem)
  if (value.id === null) delete value.id
  return value as unknown as Message
}

function callProblem(value: Record<string, unknown>): string | undefined {
  const { id, method, params } = value
  if (typeof method !== 'string') return `method: expected string, got ${kindOf(method)}`
  if ('id' in value && !isRequestId(id)) return idProblem(id)
  if (params !== undefined && !isObject(params)) return `params: expected object, got ${kindOf(params)}`
  if (value.result === undefined && value.error === undefined) return undefined
  return 'expected either "method" or one of "result" and "error", got both'
}

function responseProblem(value: Record<string, unknown>): string | undefined {
  const { id, result, error } = value
  if (result === undefined && error === undefined) return 'expected one of "method", "result" and "error", got none'
  if (result !== undefined && error !== undefined) return 'expected one of "result" and "error", got both'
  if (error !== undefined) return errorProblem(id, error)
  if (!isRequestId(id)) return idProblem(id)
  return isObject(result) ? undefined : `result: expected object, got ${kindOf(result)}`
}

/** JSON-RPC itself writes `"id": null` where an id could not be read; it is taken for an absent one. */
function errorProblem(id: unknown, error: unknown): string | undefined {
  if (id !== undefined && id !== null && !isRequestId(id)) return idProblem(id)
  if (!isObject(error)) return `error: expected object, got ${kindOf(error)}`
  if (!Number.isSafeInteger(error.code)) return `error.code: expected integer, got ${numberKind(error.code)}`
  return typeof error.message === 'string' ? undefined : `error.message: expected string, got ${kindOf(error.message)}`
}

function idProblem(id: unknown): string {
  if (Number.isInteger(id)) return 'id: expected an integer within ±(2^53−1), got a larger one'
  return `id: expected string or integer, got ${numberKind(id)}`
}

function numberKind(value: unknown): string {
  return typeof value === 'number' && !Number.isInteger(value) ? 'a number that is not an integer' : kindOf(value)
}

/** The refusal of a message as a whole, for a reason found in it or around it. */
export function refuse(value: unknown, problem: string): Refusal {
  const error = invalidMessage(problem)
  if (!isObject(value)) return new Refusal(error)
  const id = isRequestId(value.id) ? value.id : undefined
  if (typeof value.method === 'string') return new Refusal(error, 'id' in value ? 'request' : 'notification', id)
  const answers = value.method === undefined && (value.result !== undefined || value.error !== undefined)
  return new Refusal(error, answers ? 'response' : 'unknown', id)
}

function invalidMessage(problem: string): RpcError {
  return invalidRequest(`Invalid message: ${problem}`)
}
