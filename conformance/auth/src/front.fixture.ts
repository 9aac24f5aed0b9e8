/** Two nodes of a protected server with a front, on one Redis, and a third-party provider at which users log in. */

import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { manualRedirect } from '@mcpx/auth/client'
import { type OAuthFrontOptions, oauthFront, oidc } from '@mcpx/auth/front'
import { createServer } from '@mcpx/server'
import { redisStore } from '@mcpx/store-redis'
import { mcp } from '@mcpx/transport-http'
import { createClient } from '@redis/client'
import { Hono } from 'hono'
import { z } from 'zod'
import type { RedisServer } from '../../../packages/store-redis/src/redis.fixture.ts'
import { FRONT_CLIENT, startProvider, visit } from './provider.ts'

export const CALLBACK = 'http://127.0.0.1:9/back'
const SECRETS = ['a secret of both nodes with 32 characters'] as const

export interface Deployment {
  /** The URL of the MCP server. */
  readonly url: string
  readonly issuer: string
  readonly provider: Awaited<ReturnType<typeof startProvider>>
  /** The number of requests that each node has handled. */
  readonly handled: number[]
  readonly warnings: Error[]
  close(): Promise<void>
}

/** @param upstreamTtl the lifetime of the provider's access tokens, in seconds */
export async function deploy(
  redis: RedisServer,
  { upstreamTtl = 3_600, ...options }: Partial<OAuthFrontOptions> & { readonly upstreamTtl?: number } = {},
): Promise<Deployment> {
  const apps: Hono[] = []
  const handled = [0, 0]
  let turn = 0
  const listener = getRequestListener((request) => {
    const node = turn++ % apps.length
    handled[node] = (handled[node] ?? 0) + 1
    return apps[node]?.fetch(request) ?? new Response(null, { status: 503 })
  })
  const http = createHttpServer((request, response) => void listener(request, response)).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const frontCallback = `${issuer}/callback`
  const provider = await startProvider({ accessTokens: 'opaque', ttl: upstreamTtl, frontCallback })
  const warnings: Error[] = []
  const prefix = `${crypto.randomUUID()}:`
  const clients = await Promise.all([0, 1].map(() => connectRedis(redis)))
  for (const client of clients) {
    const store = redisStore(client, { prefix })
    const front = oauthFront({
      issuer,
      // The provider issues refresh tokens only after the consent of the user.
      provider: oidc({ issuer: provider.issuer, ...FRONT_CLIENT, authorizationParams: { prompt: 'consent' } }),
      secrets: SECRETS,
      store,
      scopes: { mcp: 'Use the tools', admin: 'Delete everything' },
      requiredScopes: ['mcp'],
      onWarning: (warning) => void warnings.push(warning),
      ...options,
    })
    const server = createServer({ name: 'fronted', version: '1.0.0' }, { store, secrets: SECRETS })
      .tool('whoami', { output: z.object({ subject: z.string(), scopes: z.array(z.string()) }) }, (_, { auth }) => ({
        subject: auth?.subject ?? '',
        scopes: [...(auth?.scopes ?? [])],
      }))
      .tool('profile', {}, async (_, ctx) => {
        const headers = { authorization: `Bearer ${await front.upstreamToken(ctx)}` }
        const response = await fetch(`${provider.issuer}/me`, { headers })
        return `${response.status} ${await response.text()}`
      })
      .tool('wipe', { scopes: ['admin'] }, () => 'wiped')
    apps.push(new Hono().route('/', front.routes).route('/mcp', mcp(server, { authenticate: front.authenticate })))
  }
  return {
    url: `${issuer}/mcp`,
    issuer,
    provider,
    handled,
    warnings,
    async close() {
      http.closeAllConnections()
      http.close()
      await provider.close()
      for (const client of clients) client.destroy()
    },
  }
}

async function connectRedis({ port }: RedisServer) {
  const client = createClient({ socket: { host: '127.0.0.1', port } })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Creates a redirect. Its user logs in at the provider with this name, and grants every request. */
export function userCalled(login: string) {
  return manualRedirect(CALLBACK, (url) => visit(url, CALLBACK, login))
}
