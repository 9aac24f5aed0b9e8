import { describe, expect, it } from 'vitest'
import { AuthError } from '../auth-error.ts'
import type { Fetch } from '../bounded-fetch.ts'
import { oauth } from './oauth.ts'
import { manualRedirect } from './redirects.ts'
import { memoryStore } from './store.ts'
import { caught, ok, visits, World } from './world.fixture.ts'

const tokenRequests = (world: World) =>
  world.to('/token').map(({ body }) => Object.fromEntries(new URLSearchParams(body)))

describe('a client that logs in', () => {
  it('sends no token before a challenge, finds and registers everything by itself, and then sends the token [C-140, C-154]', async () => {
    const world = new World()
    const fetch = oauth({ redirect: world.redirect })(world.fetch)
    await ok(fetch(world.mcp, { method: 'POST', body: '{"a":1}', headers: { 'x-own': '1' } }))
    await ok(fetch(world.mcp))
    expect(world.requests.map(({ method, url }) => `${method} ${url.host}${url.pathname}`)).toEqual([
      'POST mcp.example/mcp',
      'GET mcp.example/.well-known/oauth-protected-resource/mcp',
      'GET as.example/.well-known/oauth-authorization-server',
      'POST as.example/register',
      'GET as.example/authorize',
      'POST as.example/token',
      'POST mcp.example/mcp',
      'GET mcp.example/mcp',
    ])
    const [first, again, last] = world.to('/mcp')
    expect(first?.headers.get('authorization')).toBeNull()
    expect(again?.headers.get('authorization')).toBe('Bearer access-token-3@as.example')
    expect([again?.body, again?.headers.get('x-own')]).toEqual(['{"a":1}', '1'])
    expect(last?.headers.get('authorization')).toBe(again?.headers.get('authorization'))
    expect(last?.url.search).toBe('')
  })

  it('works without a redirect if the store has tokens, and reports a missing redirect otherwise', async () => {
    const world = new World()
    const store = memoryStore()
    await ok(oauth({ redirect: world.redirect, store })(world.fetch)(world.mcp))
    const visited = visits(world).length
    await ok(oauth({ store })(world.fetch)(world.mcp))
    expect(visits(world)).toHaveLength(visited)
    const error = await caught(() => oauth({})(new World().fetch)(world.mcp))
    expect(error).toBeInstanceOf(AuthError)
    expect(String(error)).toContain('Give oauth() a redirect')
  })

  it('uses PKCE, and names the resource in every request [C-143, C-149, C-150]', async () => {
    const world = new World({ token: { expires_in: 0 } })
    const fetch = oauth({ redirect: world.redirect })(world.fetch)
    await ok(fetch(world.mcp))
    await ok(fetch(world.mcp))
    expect(visits(world)).toEqual([
      {
        response_type: 'code',
        client_id: 'client-1',
        redirect_uri: 'http://127.0.0.1:3000/callback',
        state: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge_method: 'S256',
        resource: 'https://mcp.example/mcp',
      },
    ])
    expect(tokenRequests(world)).toEqual([
      expect.objectContaining({ grant_type: 'authorization_code', resource: world.mcp, client_id: 'client-1' }),
      expect.objectContaining({ grant_type: 'refresh_token', resource: world.mcp, client_id: 'client-1' }),
    ])
  })

  it.each([
    [
      'the challenge',
      {
        challenge: `Bearer scope="a b", resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"`,
        resource: { scopes_supported: ['c'] },
      },
      'a b',
    ],
    ['the metadata', { resource: { scopes_supported: ['c', 'd'] } }, 'c d'],
    ['nothing', {}, undefined],
  ])('requests the scopes of %s [C-151]', async (_, world, scope) => {
    const there = new World(world)
    await ok(oauth({ redirect: there.redirect })(there.fetch)(there.mcp))
    expect(visits(there)[0]?.scope).toBe(scope)
  })

  it('requests offline_access if the authorization server supports it [C-153]', async () => {
    const scopes = { resource: { scopes_supported: ['a'] } }
    const offers = new World({ ...scopes, server: { scopes_supported: ['a', 'offline_access'] } })
    await ok(oauth({ redirect: offers.redirect })(offers.fetch)(offers.mcp))
    expect(visits(offers)[0]).toMatchObject({ scope: 'a offline_access', prompt: 'consent' })
    const none = new World({ ...scopes, server: { scopes_supported: ['a'] } })
    await ok(oauth({ redirect: none.redirect })(none.fetch)(none.mcp))
    expect(visits(none)[0]).toMatchObject({ scope: 'a' })
  })

  it('sends more authorization parameters, which do not replace those of the protocol', async () => {
    const world = new World()
    const authorizationParams = { login_hint: 'ann', state: 'mine', code_challenge_method: 'plain' }
    await ok(oauth({ redirect: world.redirect, authorizationParams })(world.fetch)(world.mcp))
    expect(visits(world)[0]).toMatchObject({ login_hint: 'ann', code_challenge_method: 'S256' })
    expect(visits(world)[0]?.state).not.toBe('mine')
  })
})

