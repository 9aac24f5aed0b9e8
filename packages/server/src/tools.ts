/** A server for tools alone, and for the peers of every revision. */

import { type Implementation, toolRequestParams } from '@mcpx/protocol'
import { asksNothing } from './asks-nothing.ts'
import { answer, changes, hear } from './eras/select.ts'
import { assembleTools, type ToolServer, type ToolServerOptions } from './tool-server.ts'

export type { ToolContext } from './tool-context.ts'
export type { ToolServer, ToolServerOptions } from './tool-server.ts'

/**
 * Makes a server as `createServer` of `@mcpx/server` does, for tools that ask the client nothing. A bundle of it, such as
 * for the edge, holds nothing of resources, prompts, mounting and questions, nor the validator of plain JSON Schemas.
 *
 * ```ts
 * import { createServer } from '@mcpx/server/tools'
 *
 * const server = createServer({ name: 'clock', version: '1.0.0' })
 *   .tool('now', { description: 'The time' }, () => new Date().toISOString())
 * ```
 */
export function createServer(info: Implementation, options: ToolServerOptions = {}): ToolServer {
  const ways = { legacy: asksNothing.createAsker, modern: asksNothing }
  return assembleTools(info, options, { answer, changes, hear, paramsOf: toolRequestParams, ways })
}
