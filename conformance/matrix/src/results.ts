/**
 * Reads tool results. Each function throws if the result is a failure instead of a success, or a success instead of a
 * failure.
 */

import type { CallToolResult, JsonObject } from '@mcpx/protocol'

/** Returns the text of a successful result. */
export function textOf(result: CallToolResult | JsonObject): string {
  const text = allTextOf(result)
  if (result.isError === true) throw new Error(`The tool failed: ${text}`)
  return text
}

/** Parses the text of a successful result as JSON. */
export function jsonOf(result: CallToolResult): ReturnType<typeof JSON.parse> {
  return JSON.parse(textOf(result))
}

/** Returns the text of a failed result. */
export function errorTextOf(result: CallToolResult): string {
  const text = allTextOf(result)
  if (result.isError !== true) throw new Error(`The tool did not fail: ${text}`)
  return text
}

function allTextOf(result: CallToolResult | JsonObject): string {
  const { content = [] } = result as Partial<CallToolResult>
  return content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
}
