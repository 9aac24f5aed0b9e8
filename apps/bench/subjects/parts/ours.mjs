// Our server with all checks, guards and limits. The environment variable MORE_TOOLS adds tools.
import { createServer } from '@mcpx/server'
import { info, tools } from './workload.mjs'

export function build() {
  // All clients of the benchmark have the same address. By default one caller may use a quarter of a limit.
  const server = createServer(info, { limits: { perCaller: 1 } })
  for (const { name, description, schema, run } of tools) {
    server.tool(name, { description, input: schema }, (args, context) =>
      run(args, (progress, total) => context.progress(progress, total)),
    )
  }
  for (let n = 0; n < Number(process.env.MORE_TOOLS ?? 0); n++) server.tool(`tool-${n}`, {}, () => 'not called')
  return server
}
