/** What the server asks of its own accord, and tells: the responder has it, and what it answers leaves by itself. */

import {
  ConnectionError,
  createAnswering,
  createRunningRequests,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
} from '@mcpx/protocol'
import type { Host, Wire } from './wire.ts'

/** How many requests and notifications of the server may be dealt with at once. */
const MOST_RUNNING = 10_000

/** What a connection gives to this era. */
export interface LegacyHost extends Omit<Host, 'pass'> {
  /** @param during the request on whose stream it came */
  pass(message: RequestMessage | NotificationMessage, during?: RequestId): void
  /** The server gives up a request of its own. */
  giveUp(id: RequestId, reason: Error): void
}

export function createLegacyHost(host: Host, tell: Wire['tell']): LegacyHost {
  const { responder, closing, report } = host
  const running = createRunningRequests()
  const from = { ...host, auth: undefined, requestInfo: undefined, session: undefined }
  const answering = createAnswering({ responder, running, host: from, limit: MOST_RUNNING, onHeard() {}, report })
  closing.addEventListener('abort', () => running.abortAll(closing.reason))

  /** A question ends with the request that it is about: on the stream of that nobody could take it back any more. */
  async function answer(message: RequestMessage, during: RequestId | undefined): Promise<void> {
    const over = during === undefined ? undefined : host.endOf(during)
    const giveUp = () => void running.abort(message.id, pointless())
    over?.addEventListener('abort', giveUp)
    try {
      const response = await answering.answer(message, during)
      if (response !== undefined) await tell(response, closing)
    } catch (error) {
      if (!closing.aborted) report(error as Error)
    } finally {
      over?.removeEventListener('abort', giveUp)
    }
  }

  return {
    ...host,
    pass(message, during) {
      if ('id' in message) void answer(message, during)
      else answering.hear(message)
    },
    giveUp: (id, reason) => void running.abort(id, reason),
  }
}

function pointless(): ConnectionError {
  return new ConnectionError('cancelled', 'The request that the question is about was given up')
}
