/** Chooses the era of a message. Without the lines that name it, and its files, the legacy era does not exist. */

import {
  type Awaitable,
  claimsModern,
  type Exchange,
  type NotificationMessage,
  type RequestMessage,
  type ResponseMessage,
  type Session,
} from '@mcpx/protocol'
import type { Core } from '../core.ts'
import { answerLegacy, hearLegacy } from './legacy.ts'
import { legacyChanges } from './legacy-changes.ts'
import { endLegacy } from './legacy-ended.ts'
import { answerModern } from './modern.ts'

export function answer(
  message: RequestMessage,
  exchange: Exchange,
  core: Core,
): Awaitable<ResponseMessage | undefined> {
  if (core.servesLegacy && !claimsModern(message)) return answerLegacy(message, exchange, core)
  return answerModern(message, exchange, core)
}

export function hear(message: NotificationMessage, exchange: Exchange, core: Core): Awaitable<undefined> {
  if (core.servesLegacy && exchange.session !== undefined) return hearLegacy(message, exchange)
  return undefined
}

/** What a session is told unasked; nothing in an era without sessions. */
export async function* changes(session: Session, signal: AbortSignal, core: Core): AsyncGenerator<NotificationMessage> {
  if (core.servesLegacy) yield* legacyChanges(session, signal, core)
}

/** Undoes what a session has had the handler do. */
export async function ended(session: Session, core: Core): Promise<void> {
  if (core.servesLegacy) await endLegacy(session, core)
}
