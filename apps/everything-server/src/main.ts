/** Serves everything: `node apps/everything-server/dist/main.js --port 3000`, or `--stdio` on a pipe. */
import { parseArgs } from 'node:util'
import { serveHttp } from '@mcpx/transport-http/node'
import { serveStdio } from '@mcpx/transport-stdio'
import { createEverything } from './everything.ts'
import { authenticate } from './features/callers.ts'

const { values } = parseArgs({ options: { port: { type: 'string' }, stdio: { type: 'boolean' } } })

const server = await createEverything()
if (values.stdio === true) {
  await serveStdio(server)
} else {
  const { url, drain } = await serveHttp(server, {
    port: Number(values.port ?? 3000),
    sse: '/sse',
    authenticate,
    sessions: { ttl: 600_000, retry: 500 },
    report: (problem) => console.error(problem.message),
  })
  console.log(`serving ${url}`)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void drain(2_000))
}
