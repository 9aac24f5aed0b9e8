import type { AuthInfo } from '@mcpx/protocol'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Browser, CALLBACK, FRONT, RESOURCE, SECRET, World } from './front.fixture.ts'
import { oauthFront } from './oauth-front.ts'
import { github } from './providers.ts'

const SCOPES = { read: 'Read your files', write: 'Change your files' }

describe('a login', () => {
  it('asks the user, logs in at the provider, and issues tokens for the server', async () => {
    const world = new World()
    const { clientId, accessToken, body } = await world.logIn()
    expect(body).toMatchObject({
      token_type: 'Bearer',
      expires_in: expect.any(Number),
      refresh_token: expect.any(String),
    })
    expect(await world.call(accessToken)).toMatchObject({
      subject: 'ada',
      issuer: FRONT,
      clientId,
      scopes: [],
      claims: { email: 'ada@example.com', aud: RESOURCE },
    })
    const { claims = {} } = (await world.call(accessToken)) as AuthInfo
    expect(Object.keys(claims).sort()).toEqual(['aud', 'client_id', 'email', 'iss', 'sid', 'sub'])
    expect(world.warnings).toEqual([])
  })

  it('shows the client, its redirect, the server and the scopes, and returns state and iss', async () => {
    const world = new World({ name: 'Files', scopes: SCOPES })
    const { client_id = '' } = await world.register()
    const browser = new Browser(world)
    const page = await browser.open(world.authorizeUrl(client_id, { scope: 'write' }))
    expect(page.text).toContain('Allow Test client to use Files?')
    expect(page.text).toContain('an application on this device (127.0.0.1)')
    expect(page.text).toContain(RESOURCE)
    expect(page.text).toContain('Change your files <small>(write)</small>')
    expect(page.text).not.toContain('Read your files')
    const end = await browser.follow(await browser.decide(page))
    expect(String(end)).toMatch(`${CALLBACK}?code=`)
    expect(Object.fromEntries((end as URL).searchParams)).toEqual({
      code: expect.any(String),
      state: 'state of the client',
      iss: FRONT,
    })
  })

  it('tells the client that the user denied', async () => {
    const world = new World()
    const { client_id = '' } = await world.register()
    const browser = new Browser(world)
    const { location } = await browser.decide(await browser.open(world.authorizeUrl(client_id)), 'deny')
    expect(Object.fromEntries(new URL(location ?? '').searchParams)).toEqual({
      error: 'access_denied',
      error_description: 'The user denied access',
      state: 'state of the client',
      iss: FRONT,
    })
    expect(world.provider.visits).toEqual([])
  })

  it('works with a private scheme, whose registration may have a query', async () => {
    const redirect_uri = 'com.example.app:/callback?from=login'
    const world = new World()
    const { client_id = '' } = await world.register({ redirect_uris: [redirect_uri] })
    const page = await new Browser(world).open(world.authorizeUrl(client_id, { redirect_uri }))
    expect(page.text).toContain('an application that opens com.example.app: links')
    expect(page.headers.get('content-security-policy')).toContain('com.example.app:')
    const end = await new Browser(world).logIn(world.authorizeUrl(client_id, { redirect_uri }))
    expect(end.get('from')).toBe('login')
    expect(end.get('code')).not.toBeNull()
  })

  it('crosses nodes at every step', async () => {
    const world = new World()
    const nodes = [world.front, world.createNode(), world.createNode()]
    let turn = 0
    const { client_id = '' } = await world.register()
    world.app.fetch = ((request: Request) => nodes[turn++ % 3]?.routes.fetch(request)) as typeof world.app.fetch
    const end = await new Browser(world).logIn(world.authorizeUrl(client_id))
    const { body } = await world.redeem(client_id, end.get('code') ?? '')
    for (const node of nodes) expect(await world.statusOf(body.access_token ?? '', node.authenticate)).toBe(200)
  })

  it('accepts what older secrets sealed, until they are removed', async () => {
    const world = new World()
    const { clientId, accessToken, refreshToken } = await world.logIn()
    const next = 'another secret of at least 32 characters'
    const during = world.createNode({ secrets: [next, SECRET] })
    expect(await world.statusOf(accessToken, during.authenticate)).toBe(200)
    world.app.fetch = during.routes.fetch as typeof world.app.fetch
    const { body } = await world.refresh(clientId, refreshToken)
    expect(await world.statusOf(body.access_token ?? '', world.front.authenticate)).toBe(401)
    expect(await world.statusOf(accessToken, world.createNode({ secrets: [next] }).authenticate)).toBe(401)
  })

  it('is refused for users and clients that the operator does not allow', async () => {
    const asked: unknown[] = []
    const world = new World({
      allowUser: ({ subject, claims }) => void asked.push([subject, claims.email]) as unknown as boolean,
      allowClient: ({ name, redirectUris }) => name !== 'Bad client' && redirectUris.includes(CALLBACK),
    })
    const bad = await world.register({ client_name: 'Bad client' })
    const page = await new Browser(world).open(world.authorizeUrl(bad.client_id ?? ''))
    expect([page.status, page.text.includes('unauthorized_client')]).toEqual([403, true])
    const { client_id = '' } = await world.register()
    const end = await new Browser(world).logIn(world.authorizeUrl(client_id))
    expect([asked, end.get('error'), end.get('code')]).toEqual([[['ada', 'ada@example.com']], 'access_denied', null])
  })

  it('remembers a consent per browser, client, redirect and scopes, if that is enabled', async () => {
    const redirect_uri = 'https://app.example/callback'
    const world = new World({ rememberConsent: 60_000, scopes: SCOPES })
    const metadata = { redirect_uris: [redirect_uri, `${redirect_uri}/2`, CALLBACK] }
    const { client_id = '' } = await world.register(metadata)
    const other = await world.register(metadata)
    const browser = new Browser(world)
    const url = (params: object = {}, id = client_id) =>
      world.authorizeUrl(id, { redirect_uri, scope: 'read', ...params })
    world.provider.callback = { error: 'login_required', code: null }
    expect((await browser.logIn(url())).get('error')).toBe('server_error')
    world.provider.callback = {}
    expect((await browser.open(url())).text).toContain('will not be asked again')
    await browser.logIn(url())
    expect((await browser.open(url())).location).toMatch(world.provider.issuer)
    const asks = async (next: string, by = browser) => expect((await by.open(next)).text).toContain('<form')
    await asks(url({ prompt: 'consent' }))
    await asks(url({ redirect_uri: `${redirect_uri}/2` }))
    await asks(url({ scope: 'read write' }))
    await asks(url({}, other.client_id))
    await asks(url(), new Browser(world))
    await browser.logIn(url({ redirect_uri: CALLBACK }))
    await asks(url({ redirect_uri: CALLBACK }))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_001 })
    onTestFinished(() => void vi.useRealTimers())
    await asks(url())
  })
})

