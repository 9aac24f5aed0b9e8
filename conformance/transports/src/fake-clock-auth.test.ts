/** The clock of the test kit drives the timeouts of @mcpx/auth, as in `fake-clock.test.ts`. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { manualRedirect, oauth } from '@mcpx/auth/client'
import { oauthFront, oidc } from '@mcpx/auth/front'
import { fileStore, loopbackRedirect } from '@mcpx/auth/node'
import { type BearerOptions, bearer, protectedResourceMetadata } from '@mcpx/auth/resource-server'
import { connect } from '@mcpx/client'
import { type DevAuthorizationServerOptions, devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { mcp } from '@mcpx/transport-http'
import { http } from '@mcpx/transport-http/client'
import { expect, it, onTestFinished } from 'vitest'
import { create, MINUTE, never, SECOND, useFakeClock } from './fake-clock.fixture.ts'

const clock = useFakeClock()
const { settlesBetween } = clock

const RESOURCE = 'http://127.0.0.1/mcp'
const ISSUER = 'https://login.example.com'

/** A server that needs a token, and its authorization server. `requests` are the paths that the guard has requested. */
function protect(options: Partial<BearerOptions>, devOptions: Partial<DevAuthorizationServerOptions> = {}) {
  const login = devAuthorizationServer({ issuer: ISSUER, ...devOptions })
  const requests: string[] = []
  const guard = bearer({
    issuer: ISSUER,
    audience: RESOURCE,
    fetch: async (url, init) => {
      requests.push(new URL(url).pathname)
      return login.fetch(new Request(url, init))
    },
    ...options,
  })
  const statusOf = async (token: string) => {
    const caller = await guard(new Request(RESOURCE, { headers: { authorization: `Bearer ${token}` } }))
    return caller instanceof Response ? caller.status : 200
  }
  return { login, requests, statusOf, issue: () => login.issue({ subject: 'ada', resources: [RESOURCE] }) }
}

it('introspection.maxAge: 10 s', async () => {
  const client = { clientId: 'rs', clientSecret: 'rs-secret' }
  const { requests, statusOf, issue } = protect(
    { introspection: client },
    { accessTokens: 'opaque', clients: [client] },
  )
  const token = await issue()
  const introspections = () => requests.filter((path) => path.endsWith('/introspect')).length
  for (const [wait, count] of [
    [0, 1],
    [9 * SECOND, 1],
    [SECOND, 2],
  ] as const) {
    await clock.advance(wait)
    expect(await statusOf(token)).toBe(200)
    expect(introspections()).toBe(count)
  }
})

it('dpop.maxAge: 5 min', async () => {
  const login = devAuthorizationServer({ issuer: ISSUER, dpop: 'required' })
  const guard = bearer({
    issuer: ISSUER,
    audience: RESOURCE,
    dpop: 'required',
    fetch: async (url, init) => login.fetch(new Request(url, init)),
  })
  const delayed: Request[] = []
  // Sends requests of the client to the authorization server, and delays those with a token.
  const network = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init)
    if (request.url.startsWith(ISSUER)) return login.fetch(request)
    if (request.url.includes('/.well-known/')) return protectedResourceMetadata(guard)(request)
    if (!request.headers.has('authorization')) return (await guard(request)) as Response
    delayed.push(request)
    return new Response()
  }
  const redirect = manualRedirect('https://app.example.com/callback', async (page) => {
    const response = await network(page, { redirect: 'manual' })
    return response.headers.get('location') ?? ''
  })
  const send = oauth({ redirect, dpop: true })(network)
  await send(RESOURCE)
  await send(RESOURCE)
  const [early, late] = delayed as [Request, Request]
  await clock.advance(4 * MINUTE)
  expect(await guard(early)).toMatchObject({ subject: 'dev-user' })
  await clock.advance(2 * MINUTE)
  expect(await guard(late)).toMatchObject({ status: 401 })
})

it('clockTolerance: 30 s after the expiry', async () => {
  const { statusOf, issue } = protect({ clockTolerance: 30 * SECOND }, { accessTokenTtl: MINUTE })
  const token = await issue()
  await clock.advance(85 * SECOND)
  expect(await statusOf(token)).toBe(200)
  await clock.advance(10 * SECOND)
  expect(await statusOf(token)).toBe(401)
})

