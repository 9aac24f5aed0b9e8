/** Serves the authorization server and the protected server on local ports. */
import { createServer } from 'node:net'
import { serve } from '@hono/node-server'
import { bearer } from '@mcpx/auth/resource-server'
import { devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { serveHttp } from '@mcpx/transport-http/node'
import { server } from './server.ts'

const HOST = '127.0.0.1'

export const machine = { clientId: 'nightly-job', clientSecret: 'only-for-this-example' }

/** Serves an authorization server for development that grants every request without asking a user. */
export async function serveTokens(): Promise<{ issuer: string; close: () => void }> {
  const port = await freePort()
  const issuer = `http://${HOST}:${port}`
  const { fetch } = devAuthorizationServer({ issuer, clients: [machine], subject: 'ada' })
  return new Promise((resolve) => {
    const http = serve({ fetch, port, hostname: HOST }, () => resolve({ issuer, close: () => http.close() }))
  })
}

/** Serves the protected server. The guard needs the issuer of tokens and the URL of this server. */
export async function serveDiary(issuer: string) {
  const port = await freePort()
  const authenticate = bearer({
    issuer,
    audience: `http://${HOST}:${port}/mcp`,
    scopes: ['notes'],
    implies: { 'notes:write': ['notes'] },
    onRefused: ({ reason, status }) => console.log(`  refused with ${status}: ${reason}`),
  })
  return serveHttp(server, { port, host: HOST, authenticate })
}

/** Returns a free port. The guard must know the server's URL before the server listens. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, HOST, () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}
