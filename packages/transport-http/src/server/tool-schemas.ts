/** Where the input schemas of tools come from: the options, or the responder itself. */

import type { Host } from './host.ts'
import type { ToolSchemas } from './options.ts'

export function toolSchemasOf({ options, responder }: Host): ToolSchemas | undefined {
  if (options.toolSchemas !== undefined) return options.toolSchemas
  return responder.toolSchema === undefined ? undefined : (tool, exchange) => responder.toolSchema?.(tool, exchange)
}
