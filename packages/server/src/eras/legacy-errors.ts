/** Errors on the legacy wire: codes that it does not have are said with those that it has. */

import {
  type CallToolResult,
  ErrorCode,
  errorMessage,
  invalidRequest,
  type RequestId,
  type ResponseMessage,
  type RpcError,
  resourceNotFound,
  resultMessage,
} from '@mcpx/protocol'

/** Methods that name a resource. */
const ABOUT_RESOURCES = ['resources/read', 'resources/subscribe', 'resources/unsubscribe']

export function legacyFailure(id: RequestId, method: string, error: RpcError): ResponseMessage {
  if (error.code === ErrorCode.MissingRequiredClientCapability) return cannotAsk(id, method, error)
  const uri = (error.data as { uri?: unknown } | undefined)?.uri
  const isMissing =
    ABOUT_RESOURCES.includes(method) && error.code === ErrorCode.InvalidParams && typeof uri === 'string'
  return errorMessage(id, isMissing ? resourceNotFound(uri, 'legacy') : error)
}

function cannotAsk(id: RequestId, method: string, error: RpcError): ResponseMessage {
  const text = `The client cannot be asked. ${error.message}`
  if (method !== 'tools/call') return errorMessage(id, invalidRequest(text))
  const result: CallToolResult = { content: [{ type: 'text', text }], isError: true }
  return resultMessage(id, result)
}
