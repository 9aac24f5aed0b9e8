/** A server that has something to say unasked. */

import type { JsonObject, NotificationMessage, Responder, Session } from '@mcpx/protocol'
import { HandWritten, type Method } from './server.fixture.ts'

/** A server that sends the published messages to every session. */
export function feeding(methods: Readonly<Record<string, Method>> = {}) {
  const listeners = new Set<(change: NotificationMessage) => void>()
  const sessions: Session[] = []
  const gaps: boolean[] = []
  const answering = new HandWritten(methods)
  const server: Responder = {
    respond: answering.respond.bind(answering),
    watchChanges(session, tell, hasGap = false) {
      sessions.push(session)
      gaps.push(hasGap)
      const listener = (change: NotificationMessage) => void tell(change)
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const say = (change: NotificationMessage) => listeners.forEach((each) => void each(change))
  return {
    server,
    sessions,
    /** Whether each stream began after a gap. */
    gaps,
    listeners,
    /** Logs. */
    tell: (text: string) => say(message(text)),
    /** Says something else, such as `tools/list_changed`. */
    note: (name: string, params?: JsonObject) =>
      say({ jsonrpc: '2.0', method: `notifications/${name}`, ...(params && { params }) }),
  }
}

export function message(data: string): NotificationMessage {
  return { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } }
}

export const said = (event: JsonObject | undefined) => (event?.params as JsonObject | undefined)?.data
export const listening = async (listeners: Set<unknown>) => {
  while (listeners.size === 0) await new Promise((resolve) => setTimeout(resolve, 1))
}