describe('the identity of a client', () => {
  const cimd = 'https://app.example/client.json'

  it('is a registration by hand, else a metadata document, else a dynamic registration [C-144, C-145]', async () => {
    const world = { server: { client_id_metadata_document_supported: true } }
    const byHand = new World(world)
    await ok(oauth({ redirect: byHand.redirect, clientId: 'me', clientMetadataUrl: cimd })(byHand.fetch)(byHand.mcp))
    expect([visits(byHand)[0]?.client_id, byHand.to('/register')]).toEqual(['me', []])
    const byDocument = new World(world)
    await ok(oauth({ redirect: byDocument.redirect, clientMetadataUrl: cimd })(byDocument.fetch)(byDocument.mcp))
    expect([visits(byDocument)[0]?.client_id, byDocument.to('/register')]).toEqual([cimd, []])
    const onTheSpot = new World()
    await ok(oauth({ redirect: onTheSpot.redirect, clientMetadataUrl: cimd })(onTheSpot.fetch)(onTheSpot.mcp))
    expect(visits(onTheSpot)[0]?.client_id).toBe('client-1')
  })

  it.each([
    ['http://127.0.0.1:3000/callback', 'native'],
    ['com.example.app:/callback', 'native'],
    ['https://app.example/callback', 'web'],
  ])('registers %s as application type %s [C-146]', async (redirectUri, type) => {
    const world = new World()
    const redirect = manualRedirect(redirectUri, (url) => world.agree(url))
    await ok(oauth({ redirect, clientMetadata: { client_name: 'Mine' } })(world.fetch)(world.mcp))
    expect(JSON.parse(world.to('/register')[0]?.body ?? '')).toEqual({
      client_name: 'Mine',
      application_type: type,
      token_endpoint_auth_method: 'none',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    })
  })

  it.each([
    'http://app.example/c.json',
    'https://app.example',
    'https://app.example/',
    'https://app.example/c#x',
    'https://app.example/../c',
    'https://u:p@app.example/c',
    'c.json',
  ])('refuses the metadata URL %s [C-145]', (clientMetadataUrl) => {
    expect(() => oauth({ redirect: manualRedirect('https://a.example', () => ''), clientMetadataUrl })).toThrow(
      /clientMetadataUrl: expected an https: URL with a path/,
    )
  })

  it('is registered again for another redirect URI', async () => {
    const store = memoryStore()
    const world = new World()
    const login = async (redirectUri: string) => {
      const redirect = manualRedirect(redirectUri, (url) => world.agree(url))
      world.valid.clear()
      world.refreshable.clear()
      await ok(oauth({ redirect, store })(world.fetch)(world.mcp))
    }
    await login('http://127.0.0.1:1/a')
    await login('http://127.0.0.1:1/a')
    expect(world.to('/register').length).toBe(1)
    await login('http://127.0.0.1:2/a')
    expect(world.to('/register').length).toBe(2)
  })

  it('is registered again after a failed login, because the server may no longer know it', async () => {
    const store = memoryStore()
    const world = new World()
    const login = () => oauth({ redirect: world.redirect, store })(world.fetch)(world.mcp)
    await ok(login())
    world.valid.clear()
    world.refreshable.clear()
    world.interfere = ({ url }) =>
      url.includes('client_id=client-1') ? new Response('who?', { status: 400 }) : undefined
    expect(await caught(login)).toMatchObject({ step: 'authorization' })
    await ok(login())
    expect(world.to('/register').length).toBe(2)
  })

  it.each([
    ['client_secret_basic', /^Basic /, undefined],
    ['client_secret_post', undefined, 'hush&'],
  ])('is authenticated by %s if the server supports nothing else [C-155]', async (method, header, secret) => {
    const world = new World({ server: { token_endpoint_auth_methods_supported: [method] } })
    const options = { redirect: world.redirect, clientId: 'me:1', clientSecret: 'hush&' }
    await ok(oauth(options)(world.fetch)(world.mcp))
    const [request] = world.to('/token')
    expect(new URLSearchParams(request?.body).get('client_secret')).toBe(secret ?? null)
    const shown = request?.headers.get('authorization') ?? ''
    if (header === undefined) expect(shown).toBe('')
    else expect(atob(shown.replace(header, ''))).toBe('me%3A1:hush%26')
  })
})

