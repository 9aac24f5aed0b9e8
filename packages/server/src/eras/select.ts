/** Chooses the era of a message. Without the lines that name it, and its files, the legacy era does not exist. */

import { claimsModern } from '@mcpx/protocol'
import { answerLegacy, hearLegacy } from './legacy.ts'
import { legacyChanges } from './legacy-changes.ts'
import { endLegacy } from './legacy-ended.ts'
import { answerModern } from './modern.ts'
import type { Wire } from './wire.ts'

export const bothEras: Wire = {
  answer(message, exchange, core) {
    if (core.servesLegacy && !claimsModern(message)) return answerLegacy(message, exchange, core)
    return answerModern(message, exchange, core)
  },
  hear(message, exchange, core) {
    if (core.servesLegacy && exchange.session !== undefined) return hearLegacy(message, exchange)
    return undefined
  },
  changes: (session, tell, core) => (core.servesLegacy ? legacyChanges(session, tell, core) : () => {}),
  async ended(session, core) {
    if (core.servesLegacy) await endLegacy(session, core)
  },
}
