import { clientCredentials, manualRedirect, oauth } from '@mcpx/auth/client'
import { devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { describe, expect, it } from 'vitest'
import { protect, RESOURCE, server } from './protected.ts'

const ISSUER = 'http://127.0.0.1:8'
const MACHINE = { clientId: 'machine', clientSecret: 'secret-of-the-machine' }

/** Creates a development server in this process; requests to its origin are handled in memory. */
function createDevelopment(options: { readonly accessTokenTtl?: number; readonly dpop?: 'required' | 'nonce' } = {}) {
  const authorizationServer = devAuthorizationServer({ issuer: ISSUER, clients: [MACHINE], ...options })
  const asked: string[] = []
  const { connect, ...rest } = protect({
    issuer: ISSUER,
    scopes: ['mcp'],
    clockTolerance: 0,
    dpop: options.dpop === undefined ? 'optional' : { required: true, nonces: options.dpop === 'nonce' },
    fetch: (url, init) => authorizationServer.fetch(new Request(url, init)),
    elsewhere(request) {
      asked.push(new URL(request.url).pathname)
      return authorizationServer.fetch(request)
    },
  })
  const user = manualRedirect('http://127.0.0.1:7/back', async (url) => {
    const response = await authorizationServer.fetch(new Request(url))
    return response.headers.get('location') ?? ''
  })
  return { connect, authorizationServer, user, asked, ...rest }
}

describe.each(['modern', 'legacy'] as const)('in the %s era, the development server', (era) => {
  it('logs a user in and grants more scopes when a tool needs them [S-274, S-281]', async () => {
    const { connect, challenges, user } = createDevelopment()
    const client = await connect(oauth({ redirect: user }), { era })
    expect(await client.tools.whoami({})).toMatchObject({ subject: 'dev-user', issuer: ISSUER, scopes: ['mcp'] })
    expect((await client.callTool('wipe')).content).toEqual([{ type: 'text', text: 'wiped' }])
    expect(challenges.map((each) => each.slice(0, 3))).toEqual(['401', '403'])
    await client.close()
  })

  it.each(['required', 'nonce'] as const)('binds tokens to keys with DPoP: %s', async (dpop) => {
    const { connect } = createDevelopment({ dpop })
    const client = await connect(clientCredentials({ ...MACHINE, scope: 'mcp', dpop: true }), { era })
    expect(await client.tools.whoami({})).toMatchObject({ subject: 'machine', scopes: ['mcp'] })
    expect(await client.tools.whoami({})).toMatchObject({ subject: 'machine' })
    await client.close()
  })

  it('keeps a subscription open longer than the lifetime of a token [S-273]', async () => {
    const { connect, asked } = createDevelopment({ accessTokenTtl: 1_000 })
    const client = await connect(clientCredentials({ ...MACHINE, scope: 'mcp' }), { era })
    const changes = client.listen({ resourceSubscriptions: ['clock://now'] })
    await changes.ready
    const late = setInterval(() => server.resourceUpdated('clock://now'), 100)
    const start = Date.now()
    try {
      for await (const change of changes) {
        expect(change).toEqual({ kind: 'resource', uri: 'clock://now' })
        if (Date.now() - start > 1_800) break
      }
    } finally {
      clearInterval(late)
    }
    expect(Date.now() - start).toBeGreaterThan(1_800)
    // The stream ended when the first token expired, and was reopened with the second token.
    expect(asked.filter((path) => path === '/token').length).toBeGreaterThan(1)
    await client.close()
  })
})

it('a guard rejects a token of the development server for another server [S-273]', async () => {
  const { authorizationServer, reach, refused } = createDevelopment()
  const token = await authorizationServer.issue({ resources: [`${RESOURCE}/other`], scopes: ['mcp'] })
  const answer = await reach(RESOURCE, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  expect([answer.status, refused.at(-1)?.reason]).toEqual([401, 'audience'])
})
