// tmcp.
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod'
import { McpServer } from 'tmcp'
import { info, tools } from './workload.mjs'

export function build() {
  const options = { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } }
  const server = new McpServer({ ...info, description: 'bench' }, options)
  for (const { name, description, schema, run } of tools) {
    server.tool({ name, description, schema }, (args) =>
      run(args, (progress, total) => server.progress(progress, total)),
    )
  }
  return server
}
