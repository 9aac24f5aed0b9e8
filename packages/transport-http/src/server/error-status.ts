/** The HTTP status of a JSON-RPC answer: errors of the transport and of the protocol have one, those of handlers do not. */

import { ErrorCode, type ResponseMessage } from '@mcpx/protocol'

const statuses: Readonly<Record<number, number>> = {
  [ErrorCode.MethodNotFound]: 404,
  [ErrorCode.HeaderMismatch]: 400,
  [ErrorCode.MissingRequiredClientCapability]: 400,
  [ErrorCode.UnsupportedProtocolVersion]: 400,
}

export function statusOf(answer: ResponseMessage): number {
  return 'error' in answer ? (statuses[answer.error.code] ?? 200) : 200
}
