import { setTimeout as wait } from 'node:timers/promises'
import type { Awaitable } from '@mcpx/protocol'
import { expect, it, vi } from 'vitest'
import { oauth } from './oauth.ts'
import { manualRedirect } from './redirects.ts'
import { type AuthStore, memoryStore } from './store.ts'
import { caught, json, World } from './world.fixture.ts'

const grants = (world: World) => world.to('/token').map(({ body }) => new URLSearchParams(body).get('grant_type'))
const refreshes = (world: World) => grants(world).filter((grant) => grant === 'refresh_token').length
const many = <T>(run: () => Promise<T>) => Promise.all(Array.from({ length: 50 }, run))

/** A slow store without a lock. */
function lockless(): AuthStore {
  const inner = memoryStore()
  const later = <T>(run: () => Awaitable<T>) => new Promise<T>((resolve) => setTimeout(() => resolve(run()), 1))
  return {
    get: (key) => later(() => inner.get(key)),
    set: (key, value) => later(() => inner.set(key, value)),
    delete: (key) => later(() => inner.delete(key)),
  }
}

it('sends one refresh for fifty calls with a refused token, and all of them succeed', async () => {
  const world = new World()
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  await fetch(world.mcp)
  world.valid.clear()
  const answers = await many(() => fetch(world.mcp))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect([refreshes(world), world.logins, world.reused]).toEqual([1, 1, 0])
})

it('sends one refresh for fifty calls with a token that is about to expire', async () => {
  const world = new World()
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  await fetch(world.mcp)
  vi.useFakeTimers({ now: Date.now() + 3_580_000, toFake: ['Date'] })
  try {
    const answers = await many(() => fetch(world.mcp))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(refreshes(world)).toBe(1)
    const shown = new Set(
      world
        .to('/mcp')
        .slice(2)
        .map(({ headers }) => headers.get('authorization')),
    )
    expect([...shown]).toEqual(['Bearer access-token-4@as.example'])
  } finally {
    vi.useRealTimers()
  }
})

it('sends one refresh for several clients and connections that share a store', async () => {
  const world = new World()
  const store = memoryStore()
  const make = () => oauth({ redirect: world.redirect, store })
  const target = { url: new URL(world.mcp) }
  await make()(world.fetch, target)(world.mcp)
  world.valid.clear()
  const auths = [make(), make(), make()]
  const answers = await Promise.all(auths.flatMap((auth) => [1, 2, 3].map(() => auth(world.fetch, target)(world.mcp))))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect([refreshes(world), world.logins, world.reused]).toEqual([1, 1, 0])
})

it('keeps newer tokens that another client has stored meanwhile', async () => {
  const world = new World()
  const store = lockless()
  const make = () => oauth({ redirect: world.redirect, store })(world.fetch)
  const [one, two] = [make(), make()]
  await one(world.mcp)
  world.valid.clear()
  // Without a lock both refresh, and one of them is refused: it uses the tokens of the other.
  const shown = new Set<string>()
  let refused = 0
  world.interfere = async (_, body) => {
    const token = body.get('refresh_token') ?? ''
    if (body.get('grant_type') !== 'refresh_token') return undefined
    const isFirst = !shown.has(token)
    shown.add(token)
    await wait(isFirst ? 20 : 60)
    if (isFirst) return undefined
    refused += 1
    return json({ error: 'invalid_grant' }, 400)
  }
  const answers = await Promise.all([one(world.mcp), two(world.mcp)])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect([refreshes(world), refused, world.logins]).toEqual([2, 1, 1])
})

it('starts a login when the refresh token is refused, and does not send it again', async () => {
  const world = new World()
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  await fetch(world.mcp)
  world.valid.clear()
  world.refreshable.clear()
  expect((await fetch(world.mcp)).status).toBe(200)
  expect(grants(world)).toEqual(['authorization_code', 'refresh_token', 'authorization_code'])
  expect(world.logins).toBe(2)
})

it.each([
  ['returns temporarily_unavailable', () => json({ error: 'temporarily_unavailable' }, 503)],
  ['returns status 500', () => new Response('', { status: 500 })],
])('starts no login when the authorization server %s', async (_, trouble) => {
  const world = new World()
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  await fetch(world.mcp)
  world.valid.clear()
  world.interfere = ({ url }) => (url.endsWith('/token') ? trouble() : undefined)
  expect(await caught(() => fetch(world.mcp))).toMatchObject({ step: 'refresh' })
  world.interfere = () => undefined
  expect((await fetch(world.mcp)).status).toBe(200)
  expect([refreshes(world), world.logins]).toEqual([2, 1])
})

