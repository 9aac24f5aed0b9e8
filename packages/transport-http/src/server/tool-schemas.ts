/** Where the input schemas of tools come from: the options, or the responder itself. */

import type { Responder } from '@mcpx/protocol'
import type { EndpointOptions, ToolSchemas } from './options.ts'

export function toolSchemasOf(responder: Responder, options: EndpointOptions): ToolSchemas | undefined {
  if (options.toolSchemas !== undefined) return options.toolSchemas
  return responder.toolSchema === undefined ? undefined : (tool, exchange) => responder.toolSchema?.(tool, exchange)
}
