import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { serveStatic } from '@hono/node-server/serve-static'
import { createApp } from './app.ts'

const { PORT = '3000', HOST = '127.0.0.1' } = process.env

/** Serves the page of `vite build`, and the server below /mcp. */
const app = createApp().use(serveStatic({ root: join(import.meta.dirname, 'web') }))

const listener = serve({ fetch: app.fetch, port: Number(PORT), hostname: HOST }, ({ port }) => {
  console.log(`http://${HOST}:${port}`)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    listener.close()
    // Open streams would keep the process running.
    if ('closeAllConnections' in listener) listener.closeAllConnections()
  })
}
