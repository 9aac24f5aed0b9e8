import { manualRedirect, oauth } from '@mcpx/auth/client'
import { connect } from '@mcpx/client'
import { devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { http } from '@mcpx/transport-http/client'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { createEverything } from './everything.ts'
import { createApp } from './web.ts'

const ORIGIN = 'https://everything.example'
const KEY = 'a-key-that-was-drawn-at-random'
const { app, login, close } = createApp(await createEverything(), ORIGIN, KEY)
afterAll(close)

const fetchApp = async (input: string | URL | Request, init?: RequestInit) => app.fetch(new Request(input, init))
const options = { fetch: fetchApp }

async function whoAmI(headers: Record<string, string>): Promise<unknown> {
  await using client = await connect(http(`${ORIGIN}/mcp`, { ...options, headers }))
  const [block] = (await client.callTool('who_am_i')).content
  return JSON.parse(block?.type === 'text' ? block.text : '')
}

it('authenticates callers by a key or a token, and serves anonymous ones', async () => {
  const token = await login.issue({ subject: 'ada', scopes: ['admin'], resources: [`${ORIGIN}/mcp`] })
  expect(await whoAmI({})).toMatchObject({ subject: 'anonymous' })
  expect(await whoAmI({ 'x-api-key': KEY })).toMatchObject({ subject: 'admin' })
  expect(await whoAmI({ authorization: `Bearer ${token}` })).toMatchObject({ subject: 'ada' })
  const elsewhere = await login.issue({ subject: 'ada', resources: ['https://other.example/mcp'] })
  await expect(whoAmI({ authorization: `Bearer ${elsewhere}` })).rejects.toMatchObject({ status: 401 })
})

it('sends a client without the required scopes to its authorization server', async () => {
  const redirect = manualRedirect(`${ORIGIN}/callback`, async (page) => {
    const { headers } = await app.fetch(new Request(page, { redirect: 'manual' }))
    return headers.get('location') ?? ''
  })
  const auth = oauth({ redirect })
  await using client = await connect(http(`${ORIGIN}/mcp`, { ...options, auth }))
  expect(await client.callTool('admin_report')).toMatchObject({ content: [{ text: 'All is well.' }] })
})

it('allows configured origins by CORS and rejects others', async () => {
  const preflight = (origin: string) =>
    app.fetch(
      new Request(`${ORIGIN}/mcp`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } }),
    )
  const allowed = await preflight('http://localhost:6274')
  expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([204, 'http://localhost:6274'])
  expect((await preflight('https://evil.example')).status).toBe(403)
})

it('accepts the tokens of a partner: JWTs, active opaque tokens, and tokens of its machines', async () => {
  const issuer = 'https://partner.example'
  const clients = [{ clientId: 'everything', clientSecret: 'between-the-two-of-us' }]
  const opaque = devAuthorizationServer({ issuer, clients, accessTokens: 'opaque' })
  const partner = {
    issuer,
    keys: `${issuer}/jwks`,
    introspection: `${issuer}/introspect`,
    clientId: 'everything',
    clientSecret: 'between-the-two-of-us',
    machines: new Map([['the-old-press-in-the-hall', 'press']]),
    fetch: async (input: string | URL | Request, init?: RequestInit) => opaque.fetch(new Request(input, init)),
  }
  const { app, close } = createApp(await createEverything(), ORIGIN, KEY, partner)
  onTestFinished(close)
  const readCaller = async (token: string) => {
    const fetch = async (input: string | URL | Request, init?: RequestInit) => app.fetch(new Request(input, init))
    const headers = { authorization: `Bearer ${token}` }
    await using client = await connect(http(`${ORIGIN}/mcp`, { fetch, headers }))
    const [block] = (await client.callTool('who_am_i')).content
    return JSON.parse(block?.type === 'text' ? block.text : '')
  }
  const grant = { subject: 'bob', scopes: ['partner'], resources: [`${ORIGIN}/mcp`] }
  const token = await opaque.issue(grant)
  expect(await readCaller(token)).toMatchObject({ subject: 'bob', issuer, scopes: ['partner'] })
  opaque.revoke(token)
  await expect(readCaller(token)).rejects.toMatchObject({ status: 401 })
  const signed = await opaque.sign({ iss: issuer, sub: 'cy', aud: `${ORIGIN}/mcp`, client_id: 'x', scope: 'partner' })
  expect(await readCaller(signed)).toMatchObject({ subject: 'cy', issuer })
  expect(await readCaller('the-old-press-in-the-hall')).toMatchObject({ subject: 'press', issuer })
  const unscoped = await opaque.issue({ ...grant, scopes: [] })
  await expect(readCaller(unscoped)).rejects.toMatchObject({ status: 401 })
})

it('counts groups as scopes, and gives owners the scopes of admins', async () => {
  const { issuer } = login
  const claims = { iss: issuer, sub: 'eve', aud: `${ORIGIN}/mcp`, client_id: 'x' }
  const readCaller = async (more: object) =>
    whoAmI({ authorization: `Bearer ${await login.sign({ ...claims, ...more })}` })
  expect(await readCaller({ groups: ['owner'] })).toMatchObject({ scopes: expect.arrayContaining(['owner', 'admin']) })
  expect(await readCaller({ scope: 'other' })).toMatchObject({ subject: 'eve', scopes: ['other'], application: 'x' })
})
