/** A server for peers of the modern era alone: what serves older ones is no part of it, nor of a bundle with it. */

import { type Handler, type Implementation, modernRequestParams, type WholeHandler } from '@mcpx/protocol'
import { answerModern } from './eras/modern.ts'
import { modernWay } from './eras/modern-input.ts'
import { assemble, type Server } from './server.ts'
import type { ServerOptions } from './server-core.ts'

export type { Server } from './server.ts'

/** Those of every server, but for the choice of whether older peers are served. */
export type ModernServerOptions = Omit<ServerOptions, 'legacy'>

/**
 * Makes a server as `createServer` of `@mcpx/server` does, with the same methods. Older clients, which begin with
 * `initialize`, are refused and told which revisions are served.
 *
 * ```ts
 * import { createServer } from '@mcpx/server/modern'
 *
 * const server = createServer({ name: 'clock', version: '1.0.0' })
 *   .tool('now', { description: 'The time' }, () => new Date().toISOString())
 * ```
 */
export function createServer(info: Implementation, options: ModernServerOptions & WholeHandler = {}): Server {
  const wire = { answer: answerModern, paramsOf: modernRequestParams, ways: { modern: modernWay } }
  return assemble(info, options as ModernServerOptions & Handler, wire)
}