describe('the metadata', () => {
  it('is served at all paths that clients try, to pages of any origin', async () => {
    const world = new World({ scopes: SCOPES })
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server/mcp',
      '/.well-known/openid-configuration/mcp',
      '/mcp/.well-known/openid-configuration',
    ]) {
      const response = await world.request(path, { headers: { origin: 'https://app.example' } })
      expect([path, response.status, response.headers.get('access-control-allow-origin')]).toEqual([path, 200, '*'])
      expect(await response.json()).toMatchObject({
        issuer: FRONT,
        authorization_endpoint: `${FRONT}/authorize`,
        scopes_supported: ['read', 'write'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
      })
    }
    const resource = await world.request('/.well-known/oauth-protected-resource/mcp')
    expect(await resource.json()).toMatchObject({ resource: RESOURCE, authorization_servers: [FRONT] })
    expect((await world.request('/.well-known/oauth-protected-resource')).status).toBe(200)
  })

  it('answers HEAD, too', async () => {
    const response = await new World().request('/.well-known/oauth-authorization-server', { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  it('and the endpoints are below an issuer with a path', async () => {
    const world = new World({ issuer: `${FRONT}/login/`, registration: false })
    const { routes } = world.front
    const response = await routes.request(`${FRONT}/.well-known/oauth-authorization-server/login`)
    const metadata = (await response.json()) as Record<string, string>
    expect(metadata).toMatchObject({ issuer: `${FRONT}/login/`, token_endpoint: `${FRONT}/login/token` })
    expect(metadata).not.toHaveProperty('registration_endpoint')
    expect((await routes.request(`${FRONT}/login/.well-known/openid-configuration`)).status).toBe(200)
    expect((await routes.request(`${FRONT}/login/token`, { method: 'POST' })).status).toBe(400)
    expect((await routes.request(`${FRONT}/token`, { method: 'POST' })).status).toBe(404)
  })

  it('of several servers is that of each, whose guards accept their own tokens', async () => {
    const second = `${FRONT}/second`
    const world = new World({ resource: [RESOURCE, second] })
    for (const path of ['mcp', 'second']) {
      const response = await world.request(`/.well-known/oauth-protected-resource/${path}`)
      expect(await response.json()).toMatchObject({ resource: `${FRONT}/${path}` })
    }
    const { accessToken } = await world.logIn({ resource: second })
    expect(await world.statusOf(accessToken, world.front.authenticateFor(second))).toBe(200)
    expect(await world.statusOf(accessToken)).toBe(401)
    const first = await world.request('/.well-known/oauth-protected-resource')
    expect(await first.json()).toMatchObject({ resource: RESOURCE })
    expect((await world.request('/.well-known/oauth-protected-resource/third')).status).toBe(404)
    expect(() => world.front.authenticateFor('https://other.example')).toThrow(
      'authenticateFor: expected https://front',
    )
  })
})

describe('clients', () => {
  it.each(['client_secret_basic', 'client_secret_post', undefined])(
    'authenticate with a secret by %s',
    async (method) => {
      const world = new World()
      const registered = await world.register({ token_endpoint_auth_method: method })
      expect(registered.token_endpoint_auth_method).toBe(method ?? 'client_secret_basic')
      const { client_id = '', client_secret = '' } = registered
      const codeOf = async () => (await new Browser(world).logIn(world.authorizeUrl(client_id))).get('code') ?? ''
      expect(await world.redeem(client_id, await codeOf())).toMatchObject({
        status: 401,
        body: { error: 'invalid_client' },
      })
      const wrong = await world.redeem(client_id, await codeOf(), { client_secret: 'wrong' })
      expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="oauth"'])
      expect((await world.redeem(client_id, await codeOf(), { client_secret })).status).toBe(200)
      const authorization = `Basic ${btoa(`${encodeURIComponent(client_id)}:${client_secret}`)}`
      const form = { grant_type: 'authorization_code', code: await codeOf(), code_verifier: 'x'.repeat(43) }
      const { body } = await world.post('/token', form, { authorization })
      expect(body.error_description).toMatch('code_verifier')
    },
  )

  it('may be identified by the URL of their metadata, whose host is shown', async () => {
    const id = 'https://app.example/oauth/client.json'
    const world = new World()
    const document = { client_id: id, client_name: 'Published app', redirect_uris: [CALLBACK] }
    world.documents.set(id, () => Response.json(document))
    const page = await new Browser(world).open(world.authorizeUrl(id))
    expect(page.text).toContain('Published by app.example')
    const end = await new Browser(world).logIn(world.authorizeUrl(id))
    const { status, body } = await world.redeem(id, end.get('code') ?? '')
    expect([status, typeof body.refresh_token]).toEqual([200, 'string'])
    expect(world.requested.filter((url) => url === id)).toHaveLength(1)
  })

  it('may be known in advance, with or without a secret', async () => {
    const known = { clientId: 'desk', name: 'Desk', redirectUris: [CALLBACK], clientSecret: 'secret of the desk' }
    const world = new World({ clients: [known], registration: false, metadataDocuments: false })
    expect((await world.register()).error).toBe('access_denied')
    const before = await new World().register()
    expect((await new Browser(world).open(world.authorizeUrl(before.client_id ?? ''))).status).toBe(400)
    const end = await new Browser(world).logIn(world.authorizeUrl('desk'))
    const { status } = await world.redeem('desk', end.get('code') ?? '', { client_secret: 'secret of the desk' })
    expect(status).toBe(200)
  })

  it('that did not register for refresh tokens get none', async () => {
    const { body } = await new World().logIn({}, { grant_types: undefined })
    expect(body).not.toHaveProperty('refresh_token')
  })
})

describe('scopes and resources', () => {
  it.each([
    [undefined, 'read write'],
    ['read', 'read'],
    ['read unknown', 'read'],
    ['openid profile offline_access', 'read write'],
  ])('requested as %j are granted as %j', async (scope, granted) => {
    const world = new World({ scopes: SCOPES })
    const { accessToken, body } = await world.logIn({ scope })
    expect(body.scope).toBe(granted)
    expect(await world.call(accessToken)).toMatchObject({ scopes: granted.split(' ') })
  })

  it('default to the required ones, which the guard checks and the challenge names', async () => {
    const world = new World({ scopes: SCOPES, requiredScopes: ['read'] })
    expect((await world.logIn()).body.scope).toBe('read')
    const { accessToken } = await world.logIn({ scope: 'write' })
    const refused = (await world.call(accessToken)) as Response
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringMatching(
        /error="insufficient_scope".* scope="write read", resource_metadata="https:\/\/front.example/,
      ),
    ])
  })

  it('need no resource of older clients if there is one server', async () => {
    const { accessToken } = await new World().logIn({ resource: undefined })
    expect(accessToken).not.toBe('')
  })
})

describe('refresh tokens', () => {
  it('are replaced, and the previous one returns the same successor for a moment', async () => {
    const world = new World({ scopes: SCOPES })
    const { clientId, refreshToken } = await world.logIn()
    const first = await world.refresh(clientId, refreshToken, { scope: 'read' })
    expect(first.body.scope).toBe('read')
    const again = await world.refresh(clientId, refreshToken)
    expect(again.body.scope).toBe('read write')
    for (const { body } of [first, again]) {
      expect(await world.statusOf(body.access_token ?? '')).toBe(200)
    }
    // Both successors are of one generation, so using one of them does not make the other a stolen one at once.
    expect((await world.refresh(clientId, first.body.refresh_token ?? '')).status).toBe(200)
    expect((await world.refresh(clientId, again.body.refresh_token ?? '')).status).toBe(200)
  })

  it('are refused when the provider has ended the login, and kept while it is unavailable', async () => {
    const world = new World()
    world.provider.tokens = { expires_in: 0 }
    const { clientId, accessToken, refreshToken } = await world.logIn()
    world.provider.interfere = ({ url }) => (url.endsWith('/token') ? new Response('', { status: 500 }) : undefined)
    const down = await world.refresh(clientId, refreshToken)
    expect([down.status, down.body.error, down.headers.get('retry-after')]).toEqual([
      503,
      'temporarily_unavailable',
      '5',
    ])
    world.provider.interfere = () => undefined
    world.provider.refreshable.clear()
    const ended = await world.refresh(clientId, refreshToken)
    expect([ended.status, ended.body.error]).toEqual([400, 'invalid_grant'])
    expect(await world.statusOf(accessToken)).toBe(401)
  })

  it('end with the login', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const world = new World({ grantTtl: 7_200_000 })
      const { clientId, refreshToken } = await world.logIn()
      vi.setSystemTime(Date.now() + 5_400_000)
      const { body } = await world.refresh(clientId, refreshToken)
      expect(body.expires_in).toBeLessThanOrEqual(1_800)
      vi.setSystemTime(Date.now() + 1_900_000)
      expect((await world.refresh(clientId, body.refresh_token ?? '')).body.error).toBe('invalid_grant')
      expect(await world.statusOf(body.access_token ?? '')).toBe(401)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('revocation', () => {
  it.each(['access', 'refresh'] as const)(
    'of the %s token ends the login, and deletes the tokens of the provider',
    async (kind) => {
      const world = new World()
      const { clientId, accessToken, refreshToken } = await world.logIn()
      const token = kind === 'access' ? accessToken : refreshToken
      expect((await world.post('/revoke', { client_id: clientId, token })).status).toBe(200)
      expect(await world.statusOf(accessToken)).toBe(401)
      expect((await world.refresh(clientId, refreshToken)).body.error).toBe('invalid_grant')
      expect((await world.post('/revoke', { client_id: clientId, token: 'unknown' })).status).toBe(200)
    },
  )
})

describe('problems of the operator', () => {
  it('are named by option', () => {
    const provider = github({ clientId: 'id', clientSecret: 'secret' })
    const secrets = [SECRET] as const
    const front = (options: object) => () => oauthFront({ issuer: FRONT, provider, secrets, ...options })
    expect(front({ issuer: 'http://front.example' })).toThrow('issuer: "http://front.example/" is not HTTPS')
    expect(front({ secrets: ['short'] })).toThrow('secrets: expected one or more random strings, each of at least 32')
    expect(front({ secrets: undefined })).toThrow('secrets: expected one or more')
    expect(front({ provider: undefined })).toThrow('provider: expected the result of entra, google')
    expect(front({ resources: RESOURCE })).toThrow('there is no option "resources"; did you mean "resource"?')
    expect(front({ scopes: { 'a b': '' } })).toThrow('scopes: expected names without spaces')
    expect(front({ scopes: SCOPES, requiredScopes: ['admin'] })).toThrow('requiredScopes: expected names of scopes')
    expect(front({ codeTtl: Number.NaN })).toThrow('oauthFront: codeTtl: expected a number from 0, got NaN')
    const clients = [{ clientId: 'x', name: 'X', redirectUris: ['http://evil.example'] }]
    expect(front({ clients })).toThrow('clients: a redirect URI of x is not HTTPS')
  })

  it('answer 503 while the store is unavailable, and 500 for faults, without details', async () => {
    const world = new World()
    const { clientId, accessToken, refreshToken } = await world.logIn()
    const failing = async () => {
      throw Object.assign(new Error('redis at 10.0.0.1 is down'), { retryable: true })
    }
    world.store.records.get = failing
    expect(await world.statusOf(accessToken)).toBe(503)
    expect((await world.refresh(clientId, refreshToken)).status).toBe(503)
    world.store.records.get = () => {
      throw new TypeError('a fault')
    }
    const fault = await world.refresh(clientId, refreshToken)
    expect([fault.status, fault.body]).toEqual([500, { error: 'server_error', error_description: 'The server failed' }])
    const down = 'redis at 10.0.0.1 is down'
    expect(world.warnings.map(({ message }) => message)).toEqual([down, down, 'a fault'])
  })
})
