/** Reads a result that says that the call is unfinished. */

import { check, InputRequiredResult, type JsonObject } from '@mcpx/protocol'
import { invalidResult } from './era.ts'

export function checkUnfinished(result: unknown, method: string): JsonObject {
  const { value, problem } = check(InputRequiredResult, result, 'result')
  if (problem !== undefined) throw invalidResult(method, problem)
  if (value.inputRequests === undefined && value.requestState === undefined) {
    throw invalidResult(method, 'result: expected inputRequests or requestState, got neither')
  }
  return value as unknown as JsonObject
}
