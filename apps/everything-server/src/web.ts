/** A web app for any fetch runtime with the server, its authorization server, and the metadata of both. */
import { protectedResourceMetadata } from '@mcpx/auth/resource-server'
import type { Server } from '@mcpx/server'
import { devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { mcp } from '@mcpx/transport-http'
import { Hono } from 'hono'
import { endpointOptions } from './serving/endpoint.ts'
import { guardByLogin } from './serving/guard.ts'
import type { Partner } from './serving/partners.ts'

/** @param origin for example `https://example.com`; the endpoint is `/mcp`. */
export function createApp(server: Server, origin: string, adminKey: string, partner?: Partner) {
  const url = `${origin}/mcp`
  const login = devAuthorizationServer({ issuer: `${origin}/login`, scopes: ['admin'], resources: [url] })
  const authenticate = guardByLogin(url, login, adminKey, partner)
  const { sse: _, ...options } = endpointOptions()
  const endpoint = mcp(server, {
    ...options,
    authenticate,
    allowedHosts: [new URL(origin).host],
    allowedOrigins: [origin],
  })
  const app = new Hono()
    .route('/mcp', endpoint)
    .all('/.well-known/oauth-protected-resource/*', (context) =>
      protectedResourceMetadata(authenticate)(context.req.raw),
    )
    .all('*', (context) => login.fetch(context.req.raw))
  return { app, login, close: () => endpoint.drain(1_000) }
}
