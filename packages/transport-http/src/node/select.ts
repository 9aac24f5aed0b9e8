/**
 * Has both eras served on Node, the older one from its first request on: to import it takes a tenth of the start. A
 * bundle, which holds both in one file, would only get larger by that.
 */

import type { Eras } from '../server/eras/era.ts'
import { createLaterEra, type LoadEra } from '../server/eras/later-era.ts'
import { createModernEras } from '../server/eras/modern-eras.ts'
import type { Host } from '../server/host.ts'

const older: { readonly load?: LoadEra } = {
  load: async () => (await import('./legacy.ts')).createLegacy,
}

export function createEras(host: Host): Eras {
  const { load } = older
  return createModernEras(host, host.servesSessions && load ? createLaterEra(host, load) : undefined)
}
