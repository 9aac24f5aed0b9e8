// The minimum of a server: parses JSON, runs the tool, and writes JSON, without checks.
import { toJSONSchema } from 'zod'
import { info, tools } from './workload.mjs'

const byName = new Map(tools.map((tool) => [tool.name, tool]))
const listed = {
  tools: tools.map(({ name, description, schema }) => ({ name, description, inputSchema: toJSONSchema(schema) })),
}

/** Returns the result of a request; undefined for a notification. */
export function resultOf({ method, params }, progress) {
  switch (method) {
    case 'tools/call':
      return byName.get(params.name).run(params.arguments, progress)
    case 'tools/list':
      return listed
    case 'initialize':
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: info }
    case 'server/discover':
      return { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo: info }
    default:
      return undefined
  }
}

export const answer = (id, result) => JSON.stringify({ jsonrpc: '2.0', id, result })
export const event = (text) => `event: message\ndata: ${text}\n\n`
export const eventHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }
export const progressText = (message, progress, total) =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: message.params._meta?.progressToken, progress, total },
  })
