/** Chooses the era of a message. Without the lines that name it, and its files, the legacy era does not exist. */

import { claimsModern } from '@mcpx/protocol'
import type { Wire } from '../core.ts'
import { answerLegacy, hearLegacy } from './legacy.ts'
import { legacyChanges } from './legacy-changes.ts'
import type { LegacyWay } from './legacy-input.ts'
import { answerModern } from './modern.ts'
import type { ModernWay } from './modern-call.ts'

interface Ways {
  readonly legacy: LegacyWay
  readonly modern: ModernWay
}

type BothEras = Required<Wire<Ways>>

export const answer: BothEras['answer'] = (message, exchange, core) => {
  if (core.servesLegacy && !claimsModern(message)) return answerLegacy(message, exchange, core)
  return answerModern(message, exchange, core)
}

export const hear: BothEras['hear'] = (message, exchange, core) => {
  if (core.servesLegacy && exchange.session !== undefined) return hearLegacy(message, exchange)
  return undefined
}

export const changes: BothEras['changes'] = (session, tell, core) => {
  if (core.servesLegacy) return legacyChanges(session, tell, core)
  return () => {}
}
