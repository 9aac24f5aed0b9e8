/** What a server says that it can do. */

import type { Handler, ServerCapabilities } from '@mcpx/protocol'

/** What has lists whose changes are told. */
export const LISTED = ['tools', 'prompts', 'resources'] as const

/** What a handler can do: nothing is declared that is not there. */
export function capabilitiesOf(handler: Handler, isLogging: boolean): ServerCapabilities {
  const canChange = handler.changes !== undefined
  const list = canChange ? { listChanged: true } : {}
  const capabilities: ServerCapabilities = {}
  if (isLogging) capabilities.logging = {}
  if (handler.complete !== undefined) capabilities.completions = {}
  if (handler.getPrompt !== undefined) capabilities.prompts = list
  if (handler.readResource !== undefined) {
    capabilities.resources = handler.subscribe === undefined ? list : { ...list, subscribe: true }
  }
  if (handler.callTool !== undefined) capabilities.tools = list
  return capabilities
}
