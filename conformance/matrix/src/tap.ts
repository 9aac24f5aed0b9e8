/** Sees what a server tells before the client makes something of it, or of nothing. */

import type { Connection, Connector, NotificationMessage, Responder } from '@mcpx/protocol'

/** The same way, and the notifications that came on it. */
export function tap(connector: Connector) {
  const sent: NotificationMessage[] = []
  const see = (message: NotificationMessage) => void sent.push(message)
  const tapped: Connector = {
    async connect(options) {
      const { responder } = options
      const seeing: Responder = {
        get silent() {
          return responder.silent === true
        },
        respond(message, exchange) {
          if (!('id' in message)) see(message)
          return responder.respond(message, exchange)
        },
      }
      const connection = await connector.connect({ ...options, responder: seeing })
      const request: Connection['request'] = (method, params, { onNotification, ...rest } = {}) => {
        if (onNotification === undefined) return connection.request(method, params, rest)
        const hear = (message: NotificationMessage) => {
          see(message)
          onNotification(message)
        }
        return connection.request(method, params, { ...rest, onNotification: hear })
      }
      const { closed, tellsApart } = connection
      return {
        request,
        notify: (method, params) => connection.notify(method, params),
        close: (reason) => connection.close(reason),
        negotiated: (revision, onMissed) => connection.negotiated?.(revision, onMissed),
        closed,
        tellsApart,
      }
    },
  }
  return { tapped, sent }
}
