/** The token of a client is not passed on: neither the context of handlers nor requests to other servers contain it. */

import { bearer } from '@mcpx/auth/resource-server'
import { connect, proxy } from '@mcpx/client'
import { createServer } from '@mcpx/server'
import { devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { expect, it, onTestFinished } from 'vitest'
import { RESOURCE } from './protected.ts'

const ISSUER = 'http://127.0.0.1:8'

it.each(['modern', 'legacy'] as const)(
  'a server does not pass the token to handlers or to a server behind a proxy, in the %s era [S-273, S-279]',
  async (era) => {
    const authorizationServer = devAuthorizationServer({ issuer: ISSUER })
    const token = await authorizationServer.issue({ scopes: ['mcp'], resources: [RESOURCE] })
    const issuer = (url: string, init: RequestInit) => authorizationServer.fetch(new Request(url, init))
    const seen: string[] = []
    const behind = mcp(
      createServer({ name: 'behind', version: '1' }).tool('look', {}, (_, { auth }) => {
        seen.push(JSON.stringify(auth ?? null))
        return 'looked'
      }),
    )
    const upstream = await connect(
      http('http://127.0.0.1:7/mcp', {
        fetch: async (input, init) => {
          const request = new Request(input, init)
          seen.push(JSON.stringify([...request.headers]), request.url, await request.clone().text())
          return behind.fetch(request)
        },
      }),
      { era },
    )
    onTestFinished(() => upstream.close())
    const handlers: string[] = []
    const front = createServer({ name: 'front', version: '1' }, proxy(upstream)).use((_, ctx, next) => {
      handlers.push(JSON.stringify(ctx.auth))
      return next()
    })
    const app = mcp(front, { authenticate: bearer({ issuer: ISSUER, audience: RESOURCE, fetch: issuer }) })
    const client = await connect(
      http(RESOURCE, {
        headers: { authorization: `Bearer ${token}` },
        fetch: async (input, init) => app.fetch(new Request(input, init)),
      }),
      { era },
    )
    onTestFinished(() => client.close())
    expect((await client.callTool('look')).content).toMatchObject([{ text: 'looked' }])
    expect(handlers.join()).toContain('dev-user')
    expect(seen.join()).toContain('look')
    const signature = token.split('.').at(-1) as string
    expect(`${seen.join()}${handlers.join()}`).not.toContain(signature)
    expect(seen.join().toLowerCase()).not.toContain('authorization')
  },
)
