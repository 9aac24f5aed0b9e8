/** How a notification finds the request it belongs to. */

import { SUBSCRIPTION_ID_KEY } from '../eras/select.ts'
import { isRequestId } from '../jsonrpc/check.ts'
import type { JsonObject, NotificationMessage, RequestId } from '../jsonrpc/message.ts'

/** The parameters of a request that wants to hear of its progress; the request's id is the token. */
export function withProgressToken(params: object | undefined, token: RequestId): JsonObject {
  const meta = (params as JsonObject | undefined)?._meta
  return { ...params, _meta: { ...(typeof meta === 'object' ? meta : undefined), progressToken: token } }
}

/** The id of the request that a notification speaks of, as far as its parameters tell. */
export function relatedRequest(notification: NotificationMessage): RequestId | undefined {
  const { method, params } = notification
  if (params === undefined) return undefined
  const id = method === 'notifications/progress' ? params.progressToken : ownerOf(params)
  return isRequestId(id) ? id : undefined
}

function ownerOf(params: JsonObject): unknown {
  const meta = params._meta
  return typeof meta === 'object' && meta !== null ? (meta as JsonObject)[SUBSCRIPTION_ID_KEY] : undefined
}
