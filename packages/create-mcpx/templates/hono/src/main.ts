import { serve } from '@hono/node-server'
import { app } from './app.ts'

const { PORT = '3000', HOST = '127.0.0.1' } = process.env

const listener = serve({ fetch: app.fetch, port: Number(PORT), hostname: HOST }, ({ port }) => {
  console.log(`http://${HOST}:${port}/mcp`)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    listener.close()
    // Open streams would keep the process running.
    if ('closeAllConnections' in listener) listener.closeAllConnections()
  })
}
