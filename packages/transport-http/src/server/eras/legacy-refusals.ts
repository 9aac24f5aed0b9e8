/** What a session is refused, whichever way its messages come. */

import { BATCH_REVISION, invalidRequest, type RequestId, type RpcError } from '@mcpx/protocol'
import { refusal } from '../answers.ts'
import type { HttpAnswer } from '../http-answer.ts'

export function inFlight(): RpcError {
  return invalidRequest('Invalid message: id: a request with this id is still in flight')
}

export function tooManyRequests(most: number): RpcError {
  return invalidRequest(`Too many requests of one session at once: at most ${most} (limits.sessionRequests)`)
}

export function noBatches(): HttpAnswer {
  const text = `Invalid message: an array of messages is only let in with revision ${BATCH_REVISION}`
  return refusal(400, invalidRequest(text))
}

export function noSession(asked?: RequestId): HttpAnswer {
  return refusal(
    404,
    invalidRequest('There is no such session, or no longer: send "initialize" without Mcp-Session-Id'),
    asked,
  )
}
