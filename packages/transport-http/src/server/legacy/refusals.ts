/** Refusals of both legacy transports. */

import { BATCH_REVISION, invalidRequest, type RpcError } from '@mcpx/protocol'
import { refusal } from '../responses.ts'

export function requestInFlight(): RpcError {
  return invalidRequest('Invalid message: id: a request with this id is still in flight')
}

export function tooManyRequests(most: number): RpcError {
  return invalidRequest(`Too many requests of one session at once: at most ${most} (limits.sessionRequests)`)
}

export function batchesNotAllowed(): Response {
  const text = `Invalid message: an array of messages is only let in with revision ${BATCH_REVISION}`
  return refusal(400, invalidRequest(text))
}
