/**
 * Has both eras served. Only this file knows both: without the lines that name the older one, and its files, that era
 * does not exist.
 */

import type { Host } from '../host.ts'
import type { Eras, SessionEra } from './era.ts'
import { createLegacy } from './legacy.ts'
import { createModernEras } from './modern-eras.ts'

const older: { readonly create?: (host: Host) => SessionEra } = {
  create: createLegacy,
}

export function createEras(host: Host): Eras {
  return createModernEras(host, host.servesSessions ? older.create?.(host) : undefined)
}
