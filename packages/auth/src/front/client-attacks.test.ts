import { Hono } from 'hono'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Browser, CALLBACK, CLIENT, FRONT, VERIFIER, World } from './front.fixture.ts'

async function statusOf(world: World, url: string): Promise<number> {
  return (await new Browser(world).open(url)).status
}

describe('redirect URIs', () => {
  it.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'javascript://app.example/%0aalert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'blob:https://app.example/1',
    'file:///etc/passwd',
    'about:blank',
    'ws://app.example/',
    'intent://app.example/#Intent;end',
    'ms-settings:x',
    'smb://evil.example/share',
    'ldap://evil.example/callback',
    'vnc://evil.example/callback',
    'view-source:https://app.example/',
    'c:/windows',
    'http://app.example/callback',
    'http://127.0.0.1.evil.example/callback',
    'http://localhost.evil.example/callback',
    'http://127.0.0.1:3000@evil.example/callback',
    'http://10.0.0.1/callback',
    'http://[::2]/callback',
    'https://user@app.example/callback',
    'https://user:password@app.example/callback',
    'https://app.example\\@evil.example/callback',
    'https://@app.example/callback',
    'https:app.example/callback',
    'https:/app.example/callback',
    'HTTPS://app.example/callback',
    'https://app.example/callback#fragment',
    'https://app.example/callback#',
    'https://app.example/a b',
    'https://app.example/\r\nlocation:https://evil.example',
    'https://app.example/\u0000',
    'https://äpp.example/callback',
    'https://app.example/"><script>',
    'https://app.example/callback?code=chosen',
    'https://app.example/callback?state=chosen',
    'https://app.example/callback?iss=https://evil.example',
    '//evil.example/callback',
    '/callback',
    '',
    `https://app.example/${'x'.repeat(1_024)}`,
  ])('are refused at registration: %j', async (uri) => {
    expect((await new World().register({ redirect_uris: [CALLBACK, uri] })).error).toBe('invalid_redirect_uri')
  })

  it.each([
    [undefined],
    [[]],
    ['https://app.example'],
    [[1]],
    [[CALLBACK, null]],
    [{ length: 1 }],
    [Array(21).fill(CALLBACK)],
  ])('must be a list of at most 20: %j', async (redirect_uris) => {
    expect((await new World().register({ redirect_uris })).error).toBe('invalid_redirect_uri')
  })

  const registered = ['https://app.example/callback', 'http://127.0.0.1:4711/callback?a=1', 'com.example.app:/callback']
  it.each([
    'https://app.example/callback/',
    'https://app.example/callback?x=1',
    'https://app.example/callback/../evil',
    'https://app.example/%63allback',
    'https://app.example/CALLBACK',
    'https://app.example:443/callback',
    'https://app.example:8443/callback',
    'https://app.example./callback',
    'https://APP.example/callback',
    'https://evil.app.example/callback',
    'https://app.example.evil.example/callback',
    'https://evil@app.example/callback',
    'https://app.example/callback#x',
    'https://app.example/callback%00',
    'http://app.example/callback',
    'http://localhost:4711/callback?a=1',
    'http://[::1]:4711/callback?a=1',
    'http://127.0.0.2:4711/callback?a=1',
    'http://127.1:4711/callback?a=1',
    'http://2130706433:4711/callback?a=1',
    'http://127.0.0.1:4711/callback?a=2',
    'http://127.0.0.1:4711/callback',
    'http://127.0.0.1:4711/other?a=1',
    'http://127.0.0.1:4711@evil.example/callback?a=1',
    'http://127.0.0.1:99999/callback?a=1',
    'https://127.0.0.1:4711/callback?a=1',
    'com.example.app:/other',
    'com.example.app://callback',
    'javascript:alert(1)',
  ])('must be the registered ones, so no login leads to %s', async (redirect_uri) => {
    const world = new World()
    const { client_id = '' } = await world.register({ redirect_uris: registered })
    const page = await new Browser(world).open(world.authorizeUrl(client_id, { redirect_uri }))
    expect([page.status, page.location]).toEqual([400, undefined])
    expect(page.text).toContain('redirect_uri: expected one that the client has registered')
  })

  it.each(['http://127.0.0.1:1/callback?a=1', 'http://127.0.0.1/callback?a=1', registered[0]])(
    'match exactly, or with another port of the same loopback address: %s',
    async (redirect_uri) => {
      const world = new World()
      const { client_id = '' } = await world.register({ redirect_uris: registered })
      expect(await statusOf(world, world.authorizeUrl(client_id, { redirect_uri }))).toBe(200)
    },
  )

  it('are needed in each request', async () => {
    const world = new World()
    const { client_id = '' } = await world.register()
    expect(await statusOf(world, world.authorizeUrl(client_id, { redirect_uri: undefined }))).toBe(400)
  })
})

