/** Where a message goes that is not the answer that is waited for. */

import {
  ConnectionError,
  isRequestId,
  type Message,
  type NotificationMessage,
  type RequestId,
  relatedRequest,
} from '@mcpx/protocol'
import type { LegacyHost } from './legacy-answers.ts'

/** @param owner the request on whose stream it came; none on streams of the session. */
export function routeLegacy(host: LegacyHost, message: Message, owner?: RequestId): void {
  if (!('method' in message)) host.settle(message)
  else if ('id' in message) host.pass(message, owner)
  else if (message.method === 'notifications/cancelled') giveUp(host, message)
  else {
    // Log messages name no request: on the stream of one they belong to it.
    const id = message.method === 'notifications/message' ? owner : relatedRequest(message)
    if (id !== undefined && host.hear(id, message)) return
    if (message.method === 'notifications/progress') host.report(noSuchToken())
    else host.pass(message)
  }
}

function giveUp(host: LegacyHost, { params = {} }: NotificationMessage): void {
  const { requestId, reason } = params
  const why = typeof reason === 'string' ? `: ${reason.slice(0, 200)}` : ''
  const error = new ConnectionError('cancelled', `The server cancelled its request${why}`)
  if (isRequestId(requestId)) host.giveUp(requestId, error)
}

function noSuchToken(): ConnectionError {
  return new ConnectionError('unmatched', 'Progress was ignored: no request waits for it')
}
