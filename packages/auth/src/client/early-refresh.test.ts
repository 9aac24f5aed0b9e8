import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { oauth } from './oauth.ts'
import { memoryStore } from './store.ts'
import { json, World } from './world.fixture.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const refreshes = (world: World) =>
  world.to('/token').filter(({ body }) => new URLSearchParams(body).get('grant_type') === 'refresh_token').length
const shown = (world: World) => world.to('/mcp').map(({ headers }) => headers.get('authorization'))
/** Tokens live for an hour and are refreshed 30 s before they expire. */
const almostExpired = () => void vi.advanceTimersByTime(3_580_000)
const TOKEN = 'Bearer access-token-3@as.example'

/** A world whose authorization server refuses to refresh. */
async function loggedIn(store = memoryStore()) {
  const world = new World()
  const fetch = oauth({ redirect: world.redirect, store })(world.fetch)
  await fetch(world.mcp)
  world.interfere = (_, body) =>
    body.get('grant_type') === 'refresh_token' ? json({ error: 'invalid_grant' }, 400) : undefined
  return { world, fetch, store }
}

describe('a refresh that is refused while the access token is valid', () => {
  it('keeps the access token in use, and is not repeated', async () => {
    const { world, fetch } = await loggedIn()
    almostExpired()
    for (let call = 0; call < 3; call++) expect((await fetch(world.mcp)).status).toBe(200)
    expect(shown(world).slice(2)).toEqual([TOKEN, TOKEN, TOKEN])
    expect([refreshes(world), world.logins]).toEqual([1, 1])
  })

  it('is sent once for fifty calls, and all of them succeed with the access token', async () => {
    const { world, fetch } = await loggedIn()
    almostExpired()
    const responses = await Promise.all(Array.from({ length: 50 }, () => fetch(world.mcp)))
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
    expect(new Set(shown(world).slice(2))).toEqual(new Set([TOKEN]))
    expect([refreshes(world), world.logins]).toEqual([1, 1])
    expect(world.to('/.well-known/oauth-authorization-server').length).toBe(2)
  })

  it('starts the login once the access token has expired', async () => {
    const { world, fetch } = await loggedIn()
    almostExpired()
    await fetch(world.mcp)
    vi.advanceTimersByTime(21_000)
    expect((await fetch(world.mcp)).status).toBe(200)
    expect([refreshes(world), world.logins]).toEqual([1, 2])
  })

  it('starts the login when the server refuses the access token', async () => {
    const { world, fetch } = await loggedIn()
    almostExpired()
    await fetch(world.mcp)
    world.valid.clear()
    expect((await fetch(world.mcp)).status).toBe(200)
    expect([refreshes(world), world.logins]).toEqual([1, 2])
  })

  it('keeps newer tokens that another client has stored meanwhile, even if they cannot be used here', async () => {
    const { world, fetch, store } = await loggedIn()
    almostExpired()
    const key = 'tokens|https%3A%2F%2Fas.example|client-1|https%3A%2F%2Fmcp.example%2Fmcp'
    const before = (await store.get(key)) as object
    const newer = { ...before, accessToken: 'newer', refreshToken: 'newer', renewAt: Date.now() }
    world.interfere = async (_, body) => {
      if (body.get('grant_type') !== 'refresh_token') return undefined
      await store.set(key, newer)
      return json({ error: 'invalid_grant' }, 400)
    }
    expect((await fetch(world.mcp)).status).toBe(200)
    expect(await store.get(key)).toEqual(newer)
  })

  it('keeps the access token for other clients that share the store', async () => {
    const { world, fetch, store } = await loggedIn()
    almostExpired()
    await fetch(world.mcp)
    expect((await oauth({ redirect: world.redirect, store })(world.fetch)(world.mcp)).status).toBe(200)
    expect(shown(world).at(-1)).toBe(TOKEN)
    expect([refreshes(world), world.logins]).toEqual([1, 1])
  })
})

it('that gets no response is not repeated by each call, and is repeated before the token expires', async () => {
  const world = new World()
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  await fetch(world.mcp)
  almostExpired()
  world.interfere = ({ url }) => (url.endsWith('/token') ? Promise.reject(new TypeError('down')) : undefined)
  for (let call = 0; call < 5; call++) expect((await fetch(world.mcp)).status).toBe(200)
  expect(refreshes(world)).toBe(1)
  world.interfere = () => undefined
  vi.advanceTimersByTime(6_000)
  expect((await fetch(world.mcp)).status).toBe(200)
  expect([refreshes(world), world.logins]).toEqual([2, 1])
  expect(shown(world).at(-1)).not.toBe(TOKEN)
})

it('is sent once for fifty calls if the authorization server prolongs the same access token', async () => {
  const world = new World({ token: { access_token: 'same' } })
  world.valid.add('same')
  const store = memoryStore()
  const fetches = [1, 2].map(() => oauth({ redirect: world.redirect, store })(world.fetch))
  for (const fetch of fetches) await fetch(world.mcp)
  almostExpired()
  await Promise.all(Array.from({ length: 50 }, (_, call) => fetches[call % 2]?.(world.mcp)))
  expect([refreshes(world), world.logins]).toEqual([1, 1])
})

it('uses an access token without a refresh token until it expires', async () => {
  const world = new World({ token: { refresh_token: undefined } })
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  await fetch(world.mcp)
  almostExpired()
  await fetch(world.mcp)
  expect([shown(world).at(-1), world.logins]).toEqual([TOKEN, 1])
  vi.advanceTimersByTime(21_000)
  await fetch(world.mcp)
  expect(world.logins).toBe(2)
})