describe('registration', () => {
  it('stores nothing, so that it cannot be flooded', async () => {
    const world = new World()
    const created: string[] = []
    const { create } = world.store.records
    world.store.records.create = (id, ...others) => {
      created.push(id)
      return create(id, ...others)
    }
    const clients = await Promise.all(Array.from({ length: 200 }, () => world.register()))
    expect(new Set(clients.map(({ client_id }) => client_id)).size).toBe(200)
    for (const { client_id = '' } of clients.slice(0, 5)) await statusOf(world, world.authorizeUrl(client_id))
    expect(created).toEqual([])
  })

  it.each([
    [{ token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    [{ token_endpoint_auth_method: ['none'] }, 'invalid_client_metadata'],
    [{ grant_types: ['implicit'] }, 'invalid_client_metadata'],
    [{ grant_types: 'authorization_code' }, 'invalid_client_metadata'],
  ])('refuses %j', async (metadata, error) => {
    expect((await new World().register(metadata)).error).toBe(error)
  })

  it.each([
    ['null', 'application/json', 'invalid_client_metadata'],
    ['[]', 'application/json', 'invalid_client_metadata'],
    ['{', 'application/json', 'invalid_request'],
    [JSON.stringify(CLIENT), 'text/plain', 'invalid_request'],
    [JSON.stringify(CLIENT), 'application/x-www-form-urlencoded', 'invalid_request'],
    [JSON.stringify({ ...CLIENT, client_name: 'x'.repeat(70_000) }), 'application/json', 'invalid_request'],
  ])('refuses the body %.20s as %s', async (body, type, error) => {
    const response = await new World().request('/register', { method: 'POST', headers: { 'content-type': type }, body })
    expect(((await response.json()) as { error: string }).error).toBe(error)
    expect(response.status).toBeGreaterThanOrEqual(400)
  })

  it('ignores members that would give a client more than it may have', async () => {
    const answer = await new World().register({
      client_id: 'admin',
      client_secret: 'chosen',
      verifiedHost: 'x',
      scope: 'admin',
    })
    expect(answer.client_id).not.toBe('admin')
    expect(answer).not.toHaveProperty('client_secret')
    expect(answer).not.toHaveProperty('scope')
  })

  it.each([
    [{ clientSecret: '' }, 'clients: the secret of app'],
    [{ clientSecret: 'short' }, 'clients: the secret of app'],
    [{ redirectUris: [] }, 'clients: app: expected one or more redirect URIs'],
    [{ name: '' }, 'clients: app: expected a name'],
    [{ clientId: '' }, 'clients: expected a client id'],
  ])('of the operator is refused with %j', (change, message) => {
    const client = { clientId: 'app', name: 'App', redirectUris: [CALLBACK], ...change }
    expect(() => new World({ clients: [client] })).toThrow(message)
  })

  it('of the operator is refused with an id that another client has', () => {
    const client = { clientId: 'app', name: 'App', redirectUris: [CALLBACK] }
    expect(() => new World({ clients: [client, { ...client, name: 'Other' }] })).toThrow(
      'clients: app: expected one client',
    )
  })

  it('cannot be forged or changed', async () => {
    const world = new World()
    const { client_id = '' } = await world.register()
    const foreign = await new World({ issuer: 'https://other.example' }).front.routes.request(
      'https://other.example/register',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(CLIENT),
      },
    )
    const other = ((await foreign.json()) as { client_id: string }).client_id
    for (const id of ['client', `${client_id}x`, client_id.slice(0, -2), other, 'x'.repeat(5_001), '__proto__']) {
      const page = await new Browser(world).open(world.authorizeUrl(id))
      expect([page.status, page.location]).toEqual([400, undefined])
    }
  })
})

describe('client id metadata documents', () => {
  const id = 'https://app.example/client.json'
  const document = { client_id: id, client_name: 'App', redirect_uris: [CALLBACK] }

  it.each([
    'http://app.example/client.json',
    'https://127.0.0.1/client.json',
    'https://localhost/client.json',
    'https://app.localhost/client.json',
    'https://10.0.0.1/client.json',
    'https://172.16.0.1/client.json',
    'https://192.168.1.1/client.json',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::1]/client.json',
    'https://[::ffff:169.254.169.254]/client.json',
    'https://[fd00::1]/client.json',
    'https://2130706433/client.json',
    'https://0x7f.1/client.json',
    'https://metadata.google.internal/client.json',
    'https://intranet/client.json',
    'https://user:password@app.example/client.json',
    'https://app.example/client.json#fragment',
    'https://app.example/a/../client.json',
    'https://app.example/%2e%2e/client.json',
    'https://app.example:443/client.json',
    'https://APP.example/client.json',
    'https://app.example/',
    'https://app.example',
  ])('are not requested from %s', async (url) => {
    const world = new World()
    world.documents.set(url, () => Response.json({ ...document, client_id: url }))
    const page = await new Browser(world).open(world.authorizeUrl(url))
    expect([page.status, page.text.includes('<form'), world.requested]).toEqual([400, false, []])
  })

  it('are not requested from a name that leads into a private network', async () => {
    const world = new World({ resolve: async (name) => (name === 'app.example' ? ['93.184.216.34', '10.0.0.1'] : []) })
    world.documents.set(id, () => Response.json(document))
    expect(await statusOf(world, world.authorizeUrl(id))).toBe(400)
    expect(world.requested).toEqual([])
  })

  it('are read in a private network if the operator trusts the origin', async () => {
    const url = 'https://intranet/client.json'
    const world = new World({ trustedOrigins: ['https://intranet'] })
    world.documents.set(url, () => Response.json({ ...document, client_id: url }))
    expect(await statusOf(world, world.authorizeUrl(url))).toBe(200)
  })

  const responses: [string, () => Response | Promise<Response>][] = [
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'https://169.254.169.254/' } })],
    ['an error', () => Response.json(document, { status: 404 })],
    ['HTML', () => new Response('<html></html>')],
    ['a list', () => Response.json([document])],
    ['another client_id', () => Response.json({ ...document, client_id: 'https://good.example/client.json' })],
    ['a client_id with a slash', () => Response.json({ ...document, client_id: `${id}/` })],
    ['a secret', () => Response.json({ ...document, client_secret: 'secret' })],
    ['a secret method', () => Response.json({ ...document, token_endpoint_auth_method: 'client_secret_post' })],
    ['no name', () => Response.json({ ...document, client_name: '\u200b' })],
    ['no redirect URIs', () => Response.json({ ...document, redirect_uris: [] })],
    ['an unsafe redirect URI', () => Response.json({ ...document, redirect_uris: ['javascript:alert(1)'] })],
    ['too much', () => Response.json({ ...document, more: 'x'.repeat(6_000) })],
    [
      'an endless body',
      () => new Response(new ReadableStream({ pull: (sink) => sink.enqueue(new Uint8Array(1_024)) })),
    ],
    ['a failure', () => Promise.reject(new Error('no connection'))],
    ['nothing', () => new Promise<Response>(() => {})],
  ]
  it.each(responses)('are refused with %s', async (_, response) => {
    const world = new World({ timeout: 100 })
    world.documents.set(id, response)
    const page = await new Browser(world).open(world.authorizeUrl(id))
    expect([page.status, page.location, page.text.includes('<form')]).toEqual([400, undefined, false])
    expect(world.requested).toEqual([id])
  })

  it('are requested once for many logins, also if they are refused', async () => {
    const world = new World()
    world.documents.set(id, () => new Response('', { status: 500 }))
    for (let n = 0; n < 5; n++) expect(await statusOf(world, world.authorizeUrl(id))).toBe(400)
    expect(world.requested).toEqual([id])
  })

  it('are requested 20 at once, so that the server is no tool for a flood', async () => {
    const world = new World({ timeout: 200 })
    const urls = Array.from({ length: 30 }, (_, n) => `https://app.example/${n}.json`)
    for (const url of urls) world.documents.set(url, () => new Promise<Response>(() => {}))
    const statuses = await Promise.all(urls.map((url) => statusOf(world, world.authorizeUrl(url))))
    expect([statuses.filter((status) => status === 503).length, world.requested.length]).toEqual([10, 20])
  })

  it('are requested once for many logins at the same time, so that a popular application is not refused', async () => {
    const world = new World()
    world.documents.set(id, async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return Response.json(document)
    })
    const logins = Array.from({ length: 30 }, () => statusOf(world, world.authorizeUrl(id)))
    expect(new Set(await Promise.all(logins))).toEqual(new Set([200]))
    expect(world.requested).toEqual([id])
  })

  it('are requested by each login in Cloudflare Workers, where a request must not wait for another', async () => {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })
    onTestFinished(() => void vi.unstubAllGlobals())
    const world = new World()
    world.documents.set(id, async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return Response.json(document)
    })
    const logins = Array.from({ length: 3 }, () => statusOf(world, world.authorizeUrl(id)))
    expect(await Promise.all(logins)).toEqual([200, 200, 200])
    expect(world.requested).toEqual([id, id, id])
    expect(await statusOf(world, world.authorizeUrl(id))).toBe(200)
    expect(world.requested).toHaveLength(3)
  })

  it('that change during a login change nothing of it', async () => {
    const world = new World()
    world.documents.set(id, () => Response.json(document))
    const other = world.createNode()
    const browser = new Browser(world)
    const page = await browser.open(world.authorizeUrl(id))
    world.documents.set(id, () => Response.json({ ...document, redirect_uris: ['https://evil.example/'] }))
    // The other node has not read the document yet.
    const { location = '' } = await new Browser(world, new Hono().route('/', other.routes)).adopt(browser).decide(page)
    const end = await browser.follow({ ...page, location })
    expect((end as URL).href).toMatch(CALLBACK)
    const code = (end as URL).searchParams.get('code') ?? ''
    expect((await world.redeem(id, code, { redirect_uri: 'https://evil.example/' })).body.error).toBe('invalid_grant')
  })

  it('end with their clients when the operator disables them', async () => {
    const world = new World()
    world.documents.set(id, () => Response.json(document))
    const end = await new Browser(world).logIn(world.authorizeUrl(id))
    const { body } = await world.redeem(id, end.get('code') ?? '')
    const strict = new Hono().route('/', world.createNode({ metadataDocuments: false }).routes)
    const form = { grant_type: 'refresh_token', client_id: id, refresh_token: body.refresh_token ?? '' }
    const response = await strict.request(`${FRONT}/token`, { method: 'POST', body: new URLSearchParams(form) })
    expect([response.status, await response.json()]).toMatchObject([401, { error: 'invalid_client' }])
  })

  it('are not read by the token endpoint', async () => {
    const world = new World()
    const form = { grant_type: 'authorization_code', client_id: id, code: 'x', code_verifier: VERIFIER }
    expect((await world.post('/token', form)).body.error).toBe('invalid_grant')
    expect(world.requested).toEqual([])
  })

  it('are not accepted if they are disabled', async () => {
    const world = new World({ metadataDocuments: false })
    world.documents.set(id, () => Response.json(document))
    expect(await statusOf(world, world.authorizeUrl(id))).toBe(400)
    expect(world.requested).toEqual([])
    const metadata = await world.request('/.well-known/oauth-authorization-server')
    expect(await metadata.json()).toMatchObject({ client_id_metadata_document_supported: false, issuer: FRONT })
  })
})
