// The official SDK 1.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { info, tools } from './workload.mjs'

export function build() {
  const server = new McpServer(info)
  for (const { name, description, shape, run } of tools) {
    server.registerTool(name, { description, inputSchema: shape }, (args, extra) =>
      run(args, (progress, total) => {
        const params = { progressToken: extra._meta?.progressToken, progress, total }
        return extra.sendNotification({ method: 'notifications/progress', params })
      }),
    )
  }
  return server
}