it('timeout and cooldown of bearer: 5 s for each of two documents, then no request for 30 s', async () => {
  let requests = 0
  const { statusOf, issue } = protect({
    timeout: 5 * SECOND,
    cooldown: 30 * SECOND,
    fetch: () => {
      requests += 1
      return never()
    },
  })
  const token = await issue()
  expect(await settlesBetween(statusOf(token), 4 * SECOND, 11 * SECOND)).toBe(503)
  const before = requests
  await clock.advance(5 * SECOND)
  expect(await statusOf(token)).toBe(503)
  expect(requests).toBe(before)
  await clock.advance(30 * SECOND)
  await settlesBetween(statusOf(token), 0, 21 * SECOND)
  expect(requests).toBeGreaterThan(before)
})

it('timeout of oauth: an authorization server that does not respond fails the login after 10 s', async () => {
  const resource = mcp(create(), {
    authenticate: bearer({ issuer: 'https://login.example.com', audience: 'http://127.0.0.1/mcp' }),
  })
  const network = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    return request.url.startsWith('https://login.example.com') ? never() : resource.fetch(request)
  }
  const redirect = manualRedirect('https://app.example.com/callback', async () => '')
  const connector = http('http://127.0.0.1/mcp', { fetch: network, auth: oauth({ redirect }) })
  const login = connect(connector, { era: 'modern', connectTimeout: MINUTE })
  const error = await settlesBetween(login, 9 * SECOND, 11 * SECOND)
  expect(String((error as Error).cause ?? error)).toContain('10000 ms')
})

it('accessTokenTtl and expiry of tokens: a client refreshes after an hour', async () => {
  const login = devAuthorizationServer({ issuer: 'https://login.example.com', subject: 'ada' })
  const guard = bearer({
    issuer: login.issuer,
    audience: 'http://127.0.0.1/mcp',
    fetch: async (url, init) => login.fetch(new Request(url, init)),
  })
  const resource = mcp(create(), { authenticate: guard })
  const grants: string[] = []
  const network = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    if (!request.url.startsWith(login.issuer)) return resource.fetch(request)
    if (request.url.endsWith('/token')) {
      grants.push(new URLSearchParams(await request.clone().text()).get('grant_type') ?? '')
    }
    return login.fetch(request)
  }
  const redirect = manualRedirect('https://app.example.com/callback', async (page) => {
    const response = await network(page, { redirect: 'manual' })
    return response.headers.get('location') ?? ''
  })
  const connector = http('http://127.0.0.1/mcp', { fetch: network, auth: oauth({ redirect }) })
  const client = await connect(connector, { era: 'modern' })
  await client.callTool('now')
  await clock.advance(50 * MINUTE)
  await client.callTool('now')
  expect(grants).toEqual(['authorization_code'])
  await clock.advance(11 * MINUTE)
  await client.callTool('now')
  expect(grants).toEqual(['authorization_code', 'refresh_token'])
  await client.close()
})

it('timeout of oauthFront: metadata that does not arrive is given up after 10 s', async () => {
  const front = oauthFront({
    issuer: 'https://front.example.com',
    provider: oidc({ issuer: ISSUER, clientId: 'front', clientSecret: 'secret' }),
    secrets: ['a secret of at least 32 characters, for tests'],
    fetch: never,
  })
  const url = new URL('https://front.example.com/authorize')
  const params = { client_id: 'https://app.example.com/client.json', redirect_uri: 'https://app.example.com/callback' }
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
  const page = front.routes.request(url.href) as Promise<Response>
  const response = (await settlesBetween(page, 9 * SECOND, 11 * SECOND)) as Response
  expect(await response.text()).toContain('the metadata document cannot be read')
})

it('timeout of loopbackRedirect: a user who does not come back within 5 min', async () => {
  const redirect = loopbackRedirect({ open: () => true })
  const login = new AbortController()
  const { signal } = login
  const { redirectUri } = redirect
  const uri = typeof redirectUri === 'string' ? redirectUri : await redirectUri({ signal, registered: [] })
  const url = new URL(`${ISSUER}/authorize?redirect_uri=${encodeURIComponent(uri)}`)
  const error = await settlesBetween(redirect(url, { signal }), 299 * SECOND, 301 * SECOND)
  expect(String(error)).toContain('The user did not come back within 300000 ms')
  login.abort()
})

it('lockTimeout of fileStore: another store keeps its lock for 30 s', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fake-clock-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [first, second] = [
    fileStore(join(folder, 'tokens.json')),
    fileStore(join(folder, 'tokens.json'), { lockTimeout: 30 * SECOND }),
  ]
  let release = () => {}
  const held = first.lock?.('key', () => new Promise<void>((resolve) => (release = resolve)))
  await clock.advance(0)
  const error = await settlesBetween(Promise.resolve(second.lock?.('key', never)), 29 * SECOND, 32 * SECOND)
  expect(String(error)).toContain('The lock of the store was not released within 30000 ms')
  release()
  await held
})
