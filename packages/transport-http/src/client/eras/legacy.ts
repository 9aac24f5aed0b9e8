/** The legacy wire: a handshake opens a session, and the server asks by requests of its own. */

import { ConnectionError, type RequestMessage, type ResponseMessage } from '@mcpx/protocol'
import { createLegacyHost } from './legacy-answers.ts'
import { type LegacySse, openLegacySse } from './legacy-sse.ts'
import { createLegacyStreamable } from './legacy-streamable.ts'
import type { Host, Wire } from './wire.ts'

/** How a server says to a handshake that there is no such endpoint: it may be one of the oldest wire. */
const noEndpoint = new Set([400, 404, 405])

export function createLegacy(connection: Host): Wire {
  const host = createLegacyHost(connection, (message, signal) => wire().tell(message, signal))
  const streamable = createLegacyStreamable(host)
  let sse: LegacySse | undefined
  const wire = () => sse ?? streamable
  const unlessClosing = (error: Error) => host.closing.aborted || host.report(error)

  /** Shakes hands on the oldest wire if there is no endpoint for the newer ones. */
  async function shakeHands(message: RequestMessage, signal: AbortSignal): Promise<ResponseMessage> {
    try {
      return await streamable.ask(message, signal)
    } catch (error) {
      if (!(error instanceof ConnectionError) || !noEndpoint.has(error.status ?? 0)) throw error
      sse = await openLegacySse(host, signal).catch((problem: Error) => {
        host.report(problem)
        return undefined
      })
      if (sse === undefined) throw error
      return sse.ask(message, signal)
    }
  }

  return {
    ask(message, signal) {
      const isFirst = message.method === 'initialize' && sse === undefined
      return isFirst ? shakeHands(message, signal) : wire().ask(message, signal)
    },
    tell: (message, signal) => wire().tell(message, signal),
    givenUp(requestId, reason) {
      const params = { requestId, reason }
      wire().tell({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, host.closing).catch(unlessClosing)
    },
    negotiated(revision, onMissed) {
      if (sse === undefined) streamable.negotiated(revision, onMissed)
    },
    get hasOneStream() {
      return sse !== undefined
    },
    close: () => streamable.close(),
  }
}
