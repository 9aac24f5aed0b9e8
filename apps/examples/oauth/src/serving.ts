/** Puts both servers on ports of this machine: the one that hands out tokens, and the one that wants them. */
import { serve } from '@hono/node-server'
import { type DevAuthorizationServer, devAuthorizationServer } from '@mcpx/auth'
import { bearer } from '@mcpx/auth/resource-server'
import { serveHttp } from '@mcpx/transport-http/node'
import { server } from './server.ts'

const HOST = '127.0.0.1'

export const machine = { clientId: 'nightly-job', clientSecret: 'only-for-this-example' }

/** Stands in for the one of your company. It is for development: its user says yes to everything. */
export async function serveTokens(): Promise<{ issuer: string; close: () => void }> {
  let authorizationServer: DevAuthorizationServer | undefined
  const { port, http } = await new Promise<{ port: number; http: ReturnType<typeof serve> }>((resolve) => {
    const fetch = (request: Request) => authorizationServer?.fetch(request) ?? new Response(null, { status: 503 })
    const http = serve({ fetch, port: 0, hostname: HOST }, (bound) => resolve({ port: bound.port, http }))
  })
  const issuer = `http://${HOST}:${port}`
  authorizationServer = devAuthorizationServer({ issuer, clients: [machine], subject: 'ada' })
  return { issuer, close: () => http.close() }
}

/** The server itself. What the guard needs to know is who issues tokens, and what this server is called. */
export async function serveDiary(issuer: string, port: number) {
  const authenticate = bearer({
    issuer,
    audience: `http://${HOST}:${port}/mcp`,
    scopes: ['notes'],
    implies: { 'notes:write': ['notes'] },
    onRefused: ({ reason, status }) => console.log(`  refused with ${status}: ${reason}`),
  })
  return serveHttp(server, { port, host: HOST, authenticate })
}

/** A port that nobody uses: a server is called by its URL before it runs. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const http = serve({ fetch: () => new Response(), port: 0, hostname: HOST }, ({ port }) => {
      http.close(() => resolve(port))
    })
  })
}
