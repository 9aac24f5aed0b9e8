import { Hono } from 'hono'
import { describe, expect, it, vi } from 'vitest'
import { Browser, CALLBACK, FRONT, type Page, SECRET, sealedRequestOf, World } from './front.fixture.ts'
import { Seals } from './seals.ts'

/** A world with a client, its URL, and the browser of a user. */
async function start(options: ConstructorParameters<typeof World>[0] = {}, metadata: object = {}) {
  const world = new World(options)
  const { client_id: clientId = '' } = await world.register(metadata)
  return { world, clientId, browser: new Browser(world), url: world.authorizeUrl(clientId) }
}

/** Requires a page with an error and no redirect. */
function refused(page: Page, status: number, code: string): void {
  expect([page.status, page.location]).toEqual([status, undefined])
  expect(page.text).toContain(`<small>${code}</small>`)
}

const post = (form: Record<string, string>, headers: Record<string, string> = {}) => ({
  method: 'POST',
  body: new URLSearchParams(form),
  headers: { origin: FRONT, 'sec-fetch-site': 'same-origin', ...headers },
})

describe('confused deputy and consent', () => {
  it('refuses a login at the provider that another browser has consented to', async () => {
    const { world, browser: attacker, url } = await start()
    const { location = '' } = await attacker.decide(await attacker.open(url))
    const victim = new Browser(world)
    // The provider does not ask a user who has used the server before.
    const back = await victim.open((await victim.open(location)).location ?? '')
    refused(back, 403, 'access_denied')
    expect(back.text).toContain('this browser sent no cookie')
    expect(world.provider.requests).toEqual([])
  })

  it('refuses it also if the victim is in the middle of a login of their own', async () => {
    const { world, browser: attacker, url } = await start()
    const { location = '' } = await attacker.decide(await attacker.open(url))
    const victim = new Browser(world)
    await victim.open(url)
    const back = await victim.open((await victim.open(location)).location ?? '')
    refused(back, 403, 'access_denied')
    expect(back.text).toContain('it was started in another browser')
  })

  it('lets nobody else end or use up the login of a browser', async () => {
    const { world, browser, url } = await start()
    const { location = '' } = await browser.decide(await browser.open(url))
    const { location: back = '' } = await browser.open(location)
    await new Browser(world).open(back)
    expect(await browser.follow({ ...(await browser.open(back)) })).toBeInstanceOf(URL)
  })

  it('refuses a consent form that was made for another browser', async () => {
    const { world, browser: attacker, url } = await start()
    const request = sealedRequestOf(await attacker.open(url))
    const victim = new Browser(world)
    refused(await victim.open(`${FRONT}/consent`, post({ request, decision: 'allow' })), 403, 'access_denied')
    await victim.open(url)
    refused(await victim.open(`${FRONT}/consent`, post({ request, decision: 'allow' })), 403, 'access_denied')
    expect(world.provider.visits).toEqual([])
  })

  it.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${FRONT}.evil.example` },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ])('refuses a consent form that another site sends with the cookie of the user: %j', async (headers) => {
    const { browser, url } = await start()
    refused(await browser.decide(await browser.open(url), 'allow', headers as never), 403, 'access_denied')
  })

  it('asks again for each login, so that a server in the middle cannot ride on an earlier consent', async () => {
    const { world, browser, url } = await start()
    await browser.logIn(url)
    expect((await browser.open(url)).text).toContain('<form')
    expect(world.provider.visits).toHaveLength(1)
  })

  it('sets the cookie for this host alone, unreadable for scripts, and not for requests of other sites', async () => {
    const { browser, url } = await start()
    const cookie = (await browser.open(url)).headers.get('set-cookie')
    expect(cookie).toMatch(/^__Host-mcpx-login=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/)
  })

  it('refuses cookies that another host of the domain has added', async () => {
    const { browser, url } = await start()
    const page = await browser.open(url)
    const [own = ''] = browser.cookies.values()
    const tossed = `__Host-mcpx-login=${'A'.repeat(43)}; __Host-mcpx-login=${own}`
    refused(await browser.decide(page, 'allow', { cookie: tossed }), 400, 'invalid_request')
    // A name without the prefix is another cookie.
    refused(await browser.decide(page, 'allow', { cookie: `mcpx-login=${own}` }), 403, 'access_denied')
  })

  it('replaces a cookie that it has not made', async () => {
    const { browser, url } = await start()
    const { headers } = await browser.open(url, { headers: { cookie: '__Host-mcpx-login=chosen-by-an-attacker' } })
    expect(headers.get('set-cookie')).not.toContain('attacker')
  })

  it.each(['none', 'login', 'select_account'])('asks for consent with prompt=%s, too', async (prompt) => {
    const { world, browser, clientId } = await start()
    const page = await browser.open(world.authorizeUrl(clientId, { prompt }))
    expect([page.status, page.location]).toEqual([200, undefined])
    expect(page.text).toContain('<form')
  })

  it('accepts no decision other than the two', async () => {
    const { browser, url } = await start()
    const page = await browser.open(url)
    for (const decision of ['', 'yes', 'allow,deny'])
      refused(await browser.decide(page, decision), 400, 'invalid_request')
  })
})

describe('state and callback', () => {
  it('refuses a callback of an attacker in the browser of a victim (login CSRF)', async () => {
    const { world, browser: attacker, url } = await start()
    const { location = '' } = await attacker.decide(await attacker.open(url))
    const callback = (await attacker.open(location)).location ?? ''
    refused(await new Browser(world).open(callback), 403, 'access_denied')
  })

  it.each(['', 'unknown', '__proto__', 'x'.repeat(5_000)])('refuses an unknown state: %.20s', async (state) => {
    const { browser } = await start()
    refused(await browser.open(`${FRONT}/callback?code=x&state=${state}`), 400, 'invalid_request')
  })

  it('returns no code for a callback with a code and an error', async () => {
    const { world, browser, url } = await start()
    const { location = '' } = await browser.decide(await browser.open(url))
    const { location: back = '' } = await browser.open(location)
    const end = await browser.follow(await browser.open(`${back}&error=access_denied`))
    expect((end as URL).searchParams.get('code')).toBeNull()
    expect((end as URL).searchParams.get('error')).toBe('access_denied')
    expect(world.provider.requests).toEqual([])
  })

  it.each(['HEAD', 'POST', 'PUT', 'OPTIONS'])('finishes no login by %s', async (method) => {
    const { browser, url } = await start()
    const { location = '' } = await browser.decide(await browser.open(url))
    const { location: back = '' } = await browser.open(location)
    expect((await browser.open(back, { method })).location).toBeUndefined()
    expect(await browser.follow(await browser.open(back))).toBeInstanceOf(URL)
  })

  it('accepts a callback once', async () => {
    const { world, browser, url } = await start()
    const { location = '' } = await browser.decide(await browser.open(url))
    const callback = (await browser.open(location)).location ?? ''
    expect((await browser.open(callback)).location).toMatch(CALLBACK)
    refused(await browser.open(callback), 400, 'invalid_request')
    expect(world.provider.requests).toHaveLength(1)
  })

  it.each([1, 2])('tells the client that the store failed at step %i of storing the login', async (step) => {
    const { world, browser, url } = await start()
    const { location = '' } = await browser.decide(await browser.open(url))
    const callback = (await browser.open(location)).location ?? ''
    const before = world.warnings.length
    world.failStore(step, 'create')
    const { searchParams } = new URL((await browser.open(callback)).location ?? '')
    expect([searchParams.get('error'), searchParams.get('code')]).toEqual(['server_error', null])
    expect(world.warnings.slice(before).map(({ message }) => message)).toEqual(['The store is down'])
  })

  it('returns the code although the consent cannot be remembered', async () => {
    const redirect_uri = 'https://app.example/callback'
    const world = new World({ rememberConsent: 60_000 })
    const { client_id = '' } = await world.register({ redirect_uris: [redirect_uri] })
    const browser = new Browser(world)
    const page = await browser.open(world.authorizeUrl(client_id, { redirect_uri }))
    const callback = (await browser.open((await browser.decide(page)).location ?? '')).location ?? ''
    world.failStore(2, 'delete')
    const end = new URL((await browser.open(callback)).location ?? '')
    expect(end.searchParams.get('code')).toBeTruthy()
    expect(world.warnings.map(({ message }) => message)).toEqual(['The store is down'])
  })

  it('redeems one of two simultaneous callbacks', async () => {
    const { world, browser, url } = await start()
    const { location = '' } = await browser.decide(await browser.open(url))
    const callback = (await browser.open(location)).location ?? ''
    const pages = await Promise.all([browser.open(callback), browser.open(callback)])
    expect(pages.map(({ status }) => status).sort()).toEqual([303, 400])
    expect(world.provider.requests).toHaveLength(1)
  })

  it('does not accept the code of another login at the provider (code injection)', async () => {
    const { world, browser: attacker, url } = await start()
    const stolen =
      (await attacker.open((await attacker.decide(await attacker.open(url))).location ?? '')).location ?? ''
    const victim = new Browser(world)
    const own = (await victim.open((await victim.decide(await victim.open(url))).location ?? '')).location ?? ''
    const mixed = new URL(own)
    mixed.searchParams.set('code', new URL(stolen).searchParams.get('code') ?? '')
    const end = new URL((await victim.open(mixed.href)).location ?? '')
    expect([end.searchParams.get('error'), end.searchParams.get('code')]).toEqual(['server_error', null])
  })

  it('is that of one server, also if another shares its store, its origin and its cookies', async () => {
    const { world, url } = await start()
    const other = world.createNode({ issuer: `${FRONT}/other` })
    const browser = new Browser(world, new Hono().route('/', world.front.routes).route('/', other.routes))
    const { location = '' } = await browser.decide(await browser.open(url))
    const callback = new URL((await browser.open(location)).location ?? '')
    callback.pathname = '/other/callback'
    refused(await browser.open(callback.href), 400, 'invalid_request')
  })

  it('forgets a login that takes too long', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const { browser, url } = await start({ loginTtl: 60_000 })
      const page = await browser.open(url)
      const { location = '' } = await browser.decide(page)
      const callback = (await browser.open(location)).location ?? ''
      vi.setSystemTime(Date.now() + 61_000)
      refused(await browser.decide(page), 400, 'invalid_request')
      refused(await browser.open(callback), 400, 'invalid_request')
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('pages', () => {
  it('cannot be framed, run scripts, load anything, or send forms elsewhere', async () => {
    const { world, browser, url } = await start()
    for (const page of [await browser.open(url), await browser.open(`${FRONT}/callback`)]) {
      const policy = page.headers.get('content-security-policy')?.split('; ')
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).toContain("base-uri 'none'")
      expect(policy?.join()).not.toContain('unsafe')
      expect(page.headers.get('x-frame-options')).toBe('DENY')
      expect(page.headers.get('x-content-type-options')).toBe('nosniff')
      expect(page.headers.get('cache-control')).toBe('no-store')
      expect(page.headers.get('referrer-policy')).toBe('same-origin')
      expect(page.headers.get('access-control-allow-origin')).toBeNull()
      expect(page.text).not.toContain('<script')
    }
    expect((await browser.open(`${FRONT}/callback`)).headers.get('content-security-policy')).toContain(
      "form-action 'none'",
    )
    expect(world.warnings).toEqual([])
  })

  it('show names of clients as text', async () => {
    const { browser, url } = await start({}, { client_name: '</h1><script>alert(1)</script><b title="x' })
    const { text } = await browser.open(url)
    expect(text).not.toContain('<script>')
    expect(text).not.toContain('title="x')
    expect(text).toContain('&lt;script&gt;alert(1)')
  })

  it('show names without characters that hide or reorder text, and shortened', async () => {
    const client_name = `Good\u202e\u2066\u200b\u0000\r\n\u00ad client ${'x'.repeat(500)}`
    const { browser, url } = await start({}, { client_name })
    const { text } = await browser.open(url)
    expect(text).not.toMatch(/[\u202e\u2066\u200b\u00ad]/)
    expect(text).not.toContain('x'.repeat(100))
  })

  it.each(['\u3164\u3164', '\u2800', '\u115f\u1160', '\ufe0f', '\u034f', '\u{e0041}', '\u0301'])(
    'show no name that cannot be seen: %j',
    async (client_name) => {
      const { browser, url } = await start({}, { client_name })
      expect((await browser.open(url)).text).toContain('<dt>Application</dt><dd>An application without a name')
    },
  )

  it('show names without marks that cover the text around them', async () => {
    const { browser, url } = await start({}, { client_name: `Good${'\u0336\u20dd\u030d'.repeat(20)} cafe\u0301` })
    const { text } = await browser.open(url)
    expect(text).toContain('Good')
    expect(text).toContain('caf\u00e9')
    expect(text).not.toMatch(/\p{M}{3}/u)
  })

  it('say that a name was chosen by the client itself', async () => {
    const { browser, url } = await start({}, { client_name: 'Published by login.example' })
    expect((await browser.open(url)).text).toContain('It was not verified.')
  })

  it('show descriptions of scopes as text, and no unknown scopes', async () => {
    const { world, browser, clientId } = await start({ scopes: { read: '<i>Read</i>' } })
    const { text } = await browser.open(world.authorizeUrl(clientId, { scope: 'read <script>alert(1)</script>' }))
    expect(text).toContain('&lt;i&gt;Read&lt;/i&gt;')
    expect(text).not.toContain('alert')
  })

  it('repeat no parameter in errors', async () => {
    const { browser } = await start()
    for (const name of ['client_id', 'redirect_uri', 'state', 'code', 'error', 'error_description']) {
      for (const path of ['authorize', 'callback']) {
        const { text } = await browser.open(
          `${FRONT}/${path}?${name}=<script>alert(1)</script>&<img src=x>=1&<img src=x>=2`,
        )
        expect(text).not.toContain('<script>')
        expect(text).not.toContain('<img')
      }
    }
  })

  it('never let a state add parameters to a response', async () => {
    const { world, browser, clientId } = await start()
    const state = 'x&code=chosen&iss=https://evil.example#code=chosen'
    const params = await browser.logIn(world.authorizeUrl(clientId, { state }))
    expect([params.getAll('state'), params.getAll('code').length, params.getAll('iss')]).toEqual([[state], 1, [FRONT]])
  })

  it('never contain line breaks of a client in their headers', async () => {
    const { world, browser, clientId } = await start()
    const url = world.authorizeUrl(clientId, { state: 'x\r\nset-cookie: a=b' })
    const { location } = await browser.decide(await browser.open(url), 'deny')
    expect(new URL(location ?? '').searchParams.get('state')).toBe('x\r\nset-cookie: a=b')
    expect(location).toContain('%0D%0A')
  })
})

describe('authorization requests', () => {
  const broken: [string, Record<string, string | undefined>][] = [
    ['unsupported_response_type', { response_type: 'token' }],
    ['unsupported_response_type', { response_type: 'code id_token' }],
    ['invalid_request', { response_type: undefined }],
    ['invalid_request', { response_mode: 'fragment' }],
    ['invalid_request', { response_mode: 'form_post' }],
    ['invalid_request', { code_challenge: undefined }],
    ['invalid_request', { code_challenge_method: undefined }],
    ['invalid_request', { code_challenge_method: 'plain' }],
    ['invalid_request', { code_challenge_method: 's256' }],
    ['invalid_request', { code_challenge: 'short' }],
    ['invalid_request', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
    ['invalid_request', { request_uri: 'https://evil.example/request' }],
    ['invalid_target', { resource: 'https://other.example/mcp' }],
    ['invalid_target', { resource: `${FRONT}/mcp/../admin` }],
    ['invalid_target', { resource: `${FRONT}/MCP` }],
    ['invalid_target', { resource: FRONT }],
    ['invalid_scope', { scope: 'admin' }],
    ['invalid_request', { state: 'x'.repeat(4_097) }],
    ['invalid_request', { scope: 'x'.repeat(4_097) }],
  ]
  it.each(broken)('are refused on a page, not by a redirect: %s %j', async (code, params) => {
    // Otherwise everybody who registers a client gets a redirector at this origin.
    const redirect_uri = 'https://evil.example/phish'
    const { world, browser, clientId } = await start({ scopes: { read: 'Read' } }, { redirect_uris: [redirect_uri] })
    refused(await browser.open(world.authorizeUrl(clientId, { redirect_uri, ...params })), 400, code)
  })

  it('must name one of several servers', async () => {
    const { world, browser, clientId } = await start({ resource: [`${FRONT}/mcp`, `${FRONT}/second`] })
    refused(await browser.open(world.authorizeUrl(clientId, { resource: undefined })), 400, 'invalid_target')
  })

  it.each(['client_id', 'redirect_uri', 'state', 'scope', 'code_challenge', 'resource', 'response_type'])(
    'are refused with %s twice',
    async (name) => {
      const { browser, url } = await start()
      const value = new URL(url).searchParams.get(name) ?? 'x'
      refused(await browser.open(`${url}&${name}=x&${name}=${encodeURIComponent(value)}`), 400, 'invalid_request')
    },
  )

  it('are limited in number, so that nobody can fill the store', async () => {
    const { world, browser, url } = await start({ maxLogins: 3 })
    const page = await browser.open(url)
    for (let n = 0; n < 3; n++) expect((await browser.decide(page)).status).toBe(303)
    const last = await browser.decide(page)
    refused(last, 503, 'temporarily_unavailable')
    expect(last.headers.get('retry-after')).toBe('5')
    expect(world.warnings[0]?.message).toBe('maxLogins: more than 3 logins began within 600000 ms')
  })
})

describe('the form', () => {
  it('is refused if it was changed, sealed for another purpose, or by another server', async () => {
    const { clientId, browser, url } = await start()
    const page = await browser.open(url)
    const sealed = sealedRequestOf(page)
    const browserId = { browser: 'any', redirectUri: 'https://evil.example' }
    const others = [
      `${sealed.slice(0, -4)}AAAA`,
      `${sealed}.x`,
      sealed.replace(/^[^.]+/, btoa('{"alg":"none"}').replaceAll('=', '')),
      clientId,
      await new Seals([SECRET], 'https://other.example').seal('consent', browserId, 60_000),
      await new Seals(['x'.repeat(32)], FRONT).seal('consent', browserId, 60_000),
      'x'.repeat(65_000),
    ]
    for (const request of others) {
      refused(await browser.open(`${FRONT}/consent`, post({ request, decision: 'allow' })), 400, 'invalid_request')
    }
  })

  it.each([
    ['GET', 'consent', undefined, 405],
    ['PUT', 'consent', undefined, 405],
    ['POST', 'authorize', undefined, 405],
    ['POST', 'callback', undefined, 405],
    ['POST', 'consent', 'text/plain', 400],
    ['POST', 'consent', 'application/json', 400],
    ['POST', 'consent', 'multipart/form-data; boundary=x', 400],
  ])('is refused by %s at /%s with content type %s', async (method, path, type, status) => {
    const { browser, url } = await start()
    const request = sealedRequestOf(await browser.open(url))
    const headers = { origin: FRONT, ...(type !== undefined && { 'content-type': type }) }
    const body = method === 'GET' ? undefined : new URLSearchParams({ request, decision: 'allow' }).toString()
    const page = await browser.open(`${FRONT}/${path}`, { method, headers, ...(body !== undefined && { body }) })
    refused(page, status, 'invalid_request')
  })

  it('is refused with a field twice, or over the size limit', async () => {
    const { browser, url } = await start()
    const request = sealedRequestOf(await browser.open(url))
    const send = (body: string) =>
      browser.open(`${FRONT}/consent`, {
        ...post({}),
        body,
        headers: { ...post({}).headers, 'content-type': 'application/x-www-form-urlencoded' },
      })
    refused(await send(`request=${request}&decision=deny&decision=allow`), 400, 'invalid_request')
    refused(await send(`request=${'x'.repeat(70_000)}`), 413, 'invalid_request')
  })
})
