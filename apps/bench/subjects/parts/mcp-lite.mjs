// mcp-lite. The `accept` header selects JSON or SSE.
import { McpServer } from 'mcp-lite'
import { toJSONSchema } from 'zod'
import { info, tools } from './workload.mjs'

export function build() {
  const server = new McpServer({ ...info, schemaAdapter: (schema) => toJSONSchema(schema) })
  for (const { name, description, schema, run } of tools) {
    const handler = (args, context) => run(args, (progress, total) => context.progress?.({ progress, total }))
    server.tool(name, { description, inputSchema: schema, handler })
  }
  return server
}
