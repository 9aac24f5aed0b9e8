/** Where the input schemas of tools come from: the options, or the responder itself. */

import type { Host } from './host.ts'
import type { ToolSchemas } from './options.ts'

/** What a responder may have besides: its tools' input schemas, by name. */
export interface ToolSchemaSource {
  toolSchema?: ToolSchemas | undefined
}

export function toolSchemasOf({ options, responder }: Host): ToolSchemas | undefined {
  if (options.toolSchemas !== undefined) return options.toolSchemas
  const source: ToolSchemaSource = responder as ToolSchemaSource
  return source.toolSchema === undefined ? undefined : (tool, exchange) => source.toolSchema?.(tool, exchange)
}
