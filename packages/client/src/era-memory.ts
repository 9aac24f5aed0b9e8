/** Remembers which era servers speak, for as long as the process lives. */

import type { Era } from '@mcpx/protocol'
import { keepNewest } from './newest.ts'
import type { EraMemory } from './options.ts'

/** How many servers are remembered; the one heard of first is forgotten first. */
const LIMIT = 1_000

/** A memory of its own, such as for tests. */
export function createEraMemory(): EraMemory {
  const eras = new Map<string, Era>()
  return {
    get: (peer) => eras.get(peer),
    set(peer, era) {
      if (era === undefined) eras.delete(peer)
      else keepNewest(eras, LIMIT, peer, era)
    },
  }
}

/** What clients use that were given no other. */
export const eraMemory: EraMemory = /* @__PURE__ */ createEraMemory()
