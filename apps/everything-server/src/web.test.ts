import { manualRedirect, oauth } from '@mcpx/auth/client'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { afterAll, expect, it } from 'vitest'
import { createEverything } from './everything.ts'
import { createApp } from './web.ts'

const ORIGIN = 'https://everything.example'
const KEY = 'a-key-that-was-drawn-at-random'
const { app, login, close } = createApp(await createEverything(), ORIGIN, KEY)
afterAll(close)

const fetchHere = async (input: string | URL | Request, init?: RequestInit) => app.fetch(new Request(input, init))
const options = { fetch: fetchHere }

async function whoAmI(headers: Record<string, string>): Promise<unknown> {
  await using client = await connect(http(`${ORIGIN}/mcp`, { ...options, headers }))
  const [block] = (await client.callTool('who_am_i')).content
  return JSON.parse(block?.type === 'text' ? block.text : '')
}

it('knows callers by a key, by a token of its authorization server, or not at all', async () => {
  const token = await login.issue({ subject: 'ada', scopes: ['admin'], resources: [`${ORIGIN}/mcp`] })
  expect(await whoAmI({})).toMatchObject({ subject: 'anonymous' })
  expect(await whoAmI({ 'x-api-key': KEY })).toMatchObject({ subject: 'admin' })
  expect(await whoAmI({ authorization: `Bearer ${token}` })).toMatchObject({ subject: 'ada' })
  const elsewhere = await login.issue({ subject: 'ada', resources: ['https://other.example/mcp'] })
  await expect(whoAmI({ authorization: `Bearer ${elsewhere}` })).rejects.toMatchObject({ status: 401 })
})

it('sends a client that lacks scopes to its authorization server, which lets it come back with them', async () => {
  const redirect = manualRedirect(`${ORIGIN}/callback`, async (page) => {
    const { headers } = await app.fetch(new Request(page, { redirect: 'manual' }))
    return headers.get('location') ?? ''
  })
  const auth = oauth({ redirect })
  await using client = await connect(http(`${ORIGIN}/mcp`, { ...options, auth }))
  expect(await client.callTool('admin_report')).toMatchObject({ content: [{ text: 'All is well.' }] })
})

it('lets pages of known origins read its answers, and no others', async () => {
  const preflight = (origin: string) =>
    app.fetch(
      new Request(`${ORIGIN}/mcp`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } }),
    )
  const allowed = await preflight('http://localhost:6274')
  expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([204, 'http://localhost:6274'])
  expect((await preflight('https://evil.example')).status).toBe(403)
})
