/** A server for tools alone, and for peers of the modern era alone. */

import { type Implementation, modernToolParams } from '@mcpx/protocol'
import { asksNothing } from './asks-nothing.ts'
import { answerModern } from './eras/modern.ts'
import { assembleTools, type ToolServer, type ToolServerOptions } from './tool-server.ts'

export type { ToolContext } from './tool-context.ts'
export type { ToolServer } from './tool-server.ts'

/** Those of every server of tools, but for the choice of whether older peers are served. */
export type ModernToolServerOptions = Omit<ToolServerOptions, 'legacy'>

/**
 * Makes a server as `createServer` of `@mcpx/server/tools` does, with the same methods. Older clients, which begin with
 * `initialize`, are refused and told which revisions are served.
 *
 * ```ts
 * import { createServer } from '@mcpx/server/tools/modern'
 *
 * const server = createServer({ name: 'clock', version: '1.0.0' })
 *   .tool('now', { description: 'The time' }, () => new Date().toISOString())
 * ```
 */
export function createServer(info: Implementation, options: ModernToolServerOptions = {}): ToolServer {
  const ways = { modern: asksNothing }
  return assembleTools(info, options, { answer: answerModern, paramsOf: modernToolParams, ways })
}
