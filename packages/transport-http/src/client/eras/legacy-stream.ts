/** The streams that a session opens by GET: one for what the server says unasked, and one to carry on a stream that was cut. */

import { ConnectionError, type Decoded, Refusal, type ResponseMessage } from '@mcpx/protocol'
import { EVENTS_TYPE, LAST_EVENT_HEADER } from '../../headers.ts'
import { type Awaited, readAnswer } from '../answer.ts'
import { createBackoff } from '../backoff.ts'
import { type Cursor, readStream } from '../event-stream.ts'
import { answerLost, lostWith, refusedBy } from '../refusals.ts'
import type { LegacyHost } from './legacy-answers.ts'
import { GRACE, type LegacySession } from './legacy-headers.ts'
import { routeLegacy } from './legacy-routing.ts'

/** Statuses after which a stream may be opened later: outages, limits, and a stream that the server holds to be open. */
const passing = (status: number) => status >= 500 || status === 408 || status === 409 || status === 429

export function openStream(
  host: LegacyHost,
  session: LegacySession,
  cursor: Cursor,
  signal: AbortSignal,
): Promise<Response> {
  const headers = { accept: EVENTS_TYPE, ...session.headers, [LAST_EVENT_HEADER]: cursor.lastEventId }
  return host.carry({ method: 'GET', headers, signal })
}

/** Waits on for the answer to a request whose stream was cut. Rejects with `ConnectionError` `unreachable` if in vain. */
export async function resume(host: LegacyHost, session: LegacySession, awaited: Awaited): Promise<ResponseMessage> {
  const { cursor, method, signal } = awaited
  const backoff = createBackoff(host.settings)
  const lost = (cause: unknown) => answerLost(method, cause)
  if (cursor.lastEventId === undefined || host.settings.attempts === 0) throw lost(cursor.cut)
  for (;;) {
    await backoff.wait(cursor.retry, signal)
    const before: string | undefined = cursor.lastEventId
    try {
      const response = await openStream(host, session, cursor, signal)
      if (response.status === 404 && session.id !== undefined) throw lostWith(session.gone(), method)
      if (response.ok) backoff.opened()
      const answer = await readAnswer(response, host.settings, awaited)
      if (answer !== undefined) return answer
    } catch (error) {
      if (!isPassing(error)) throw isRefused(error) ? lost(error) : error
      if (!backoff.failed()) throw lost(error)
    }
    if (cursor.lastEventId === undefined) throw lost(cursor.cut)
    if (cursor.lastEventId !== before) backoff.progressed()
  }
}

function isPassing(error: unknown): boolean {
  if (!(error instanceof ConnectionError)) return false
  return error.reason === 'unreachable' || (error.reason === 'refused' && passing(error.status ?? 0))
}

function isRefused(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason === 'refused'
}

/** A stream that lived this long was a good one, in ms. */
const LONG_ENOUGH = 5_000

export interface StreamHooks {
  /** Called when the stream is open, or was tried in vain. */
  readonly onTried: () => void
  /** Called when it is open again: something may have been said in the meantime. */
  readonly onMissed: (() => void) | undefined
}

/**
 * Hears what the server says unasked until the connection ends. A server without such a stream is left in peace; one
 * that cannot be reached for long ends the connection, so that nobody waits for changes that never come.
 */
export async function listenToServer(host: LegacyHost, session: LegacySession, hooks: StreamHooks): Promise<void> {
  const { closing, report } = host
  const { onTried, onMissed } = hooks
  const backoff = createBackoff(host.settings)
  const cursor: Cursor = {}
  for (let isFirst = true; !closing.aborted; isFirst = false) {
    try {
      const response = await openStream(host, session, cursor, closing)
      const isThere = await isStream(response, session, cursor)
      onTried()
      if (!isThere) return
      backoff.opened()
      // Servers need not keep what they had to say while nobody listened, not even for those who say where they were.
      if (!isFirst) onMissed?.()
      const begun = performance.now()
      await hearAll(host, response, cursor)
      if (performance.now() - begun > LONG_ENOUGH) backoff.progressed()
    } catch (error) {
      onTried()
      if (closing.aborted) return
      if (isPlaceUnknown(error, cursor)) {
        cursor.lastEventId = undefined
        report(placeLost(error))
        continue
      }
      if (!isPassing(error)) return isFatal(error) ? host.end(error, GRACE) : report(error as Error)
      if (!backoff.failed()) return host.end(error as ConnectionError)
    }
    await backoff.wait(cursor.retry, closing).catch(() => {})
  }
}

/** False where the server has no stream to offer. Throws what speaks against trying again, or for it. */
async function isStream(response: Response, session: LegacySession, cursor: Cursor): Promise<boolean> {
  const { status, headers } = response
  if (response.ok && headers.get('content-type')?.startsWith(EVENTS_TYPE)) return true
  await response.body?.cancel().catch(() => {})
  if (status === 404 && session.id !== undefined) throw session.gone()
  // A stream that was there before is not known by its last event.
  if (response.ok || status === 405 || (status === 404 && cursor.lastEventId === undefined)) return false
  throw refusedBy(response, "Listening to the server's own stream")
}

/** The server says of an event that it does not know it, or no longer: it may still have a stream. */
function isPlaceUnknown(error: unknown, { lastEventId }: Cursor): error is ConnectionError {
  if (lastEventId === undefined || !isRefused(error)) return false
  const { status } = error as ConnectionError
  return status === 400 || status === 404 || status === 410
}

function placeLost(cause: ConnectionError): ConnectionError {
  const message = 'The server does not know any more where its own stream was cut: what it said meanwhile may be lost'
  return new ConnectionError('refused', message, { status: cause.status as number, cause })
}

/** The session is gone, or has an event that would come again and again. */
function isFatal(error: unknown): error is ConnectionError {
  return error instanceof ConnectionError && (error.reason === 'closed' || error.reason === 'limit')
}

async function hearAll(host: LegacyHost, response: Response, cursor: Cursor): Promise<void> {
  const onMessage = (item: Decoded): void => {
    if (Array.isArray(item)) for (const each of item) onMessage(each)
    else if (item instanceof Refusal) host.report(item.error)
    else routeLegacy(host, item)
  }
  await readStream(response.body, host.settings, { cursor, onMessage, signal: host.closing })
}
