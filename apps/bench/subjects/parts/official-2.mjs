// The official SDK 2.
import { McpServer } from '@modelcontextprotocol/server'
import { info, tools } from './workload.mjs'

export function build() {
  const server = new McpServer(info)
  for (const { name, description, schema, run } of tools) {
    server.registerTool(name, { description, inputSchema: schema }, (args, { mcpReq }) =>
      run(args, (progress, total) => {
        const params = { progressToken: mcpReq._meta?.progressToken, progress, total }
        return mcpReq.notify({ method: 'notifications/progress', params })
      }),
    )
  }
  return server
}
