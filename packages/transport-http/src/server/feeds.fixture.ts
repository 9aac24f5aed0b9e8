/** A server that has something to say unasked. */

import type { JsonObject, NotificationMessage, Responder, Session } from '@mcpx/protocol'
import { HandWritten } from './server.fixture.ts'

/** A server that tells every session what is put into it. */
export function feeding() {
  const listeners = new Set<(text: string) => void>()
  const sessions: Session[] = []
  const server: Responder = {
    respond: new HandWritten().respond.bind(new HandWritten()),
    changes(session, tell) {
      sessions.push(session)
      const listener = (text: string) => void tell(message(text))
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  return { server, sessions, listeners, tell: (text: string) => listeners.forEach((each) => void each(text)) }
}

export function message(data: string): NotificationMessage {
  return { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } }
}

export const said = (event: JsonObject | undefined) => (event?.params as JsonObject | undefined)?.data
export const listening = async (listeners: Set<unknown>) => {
  while (listeners.size === 0) await new Promise((resolve) => setTimeout(resolve, 1))
}
