/** The server for the peers of every revision. */

import type { Handler, Implementation, WholeHandler } from '@mcpx/protocol'
import { bothEras } from './eras/whole/select.ts'
import { assemble, type Server } from './server.ts'
import type { ServerOptions } from './server-core.ts'

/**
 * Makes a server. It is filled by its methods, or by a handler object given here, or both.
 *
 * ```ts
 * const server = createServer({ name: 'clock', version: '1.0.0' })
 *   .tool('now', { description: 'The time' }, () => new Date().toISOString())
 * ```
 */
export function createServer(info: Implementation, options: ServerOptions & WholeHandler = {}): Server {
  return assemble(info, options as ServerOptions & Handler, bothEras)
}
