/** A wire that is loaded when the first message needs it: most clients speak one era only. */

import type { Wire } from './wire.ts'

export function createLaterWire(load: () => Promise<Wire>): Wire {
  let wire: Wire | undefined
  let loading: Promise<Wire> | undefined

  async function loaded(): Promise<Wire> {
    try {
      loading ??= load()
      wire = await loading
      return wire
    } catch (error) {
      loading = undefined
      throw error
    }
  }

  return {
    ask: async (message, signal) => (wire ?? (await loaded())).ask(message, signal),
    tell: async (message, signal) => (wire ?? (await loaded())).tell(message, signal),
    givenUp: (id, reason) => wire?.givenUp?.(id, reason),
    negotiated: (revision, onMissed) => wire?.negotiated?.(revision, onMissed),
    get hasOneStream() {
      return wire?.hasOneStream === true
    },
    close: async () => wire?.close?.(),
  }
}
