/** The legacy wire with one endpoint: each message is a POST that names the session. */

import {
  ConnectionError,
  ErrorCode,
  type Message,
  type NotificationMessage,
  type RequestMessage,
  type ResponseMessage,
} from '@mcpx/protocol'
import { readAnswer } from '../answer.ts'
import { post, refuseUnlessTaken } from '../post.ts'
import type { LegacyHost } from './legacy-answers.ts'
import { createLegacySession, GRACE } from './legacy-headers.ts'
import { routeLegacy } from './legacy-routing.ts'
import { listenToServer, resume } from './legacy-stream.ts'
import type { Wire } from './wire.ts'

/** What is told of after this comes on the session's own stream. */
const SUBSCRIBE = 'resources/subscribe'
/** How long a subscription waits for that stream, in ms: some servers send no headers before there is an event. */
const STREAM_WAIT = 1_000
/** How long the server is waited for when the session is ended, in ms. */
const GOODBYE_TIMEOUT = 2_000

export function createLegacyStreamable(host: LegacyHost): Required<Omit<Wire, 'givenUp' | 'hasOneStream'>> {
  const { settings, report } = host
  const session = createLegacySession()
  let streamTried: Promise<void> | undefined
  const isGone = ({ status }: Response, sessionId: string | undefined) => status === 404 && sessionId !== undefined

  /** The session is gone, and with it the connection. What was refused for that reason was not done. */
  function end(cause?: unknown): ConnectionError {
    const error = session.gone(cause)
    host.end(error, GRACE)
    return error
  }

  async function ask(message: RequestMessage, signal: AbortSignal): Promise<ResponseMessage> {
    const { id, method } = message
    const take = (beside: Message) => routeLegacy(host, beside, id)
    const awaited = { id, method, signal, cursor: {}, take, report }
    const sessionId = session.id
    const response = await post(host, message, { ...session.headers }, signal)
    if (method === 'initialize' && response.ok) session.open(response)
    try {
      const answer = (await readAnswer(response, settings, awaited)) ?? (await resume(host, session, awaited))
      if (isGone(response, sessionId) && !isUnknownMethod(answer)) throw end()
      return answer
    } catch (error) {
      if (isGone(response, sessionId)) throw end(error)
      if (isSessionGone(error)) host.end(session.gone(), GRACE)
      throw error
    }
  }

  async function tell(message: NotificationMessage | ResponseMessage, signal: AbortSignal): Promise<void> {
    const sessionId = session.id
    const response = await post(host, message, { ...session.headers }, signal)
    await refuseUnlessTaken(response, message).catch((error: Error) => {
      throw isGone(response, sessionId) ? end(error) : error
    })
  }

  return {
    async ask(message, signal) {
      if (message.method === SUBSCRIBE) await streamTried
      if (message.method !== 'initialize') return ask(message, signal)
      session.reset()
      const answer = await ask(message, signal)
      session.agree(answer)
      return answer
    },
    tell,
    negotiated(_revision, onMissed) {
      streamTried = new Promise((resolve) => {
        const timer = setTimeout(resolve, STREAM_WAIT)
        const onTried = () => {
          clearTimeout(timer)
          resolve()
        }
        void listenToServer(host, session, { onTried, onMissed })
      })
    },
    async close() {
      if (session.id === undefined) return
      const signal = AbortSignal.timeout(GOODBYE_TIMEOUT)
      try {
        const response = await host.carry({ method: 'DELETE', headers: { ...session.headers }, signal })
        await response.body?.cancel()
      } catch (error) {
        report(error as Error)
      }
    },
  }
}

function isSessionGone(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason === 'closed'
}

/** Some say this with the status of an endpoint that is not there. */
function isUnknownMethod(answer: ResponseMessage): boolean {
  return 'error' in answer && answer.error.code === ErrorCode.MethodNotFound
}
