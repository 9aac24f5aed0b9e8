import { expect, it } from 'vitest'
import { clientCredentials } from './client-credentials.ts'
import { oauth } from './oauth.ts'
import { memoryStore } from './store.ts'
import { caught, json, World, type WorldOptions } from './world.fixture.ts'

const REVOKE = 'https://as.example/revoke'
const revoking = (status = 200): WorldOptions => ({
  server: { revocation_endpoint: REVOKE },
  on: { [REVOKE]: () => new Response(null, { status }) },
})
const revoked = (world: World) => world.to('/revoke').map(({ body }) => Object.fromEntries(new URLSearchParams(body)))

it('deletes the tokens of a server and revokes them', async () => {
  const world = new World(revoking())
  const store = memoryStore()
  const auth = oauth({ redirect: world.redirect, store })
  const fetch = auth(world.fetch, { url: new URL(world.mcp) })
  await fetch(world.mcp)
  await auth.signOut(world.mcp, world.fetch)
  expect(revoked(world)).toEqual([
    { token: expect.stringMatching(/^refresh-token-/), token_type_hint: 'refresh_token', client_id: 'client-1' },
    { token: expect.stringMatching(/^access-token-/), token_type_hint: 'access_token', client_id: 'client-1' },
  ])
  const before = world.to('/mcp').length
  expect((await fetch(world.mcp)).status).toBe(200)
  expect(world.to('/mcp')[before]?.headers.has('authorization')).toBe(false)
  // The client stays registered; the user logs in again.
  expect([world.logins, world.to('/register').length]).toEqual([2, 1])
})

it('authenticates a client with a secret', async () => {
  const world = new World({ ...revoking(), token: { refresh_token: undefined } })
  const auth = clientCredentials({ clientId: 'me', clientSecret: 'hush' })
  await auth(world.fetch)(world.mcp)
  await auth.signOut(world.mcp, world.fetch)
  expect(revoked(world)).toEqual([{ token: expect.any(String), token_type_hint: 'access_token' }])
  expect(world.to('/revoke')[0]?.headers.get('authorization')).toBe(`Basic ${btoa('me:hush')}`)
})

it('sends nothing without tokens, and only deletes them if the server supports no revocation', async () => {
  const world = new World()
  const auth = oauth({ redirect: world.redirect })
  await auth.signOut(world.mcp, world.fetch)
  expect(world.requests).toEqual([])
  const fetch = auth(world.fetch, { url: new URL(world.mcp) })
  await fetch(world.mcp)
  await auth.signOut(new URL(world.mcp), world.fetch)
  await fetch(world.mcp)
  expect(world.logins).toBe(2)
})

it.each([
  ['refuses', revoking(503), 'revocation'],
  ['names an endpoint in a private network', { server: { revocation_endpoint: 'https://10.0.0.1/revoke' } }, undefined],
])('deletes the tokens even if the authorization server %s', async (_, options: WorldOptions, step) => {
  const world = new World(options)
  const auth = oauth({ redirect: world.redirect })
  const fetch = auth(world.fetch, { url: new URL(world.mcp) })
  await fetch(world.mcp).catch(() => {})
  const error = await caught(() => auth.signOut(world.mcp, world.fetch)).catch(() => undefined)
  if (step !== undefined) expect(error).toMatchObject({ step, message: expect.stringMatching(/deleted here/) })
  expect(String(error)).not.toMatch(/(?:access|refresh)-token-/)
  expect(world.requests.filter(({ url }) => url.hostname === '10.0.0.1')).toEqual([])
  const before = world.to('/mcp').length
  world.interfere = ({ url }) => (url.endsWith('/mcp') ? json({}) : undefined)
  await fetch(world.mcp)
  expect(world.to('/mcp')[before]?.headers.has('authorization')).toBe(false)
})
