/** What serves more than tools, by era. It is apart from `../select.ts`, so that servers of tools alone load none of it. */

import { clientRequestParams } from '@mcpx/protocol'
import type { Wire } from '../../core.ts'
import { endLegacy } from '../legacy-ended.ts'
import { createLegacyAsker } from '../legacy-input.ts'
import { modernWay } from '../modern-input.ts'
import { answer, changes, hear } from '../select.ts'

const ways = {
  legacy: createLegacyAsker,
  modern: modernWay,
}

export const bothEras: Required<Wire<typeof ways>> = {
  ways,
  paramsOf: clientRequestParams,
  answer,
  hear,
  changes,
  async ended(session, core) {
    if (core.servesLegacy) await endLegacy(session, core)
  },
}