it('asks the server again for the place of its metadata, if that has moved since the login', async () => {
  const { pathname } = new URL('https://mcp.example/.well-known/oauth-protected-resource/mcp')
  const moved = 'https://mcp.example/.well-known/oauth-protected-resource'
  const world: World = new World({
    on: { [moved]: () => json({ resource: world.mcp, authorization_servers: [world.issuer] }) },
  })
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  await fetch(world.mcp)
  vi.useFakeTimers({ now: Date.now() + 3_601_000, toFake: ['Date'] })
  try {
    world.valid.clear()
    world.interfere = ({ url, headers }) => {
      if (url.endsWith(pathname)) return new Response('', { status: 404 })
      const isChallenged = url === world.mcp && !headers.has('authorization')
      const challenge = `Bearer resource_metadata="${moved}"`
      return isChallenged ? new Response('', { status: 401, headers: { 'www-authenticate': challenge } }) : undefined
    }
    expect((await fetch(world.mcp)).status).toBe(200)
    expect([refreshes(world), world.logins]).toEqual([1, 1])
  } finally {
    vi.useRealTimers()
  }
})

it('keeps a refresh token that the server does not rotate', async () => {
  const world = new World({ token: { refresh_token: 'stays' } })
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  await fetch(world.mcp)
  for (let round = 0; round < 3; round++) {
    world.valid.clear()
    world.refreshable.add('stays')
    expect((await fetch(world.mcp)).status).toBe(200)
  }
  expect([refreshes(world), world.logins]).toEqual([3, 1])
})

it('does not refresh tokens that never expire', async () => {
  const world = new World({ token: { expires_in: 1e308 } })
  const store = memoryStore()
  for (let run = 0; run < 3; run++) await oauth({ redirect: world.redirect, store })(world.fetch)(world.mcp)
  expect([refreshes(world), world.logins]).toEqual([0, 1])
})

it('uses stored tokens and registrations', async () => {
  const world = new World()
  const store = memoryStore()
  await oauth({ redirect: world.redirect, store })(world.fetch)(world.mcp)
  const before = world.requests.length
  await oauth({ redirect: world.redirect, store })(world.fetch)(world.mcp)
  expect(world.requests.slice(before).map(({ url }) => url.pathname)).toEqual(['/mcp'])
  world.valid.clear()
  world.refreshable.clear()
  await oauth({ redirect: world.redirect, store })(world.fetch)(world.mcp)
  expect(world.to('/register').length).toBe(1)
})

it('refreshes with the client that the tokens were issued to', async () => {
  const world = new World()
  const store = memoryStore()
  const login = (redirectUri: string) =>
    oauth({ redirect: manualRedirect(redirectUri, (url) => world.agree(url)), store })(world.fetch)(world.mcp)
  await login('http://127.0.0.1:1/a')
  const registration = await store.get('client|https%3A%2F%2Fas.example')
  await store.set('client|https%3A%2F%2Fas.example', { ...(registration as object), clientId: 'another' })
  world.valid.clear()
  expect((await login('http://127.0.0.1:2/a')).status).toBe(200)
  expect(new URLSearchParams(world.to('/token').at(-1)?.body).get('client_id')).toBe('client-1')
  expect([refreshes(world), world.logins]).toEqual([1, 1])
})

it('registers again when the server no longer knows the client', async () => {
  const world = new World()
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  await fetch(world.mcp)
  world.valid.clear()
  world.interfere = (_, body) =>
    body.get('client_id') === 'client-1' ? json({ error: 'invalid_client' }, 401) : undefined
  expect((await fetch(world.mcp)).status).toBe(200)
  expect([world.to('/register').length, world.logins]).toEqual([2, 2])
})

it('refuses a damaged record and names it', async () => {
  const world = new World()
  const store = memoryStore()
  const spoiled: AuthStore = {
    ...store,
    get: async (key) => (key.startsWith('tokens') ? { issuer: 1 } : store.get(key)),
  }
  await oauth({ redirect: world.redirect, store })(world.fetch)(world.mcp)
  const error = await caught(() => oauth({ redirect: world.redirect, store: spoiled })(world.fetch)(world.mcp))
  expect(error).toMatchObject({ step: 'storage', message: expect.stringMatching(/The record tokens\|https/) })
})

it('sends one refresh for two servers that share a resource', async () => {
  const origin = 'https://mcp.example'
  const about = () => json({ resource: origin, authorization_servers: ['https://as.example'] })
  const urls = [`${origin}/a`, `${origin}/b`] as const
  const world: World = new World({
    mcp: urls[0],
    on: {
      [`${origin}/.well-known/oauth-protected-resource/a`]: about,
      [`${origin}/.well-known/oauth-protected-resource/b`]: about,
      [urls[1]]: (request) => world.serve(request),
    },
  })
  world.interfere = async ({ url }) => {
    // Long enough for the other to start as well.
    if (url.endsWith('/token')) await wait(30)
    return undefined
  }
  const auth = oauth({ redirect: world.redirect })
  const fetches = urls.map((url) => ({ url, fetch: auth(world.fetch, { url: new URL(url) }) }))
  for (const { url, fetch } of fetches) expect((await fetch(url)).status).toBe(200)
  world.valid.clear()
  const answers = await Promise.all(fetches.map(({ url, fetch }) => fetch(url)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  expect([refreshes(world), world.reused, world.logins]).toEqual([1, 0, 1])
})
