/** Serves everything: `node apps/everything-server/dist/main.js --port 3000`, `--stdio` over stdio, `--socket PATH` on a socket. */
import { parseArgs } from 'node:util'
import { serveHttp } from '@mcpx/transport-http/node'
import { serveStdio } from '@mcpx/transport-stdio'
import { createEverything } from './everything.ts'
import { endpointOptions } from './serving/endpoint.ts'
import { guardByKey } from './serving/guard.ts'
import { serveSocket } from './serving/socket.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    host: { type: 'string' },
    stdio: { type: 'boolean' },
    socket: { type: 'string' },
  },
})

const server = await createEverything()
if (values.stdio === true) {
  await serveStdio(server, { guard: true, parentDeath: true, drainTimeout: 2_000, exitTimeout: 500 })
} else if (values.socket !== undefined) {
  const stop = new AbortController()
  await serveSocket(server, values.socket, stop.signal)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
} else {
  const { url, drain } = await serveHttp(server, {
    ...endpointOptions(),
    port: Number(values.port ?? 3000),
    host: values.host,
    path: '/mcp',
    authenticate: guardByKey(process.env.EVERYTHING_KEY ?? crypto.randomUUID()),
    maxHeaderSize: 16_384,
    requestTimeout: 30_000,
    keepAliveTimeout: 120_000,
  })
  console.log(`serving ${url}`)
  const stop = async () => {
    // Ends open subscriptions first, so that clients reopen them at another process.
    server.close()
    await drain(2_000)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop())
}
