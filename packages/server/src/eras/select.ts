/** Chooses the era of a message. Without the lines that name it, and its files, the legacy era does not exist. */

import { claimsModern, clientRequestParams } from '@mcpx/protocol'
import type { Wire } from '../core.ts'
import { answerLegacy, hearLegacy } from './legacy.ts'
import { legacyChanges } from './legacy-changes.ts'
import { endLegacy } from './legacy-ended.ts'
import { createLegacyAsker } from './legacy-input.ts'
import { answerModern } from './modern.ts'
import { modernWay } from './modern-input.ts'

const ways = {
  legacy: createLegacyAsker,
  modern: modernWay,
}

type BothEras = Required<Wire<typeof ways>>

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

export const bothEras: BothEras = {
  ways,
  paramsOf: clientRequestParams,
  answer,
  hear,
  changes,
  async ended(session, core) {
    if (core.servesLegacy) await endLegacy(session, core)
  },
}
