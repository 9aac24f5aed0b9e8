import { describe, expect, it } from 'vitest'
import { Browser, World } from './front.fixture.ts'
import { oidc } from './providers.ts'

/** The response to the client after a login at the provider. */
async function outcome(world: World) {
  const { client_id = '' } = await world.register()
  return Object.fromEntries(await new Browser(world).logIn(world.authorizeUrl(client_id)))
}

const failed = { error: 'server_error', state: 'state of the client', iss: 'https://front.example' }

describe('the response of the provider', () => {
  it.each([
    ['the issuer of another provider', { iss: 'https://evil.example' }, {}],
    ['an issuer with a slash', { iss: 'https://login.example/' }, {}],
    ['no issuer although it is announced', {}, { authorization_response_iss_parameter_supported: true }],
    ['no code', { code: null }, {}],
    ['an empty code', { code: '' }, {}],
    ['an access token', { response: 'eyJhbGciOiJub25lIn0.e30.' }, {}],
  ])('is refused with %s, before its code is used', async (_, callback, metadata) => {
    const world = new World()
    world.provider.callback = callback as never
    world.provider.metadata = metadata
    expect(await outcome(world)).toMatchObject(failed)
    expect(world.provider.requests).toEqual([])
    expect(world.warnings).toHaveLength(1)
  })

  it('is accepted with its issuer', async () => {
    const world = new World()
    world.provider.callback = { iss: 'https://login.example' }
    world.provider.metadata = { authorization_response_iss_parameter_supported: true }
    expect(await outcome(world)).toHaveProperty('code')
  })

  it('is refused with several codes', async () => {
    const world = new World()
    const { client_id = '' } = await world.register()
    const browser = new Browser(world)
    const { location = '' } = await browser.decide(await browser.open(world.authorizeUrl(client_id)))
    const callback = (await browser.open(location)).location ?? ''
    const page = await browser.open(`${callback}&code=other`)
    expect([page.status, page.location, world.provider.requests]).toEqual([400, undefined, []])
  })

  it.each([
    ['access_denied', 'access_denied'],
    ['login_required', 'server_error'],
    ['<script>alert(1)</script>', 'server_error'],
  ])('tells the client of an error %s as %s, in words of this server', async (error, told) => {
    const world = new World()
    world.provider.callback = {
      code: null,
      error,
      error_description: '<img src=x> call +1 555',
      error_uri: 'https://evil.example',
    }
    const result = await outcome(world)
    expect(result).toMatchObject({ ...failed, error: told })
    expect(JSON.stringify(result)).not.toMatch(/<|img|555|evil/)
    expect(world.warnings).toHaveLength(1)
  })
})

describe('the ID token', () => {
  it.each([
    ['the nonce of another login', { nonce: 'another' }],
    ['no nonce', { nonce: undefined }],
    ['another audience', { aud: 'another-client' }],
    ['several audiences', { aud: ['the-front', 'another-client'] }],
    ['another authorized party', { azp: 'another-client' }],
    ['another issuer', { iss: 'https://evil.example' }],
    ['an expiry in the past', { exp: 1 }],
    ['no expiry', { exp: undefined }],
    ['a start in the future', { iat: 99_999_999_999 }],
    ['no subject', { sub: undefined }],
    ['an empty subject', { sub: '' }],
    ['claims that are too large', { groups: Array(5_000).fill('group') }],
    ['a subject that is an object', { sub: { $ne: null } }],
  ])('is refused with %s', async (_, claims) => {
    const world = new World()
    world.provider.claims = claims
    expect(await outcome(world)).toMatchObject(failed)
    expect(world.warnings[0]?.message).toMatch('verification: The user could not be identified')
  })

  it.each([
    ['without a signature', `${btoa('{"alg":"none"}')}.${btoa('{"sub":"admin"}')}.`.replaceAll('=', '')],
    ['of another key', 'eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSJ9.eyJzdWIiOiJhZG1pbiJ9.AAAA'],
    ['that is none', 'x'],
    ['that is missing', undefined],
    ['that is a number', 1],
  ])('is refused %s', async (_, id_token) => {
    const world = new World()
    world.provider.tokens = { id_token }
    expect(await outcome(world)).toMatchObject(failed)
  })

  it('of an earlier login is refused (nonce replay)', async () => {
    const world = new World()
    expect(await outcome(world)).toHaveProperty('code')
    const nonce = world.provider.visits[0]?.nonce ?? ''
    world.provider.tokens = { id_token: await world.provider.idToken(nonce) }
    expect(await outcome(world)).toMatchObject(failed)
  })
})

describe('a provider that misbehaves', () => {
  const token = (respond: () => Response | Promise<Response>) => {
    const world = new World({ timeout: 200 })
    world.provider.interfere = ({ url }) => (url.endsWith('/token') ? respond() : undefined)
    return world
  }

  it.each([
    [
      'redirects the request for tokens',
      () => new Response(null, { status: 307, headers: { location: 'https://evil.example/token' } }),
    ],
    ['sends too much', () => new Response('x'.repeat(300_000))],
    ['sends no JSON', () => new Response('<html>')],
    [
      'sends an error',
      () => Response.json({ error: 'invalid_client', error_description: 'secret details' }, { status: 401 }),
    ],
    ['sends an error as success', () => Response.json({ error: 'bad_verification_code' })],
    ['sends tokens that are not strings', () => Response.json({ access_token: {}, token_type: 'Bearer' })],
    ['never responds', () => new Promise<Response>(() => {})],
  ])('ends the login if it %s', async (_, respond) => {
    const world = token(respond)
    expect(await outcome(world)).toMatchObject(failed)
    expect(world.requested.some((url) => url.includes('evil'))).toBe(false)
    expect(String(world.warnings[0])).not.toContain(world.provider.clientSecret)
  })

  it.each([
    ['of another issuer', { issuer: 'https://evil.example' }],
    ['with an endpoint over plain HTTP', { authorization_endpoint: 'http://login.example/authorize' }],
    ['with a script as endpoint', { authorization_endpoint: 'javascript:alert(1)' }],
    ['without endpoints', { token_endpoint: undefined }],
  ])('is unavailable with metadata %s', async (_, metadata) => {
    const world = new World()
    world.provider.metadata = metadata
    const { client_id = '' } = await world.register()
    const browser = new Browser(world)
    const page = await browser.decide(await browser.open(world.authorizeUrl(client_id)))
    expect([page.status, page.location]).toEqual([503, undefined])
    expect(page.text).toContain('login.example is unavailable')
    expect(world.warnings[0]?.message).toMatch('The metadata of the provider cannot be used')
  })

  it('gets PKCE, a nonce and a state of this server, and parameters that cannot be replaced', async () => {
    const { clientId, clientSecret, issuer } = new World().provider
    const authorizationParams = { state: 'chosen', nonce: 'chosen', code_challenge_method: 'plain', login_hint: 'ada' }
    const world = new World({ provider: oidc({ issuer, clientId, clientSecret, authorizationParams }) })
    expect(await outcome(world)).toHaveProperty('code')
    const [visit = {}] = world.provider.visits
    expect(visit).toMatchObject({ code_challenge_method: 'S256', login_hint: 'ada', client_id: clientId })
    for (const name of ['state', 'nonce', 'code_challenge']) expect(visit[name]).toMatch(/^[\w-]{43}$/)
    expect(Object.keys(visit)).not.toContain('resource')
  })
})
