/** What a server says that it can do. */

import type { Handler, ServerCapabilities } from '@mcpx/protocol'

/** What has lists whose changes are told. */
export const LISTED = ['tools', 'prompts', 'resources'] as const

const DECIDING = ['changes', 'complete', 'getPrompt', 'readResource', 'subscribe', 'callTool'] as const

/** Gives what a handler can do now, as the same object as long as it says the same. */
export function createCapabilities(): (handler: Handler, isLogging: boolean) => ServerCapabilities {
  let capabilities: ServerCapabilities = {}
  let known = -1
  return (handler, isLogging) => {
    let now = isLogging ? 1 : 0
    for (const name of DECIDING) now = now * 2 + (handler[name] === undefined ? 0 : 1)
    if (now !== known) capabilities = capabilitiesOf(handler, isLogging)
    known = now
    return capabilities
  }
}

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