describe('a server that moves to another authorization server', () => {
  it('gets tokens of the new one, and neither receives credentials of the other [C-147]', async () => {
    const valid = new Set<string>()
    const servers = ['https://as.example']
    const next = new World({ issuer: 'https://new.example', valid })
    const world = new World({ resource: { authorization_servers: servers }, valid })
    const fetch: Fetch = (input, init) =>
      (String(input).startsWith('https://new.example') ? next : world).fetch(input, init)
    const redirect = manualRedirect('http://127.0.0.1:3000/callback', (url) =>
      (url.host === 'new.example' ? next : world).agree(url),
    )
    const wrapped = oauth({ redirect })(fetch)
    await ok(wrapped(world.mcp))
    servers[0] = 'https://new.example'
    valid.clear()
    await ok(wrapped(world.mcp))
    expect([world.to('/register').length, next.to('/register').length]).toEqual([1, 1])
    const sent = next.requests.map(({ url, body, headers }) => `${url.href} ${body} ${headers.get('authorization')}`)
    expect(sent.join()).not.toMatch(/as\.example|refresh_token=/)
    expect(world.to('/token').length).toBe(1)
    expect(world.to('/mcp').at(-1)?.headers.get('authorization')).toMatch(/@new\.example$/)
  })

  it('is refused if the client was registered by hand [C-147]', async () => {
    const servers = ['https://as.example']
    const world = new World({ resource: { authorization_servers: servers } })
    const store = memoryStore()
    const options = { redirect: world.redirect, clientId: 'me', clientSecret: 'hush', store }
    await ok(oauth(options)(world.fetch)(world.mcp))
    servers[0] = 'https://new.example'
    world.valid.clear()
    const next = new World({ issuer: 'https://new.example' })
    const fetch: Fetch = (input, init) =>
      (String(input).startsWith('https://new.example') ? next : world).fetch(input, init)
    expect(await caught(() => oauth(options)(fetch)(world.mcp))).toMatchObject({
      step: 'discovery',
      message: expect.stringMatching(/now names https:\/\/new\.example .* the client belongs to https:\/\/as\.example/),
    })
    expect([next.to('/token'), next.to('/authorize')]).toEqual([[], []])
    servers.push('https://as.example')
    await ok(oauth(options)(world.fetch)(world.mcp))
  })
})

describe('servers of the first revisions', () => {
  const gone = () => new Response('', { status: 404 })
  const on = { 'https://mcp.example/.well-known/oauth-protected-resource/mcp': gone }

  it('are their own authorization servers, with or without metadata [C-140, C-148]', async () => {
    const issuer = 'https://mcp.example'
    const documented = new World({
      challenge: undefined,
      issuer,
      on,
      server: { issuer: 'https://mcp.example/' },
      callback: { iss: null },
    })
    const world = new World({
      challenge: undefined,
      issuer,
      on: { ...on, 'https://mcp.example/.well-known/oauth-authorization-server': gone },
      callback: { iss: null },
    })
    for (const each of [world]) {
      await ok(oauth({ redirect: each.redirect })(each.fetch)(each.mcp))
      expect(visits(each)[0]).toMatchObject({ resource: 'https://mcp.example/mcp', code_challenge_method: 'S256' })
    }
    // Its metadata announces iss, and the callback has none.
    expect(
      await caught(() => oauth({ redirect: documented.redirect })(documented.fetch)(documented.mcp)),
    ).toMatchObject({
      message: expect.stringMatching(/"iss"/),
    })
  })
})

it('sends tokens to no other origin [C-154]', async () => {
  const world = new World()
  const fetch = oauth({ redirect: world.redirect })(world.fetch, { url: new URL(world.mcp) })
  await ok(fetch(world.mcp))
  expect(await caught(() => fetch('https://evil.example/'))).toMatchObject({ step: 'verification' })
  expect(world.requests.some(({ url }) => url.host === 'evil.example')).toBe(false)
})

it('starts no login for a DELETE request', async () => {
  const world = new World()
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  expect((await fetch(world.mcp, { method: 'DELETE' })).status).toBe(401)
  expect(world.requests.length).toBe(1)
})

it('repeats a Request, and reports that a stream cannot be repeated', async () => {
  const world = new World()
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  await ok(fetch(new Request(world.mcp, { method: 'POST', body: 'all of it' })))
  expect(world.to('/mcp').map(({ body }) => body)).toEqual(['all of it', 'all of it'])
  world.valid.clear()
  const body = new Blob(['x']).stream()
  const error = await caught(() => fetch(world.mcp, { method: 'POST', body, duplex: 'half' } as RequestInit))
  expect(error).toMatchObject({ message: expect.stringMatching(/a stream cannot be repeated/) })
  // The next request uses the new token.
  const again = new Blob(['x']).stream()
  await ok(fetch(world.mcp, { method: 'POST', body: again, duplex: 'half' } as RequestInit))
})
