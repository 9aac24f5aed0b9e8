/** What a tool gave back. A failure is never taken for a value, nor a value for a failure. */

import type { CallToolResult, JsonObject } from '@mcpx/protocol'

/** What the model reads of a call that went well. */
export function textOf(result: CallToolResult | JsonObject): string {
  const text = allTextOf(result)
  if (result.isError === true) throw new Error(`The tool failed: ${text}`)
  return text
}

/** What a tool said that answers in JSON. */
export function jsonOf(result: CallToolResult): ReturnType<typeof JSON.parse> {
  return JSON.parse(textOf(result))
}

/** What the model reads of a call that failed. */
export function complaintOf(result: CallToolResult): string {
  const text = allTextOf(result)
  if (result.isError !== true) throw new Error(`The tool did not fail: ${text}`)
  return text
}

function allTextOf(result: CallToolResult | JsonObject): string {
  const { content = [] } = result as Partial<CallToolResult>
  return content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
}
