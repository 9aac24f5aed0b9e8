/** Records the notifications of a server before the client handles them. */

import type { Connection, Connector, NotificationMessage, Responder } from '@mcpx/protocol'

/** Returns a connector that records, and the recorded notifications. */
export function recordNotifications(connector: Connector) {
  const notifications: NotificationMessage[] = []
  const record = (message: NotificationMessage) => void notifications.push(message)
  const recording: Connector = {
    async connect(options) {
      const { responder } = options
      const recordingResponder: Responder = {
        get silent() {
          return responder.silent === true
        },
        respond(message, exchange) {
          if (!('id' in message)) record(message)
          return responder.respond(message, exchange)
        },
      }
      const connection = await connector.connect({ ...options, responder: recordingResponder })
      const request: Connection['request'] = (method, params, { onNotification, ...rest } = {}) => {
        if (onNotification === undefined) return connection.request(method, params, rest)
        const onRecorded = (message: NotificationMessage) => {
          record(message)
          onNotification(message)
        }
        return connection.request(method, params, { ...rest, onNotification: onRecorded })
      }
      const { closed, hasSeparateStreams } = connection
      return {
        request,
        notify: (method, params) => connection.notify(method, params),
        close: (reason) => connection.close(reason),
        negotiated: (revision, onMissed) => connection.negotiated?.(revision, onMissed),
        closed,
        hasSeparateStreams,
      }
    },
  }
  return { recording, notifications }
}
