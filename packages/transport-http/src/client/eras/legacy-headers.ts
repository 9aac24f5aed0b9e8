/** What a session has to say with each request: its id, and the revision it speaks. */

import { ConnectionError, type JsonObject, type ResponseMessage } from '@mcpx/protocol'
import { SESSION_HEADER, VERSION_HEADER } from '../../headers.ts'

export interface SessionHeaders {
  readonly [SESSION_HEADER]: string | undefined
  readonly [VERSION_HEADER]: string | undefined
}

export interface LegacySession {
  readonly headers: SessionHeaders
  readonly id: string | undefined
  /** A handshake begins: nothing is known any more. */
  reset(): void
  /** Takes the id that came with the answer to the handshake. */
  open(response: Response): void
  /** Takes the revision from the answer to the handshake. */
  agree(answer: ResponseMessage): void
  /** The server does not know the session any more: it is forgotten here too. Returns the error that says so. */
  gone(cause?: unknown): ConnectionError
}

/** How long requests that are under way when the session is lost may take to be answered or refused, in ms. */
export const GRACE = 1_000

/** From this revision on the header is required; servers of older ones have never seen it. */
const FIRST_WITH_VERSION_HEADER = '2025-06-18'

export function createLegacySession(): LegacySession {
  let id: string | undefined
  let revision: string | undefined

  return {
    get headers() {
      return { [SESSION_HEADER]: id, [VERSION_HEADER]: revision }
    },
    get id() {
      return id
    },
    reset() {
      id = revision = undefined
    },
    open({ headers }) {
      const given = headers.get(SESSION_HEADER)
      if (given === null) return
      if (!/^[!-~]+$/.test(given)) {
        const hint = 'The id of a session is made of visible ASCII characters; tell the author of the server.'
        throw new ConnectionError('invalid-message', 'The server named a session in an unreadable way', { hint })
      }
      id = given
    },
    agree(answer) {
      const agreed = 'result' in answer ? (answer.result as JsonObject).protocolVersion : undefined
      if (typeof agreed !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(agreed)) return
      if (agreed >= FIRST_WITH_VERSION_HEADER) revision = agreed
    },
    gone(cause) {
      id = revision = undefined
      const hint = 'Connect again; what was asked in the session may have been done.'
      return new ConnectionError('closed', 'The server has ended the session', {
        retryable: true,
        hint,
        status: 404,
        cause,
      })
    },
  }
}
