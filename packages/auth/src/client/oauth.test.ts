import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { AuthError } from '../auth-error.ts'
import type { Fetch } from './fetch.ts'
import { oauth } from './oauth.ts'
import { manualRedirect, type Redirect } from './redirect.ts'
import { memoryStore } from './store.ts'
import { caught, World } from './world.fixture.ts'

const forbidden = (scope: string) =>
  new Response('', {
    status: 403,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })

/** The query of each visit to the authorization endpoint. */
const visits = (world: World) => world.to('/authorize').map(({ url }) => Object.fromEntries(url.searchParams))
const tokenRequests = (world: World) =>
  world.to('/token').map(({ body }) => Object.fromEntries(new URLSearchParams(body)))

async function ok(response: Promise<Response>): Promise<void> {
  expect(await (await response).json()).toEqual({ ok: true })
}

describe('a client that logs in', () => {
  it('sends no token before a server asks, finds everything by itself, and shows the token from then on [C-140, C-154]', async () => {
    const world = new World()
    const fetch = oauth({ redirect: world.redirect })(world.fetch)
    await ok(fetch(world.mcp, { method: 'POST', body: '{"a":1}', headers: { 'x-own': '1' } }))
    await ok(fetch(world.mcp))
    expect(world.asked.map(({ method, url }) => `${method} ${url.host}${url.pathname}`)).toEqual([
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

  it('works without a redirect by what somebody else has put into the store, and says what is missing where nobody has', async () => {
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

  it('proves with PKCE that it began, and names the resource in every request [C-143, C-149, C-150]', async () => {
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
  ])('asks for the scopes of %s [C-151]', async (_, world, scope) => {
    const there = new World(world)
    await ok(oauth({ redirect: there.redirect })(there.fetch)(there.mcp))
    expect(visits(there)[0]?.scope).toBe(scope)
  })

  it('asks to stay logged in where the authorization server offers it, and not because the server says so [C-153]', async () => {
    const scopes = { resource: { scopes_supported: ['a'] } }
    const offers = new World({ ...scopes, server: { scopes_supported: ['a', 'offline_access'] } })
    await ok(oauth({ redirect: offers.redirect })(offers.fetch)(offers.mcp))
    expect(visits(offers)[0]).toMatchObject({ scope: 'a offline_access', prompt: 'consent' })
    const none = new World({ ...scopes, server: { scopes_supported: ['a'] } })
    await ok(oauth({ redirect: none.redirect })(none.fetch)(none.mcp))
    expect(visits(none)[0]).toMatchObject({ scope: 'a' })
  })

  it('shows more to the authorization server where it is told to, but nothing in place of what must be', async () => {
    const world = new World()
    const authorizationParams = { login_hint: 'ann', state: 'mine', code_challenge_method: 'plain' }
    await ok(oauth({ redirect: world.redirect, authorizationParams })(world.fetch)(world.mcp))
    expect(visits(world)[0]).toMatchObject({ login_hint: 'ann', code_challenge_method: 'S256' })
    expect(visits(world)[0]?.state).not.toBe('mine')
  })
})

describe('who a client is', () => {
  const cimd = 'https://app.example/client.json'

  it('is what was registered by hand, before a document, before what registers on the spot [C-144, C-145]', async () => {
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
  ])('says of %s that it is %s [C-146]', async (redirectUri, type) => {
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
  ])('is not described at %s [C-145]', (clientMetadataUrl) => {
    expect(() => oauth({ redirect: manualRedirect('https://a.example', () => ''), clientMetadataUrl })).toThrow(
      /clientMetadataUrl: expected an https: URL with a path/,
    )
  })

  it('is registered anew when the redirect is another, and when the registration has run out', async () => {
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

  it('is registered anew after a login that did not succeed, as the server may have forgotten it', async () => {
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
  ])('is shown by %s where the server wants that [C-155]', async (method, header, secret) => {
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
  it('gets tokens of the new one, and neither it nor the old one what belongs to the other [C-147]', async () => {
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
    const sent = next.asked.map(({ url, body, headers }) => `${url.href} ${body} ${headers.get('authorization')}`)
    expect(sent.join()).not.toMatch(/as\.example|refresh_token=/)
    expect(world.to('/token').length).toBe(1)
    expect(world.to('/mcp').at(-1)?.headers.get('authorization')).toMatch(/@new\.example$/)
  })

  it('is refused where the client was registered by hand [C-147]', async () => {
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

describe('more rights', () => {
  it('are asked for together with those of before, and the request is sent again [C-152]', async () => {
    const world = new World({
      resource: { scopes_supported: ['read'] },
      serve: ({ method }, scope) => (method === 'POST' && !scope.includes('write') ? forbidden('write') : undefined),
    })
    const fetch = oauth({ redirect: world.redirect })(world.fetch)
    await ok(fetch(world.mcp))
    await ok(fetch(world.mcp, { method: 'POST', body: '{}' }))
    expect(visits(world).map(({ scope }) => scope)).toEqual(['read', 'read write'])
  })

  it('are asked for a few times, and then no more, however often the call is made [C-152]', async () => {
    const one = new World({
      token: { scope: 'read' },
      serve: (request) => (request.method === 'POST' ? forbidden('write') : undefined),
    })
    const fetch = oauth({ redirect: one.redirect, maxStepUps: 2 })(one.fetch)
    for (let call = 0; call < 4; call++) {
      const error = await caught(() => fetch(one.mcp, { method: 'POST', body: '{}' }))
      expect(error).toMatchObject({
        step: 'authorization',
        message: expect.stringMatching(/wants the scope write, and did not get it/),
      })
    }
    expect(one.logins).toBe(3)
    await ok(fetch(one.mcp))
  })

  it('are asked for a few times in one request, also by a server that thinks of ever new ones [C-152]', async () => {
    let count = 0
    const one = new World({ serve: (request) => (request.method === 'POST' ? forbidden(`s${++count}`) : undefined) })
    const fetch = oauth({ redirect: one.redirect })(one.fetch)
    await ok(fetch(one.mcp))
    const error = await caught(() => fetch(one.mcp, { method: 'POST', body: '{}' }))
    expect(error).toMatchObject({
      step: 'authorization',
      message: expect.stringMatching(/wants more scopes each time/),
    })
    expect(one.logins).toBe(1 + 2)
  })

  it('that a challenge does not name are nothing that could be asked for', async () => {
    const one = new World({ serve: () => new Response('', { status: 403 }) })
    const response = await oauth({ redirect: one.redirect })(one.fetch)(one.mcp)
    expect([response.status, one.logins]).toEqual([403, 1])
  })
})

describe('asking people', () => {
  it('happens once for all calls that wait, and stops the clock of each', async () => {
    const world = new World()
    let held = 0
    const hold = () => {
      held += 1
      return () => {
        held -= 1
      }
    }
    const redirect = manualRedirect('http://127.0.0.1:3000/callback', async (url) => {
      await wait(20)
      expect(held).toBe(10)
      return world.agree(url)
    })
    const fetch = oauth({ redirect })(world.fetch, { url: new URL(world.mcp), hold })
    const { signal } = new AbortController()
    await Promise.all(Array.from({ length: 10 }, () => ok(fetch(world.mcp, { signal }))))
    expect([world.logins, held]).toEqual([1, 0])
  })

  it('ends when nobody waits any more, and not before', async () => {
    const world = new World()
    const ended: boolean[] = []
    let begun = false
    const visit: Redirect = manualRedirect('http://127.0.0.1:3000/callback', (_, { signal }) => {
      begun = true
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          ended.push(true)
          reject(signal.reason)
        })
      })
    })
    const fetch = oauth({ redirect: visit })(world.fetch)
    const [one, two] = [new AbortController(), new AbortController()]
    const calls = [one, two].map(({ signal }) => caught(() => fetch(world.mcp, { signal })))
    await vi.waitFor(() => expect(begun).toBe(true))
    one.abort(new Error('one'))
    expect(await calls[0]).toMatchObject({ message: 'one' })
    expect(ended).toEqual([])
    two.abort(new Error('two'))
    expect(await calls[1]).toMatchObject({ message: 'two' })
    await vi.waitFor(() => expect(ended).toEqual([true]))
  })

  it('begins anew for whoever comes after the others have left, though it was not heard that they did', async () => {
    const world = new World()
    let visits = 0
    const redirect = manualRedirect('http://127.0.0.1:3000/callback', (url) => {
      visits += 1
      return visits === 1 ? new Promise<string>(() => {}) : world.agree(url)
    })
    const fetch = oauth({ redirect })(world.fetch)
    const leaving = new AbortController()
    const left = caught(() => fetch(world.mcp, { signal: leaving.signal }))
    await vi.waitFor(() => expect(visits).toBe(1))
    leaving.abort(new Error('left'))
    await ok(fetch(world.mcp))
    expect(await left).toMatchObject({ message: 'left' })
    expect(visits).toBe(2)
  })

  it('is not done again for a while when somebody said no, unless they connect anew', async () => {
    const world = new World()
    let asked = 0
    const redirect = manualRedirect('http://127.0.0.1:3000/callback', (url) => {
      asked += 1
      return `http://127.0.0.1:3000/callback?error=access_denied&iss=https://as.example&state=${url.searchParams.get('state')}`
    })
    const auth = oauth({ redirect })
    const target = { url: new URL(world.mcp) }
    const fetch = auth(world.fetch, target)
    for (let call = 0; call < 5; call++) expect(await caught(() => fetch(world.mcp))).toBeInstanceOf(AuthError)
    expect(asked).toBe(1)
    await caught(() => auth(world.fetch, target)(world.mcp))
    expect(asked).toBe(2)
  })
})

describe('servers of the first revisions', () => {
  const gone = () => new Response('', { status: 404 })
  const on = { 'https://mcp.example/.well-known/oauth-protected-resource/mcp': gone }

  it('are their own authorization server, with metadata or without [C-140, C-148]', async () => {
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
    // It says that it sends iss, and then it does not.
    expect(
      await caught(() => oauth({ redirect: documented.redirect })(documented.fetch)(documented.mcp)),
    ).toMatchObject({
      message: expect.stringMatching(/\(iss\)/),
    })
  })
})

it('sends tokens to no other origin [C-154]', async () => {
  const world = new World()
  const fetch = oauth({ redirect: world.redirect })(world.fetch, { url: new URL(world.mcp) })
  await ok(fetch(world.mcp))
  expect(await caught(() => fetch('https://evil.example/'))).toMatchObject({ step: 'verification' })
  expect(world.asked.some(({ url }) => url.host === 'evil.example')).toBe(false)
})

it('asks nobody to log in for the sake of a goodbye', async () => {
  const world = new World()
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  expect((await fetch(world.mcp, { method: 'DELETE' })).status).toBe(401)
  expect(world.asked.length).toBe(1)
})

it('sends a Request again, and does not pretend that it could with a stream', async () => {
  const world = new World()
  const fetch = oauth({ redirect: world.redirect })(world.fetch)
  await ok(fetch(new Request(world.mcp, { method: 'POST', body: 'all of it' })))
  expect(world.to('/mcp').map(({ body }) => body)).toEqual(['all of it', 'all of it'])
  world.valid.clear()
  const body = new Blob(['x']).stream()
  const error = await caught(() => fetch(world.mcp, { method: 'POST', body, duplex: 'half' } as RequestInit))
  expect(error).toMatchObject({ message: expect.stringMatching(/a stream cannot be sent twice/) })
  // The next one finds the token that was got meanwhile.
  const again = new Blob(['x']).stream()
  await ok(fetch(world.mcp, { method: 'POST', body: again, duplex: 'half' } as RequestInit))
})
