import { describe, expect, it } from 'vitest'
import { FakeProvider } from './fake-provider.fixture.ts'
import { Browser, FRONT, World } from './front.fixture.ts'
import { auth0, entra, github, google, oidc, okta, type Provider } from './providers.ts'

const app = { clientId: 'the-front', clientSecret: 'the secret of the front' }
const TENANT = '6731de76-14a6-49ae-97bc-6eba6914391e'

/** A world whose provider is at the issuer of a preset. Returns the parameters of the client, and the caller. */
async function logInAt(provider: Provider, prepare: (fake: FakeProvider) => void = () => {}) {
  const fake = new FakeProvider(provider.issuer ?? new URL(provider.endpoints?.authorization ?? '').origin)
  prepare(fake)
  const world = new (class extends World {
    override readonly provider = fake
  })({ provider })
  const { client_id: clientId = '' } = await world.register()
  const browser = new Browser(world)
  const result = Object.fromEntries(await browser.logIn(world.authorizeUrl(clientId)))
  const { body } = await world.redeem(clientId, result.code ?? '')
  const caller = body.access_token === undefined ? undefined : await world.call(body.access_token)
  const [visit = {}] = fake.visits
  return { world, fake, clientId, result, visit, caller, body }
}

describe('entra', () => {
  it('sends scopes with the prefix of their API, and never a resource', async () => {
    const provider = entra({ tenant: TENANT.toUpperCase(), ...app, scopes: ['api://files/read', 'api://files/write'] })
    expect(provider.issuer).toBe(`https://login.microsoftonline.com/${TENANT}/v2.0`)
    const { visit, caller, fake, world } = await logInAt(provider, (each) => {
      each.claims = { oid: 'object-id', tid: TENANT, preferred_username: 'ada@example.com' }
      // Entra refuses the parameter.
      each.interfere = ({ url }, form) =>
        new URL(url).searchParams.has('resource') || form.has('resource')
          ? Response.json({ error: 'invalid_target', error_description: 'AADSTS9010010' }, { status: 400 })
          : undefined
    })
    expect(visit.scope).toBe('openid profile email api://files/read api://files/write offline_access')
    expect(fake.requests[0]).toMatchObject({ client_id: app.clientId, client_secret: app.clientSecret })
    expect(caller).toMatchObject({ subject: 'ada', claims: { oid: 'object-id', tid: TENANT } })
    expect(world.requested).toContain(
      `https://login.microsoftonline.com/${TENANT}/v2.0/.well-known/openid-configuration`,
    )
  })

  it('refuses tenants without an id, and scopes of two APIs, with the reason', () => {
    for (const tenant of ['common', 'organizations', 'contoso.onmicrosoft.com', '']) {
      expect(() => entra({ tenant, ...app })).toThrow(
        `entra: tenant: expected the id of a tenant, a GUID, got "${tenant}"`,
      )
    }
    const scopes = ['User.Read', 'api://files/read']
    expect(() => entra({ tenant: TENANT, ...app, scopes })).toThrow(
      'entra: scopes: expected scopes of one API, got scopes of https://graph.microsoft.com and api://files',
    )
    expect(() => entra({ tenant: TENANT, ...app, scopes: ['User.Read', 'offline_access'] })).not.toThrow()
  })

  it('accepts no user of another tenant', async () => {
    const other = 'https://login.microsoftonline.com/11111111-14a6-49ae-97bc-6eba6914391e/v2.0'
    const { result } = await logInAt(entra({ tenant: TENANT, ...app }), (fake) => {
      fake.claims = { iss: other }
    })
    expect(result.error).toBe('server_error')
  })
})

describe('google', () => {
  it('requests offline access and consent, without which there is no refresh token', async () => {
    const { visit, caller } = await logInAt(
      google({ ...app, scopes: ['https://www.googleapis.com/auth/calendar'] }),
      (fake) => {
        fake.metadata = { scopes_supported: ['openid', 'email', 'profile'] }
      },
    )
    expect(visit).toMatchObject({ access_type: 'offline', prompt: 'consent' })
    expect(visit.scope).toBe('openid profile email https://www.googleapis.com/auth/calendar')
    expect(caller).toMatchObject({ subject: 'ada' })
  })

  it('keeps its refresh token, which is not replaced', async () => {
    const { world, fake, caller } = await logInAt(google(app), (each) => {
      each.tokens = { expires_in: 0 }
    })
    fake.tokens = { refresh_token: undefined, expires_in: 0 }
    const before = fake.requests.length
    for (let n = 0; n < 2; n++) {
      await world.front.upstreamToken({ auth: caller as never })
      fake.refreshable.add('upstream-refresh-2')
    }
    expect(fake.requests.slice(before).map(({ refresh_token }) => refresh_token)).toEqual([
      'upstream-refresh-2',
      'upstream-refresh-2',
    ])
  })

  it('accepts users of the hosted domain only, whatever the user selects', async () => {
    const provider = google({ ...app, hostedDomain: 'example.com' })
    const inside = await logInAt(provider, (fake) => void Object.assign(fake, { claims: { hd: 'example.com' } }))
    expect([inside.visit.hd, 'code' in inside.result]).toEqual(['example.com', true])
    for (const claims of [{}, { hd: 'evil.example' }]) {
      const { result, world } = await logInAt(provider, (fake) => void Object.assign(fake, { claims }))
      expect(result.error).toBe('server_error')
      expect(world.warnings[0]?.message).toContain('the account is not of the hosted domain')
    }
  })
})

describe('github', () => {
  const provider = github({ ...app, scopes: ['repo', 'read:user'] })
  const prepare = (fake: FakeProvider) => {
    // Tokens of OAuth apps do not expire and have no refresh token.
    fake.tokens = {
      expires_in: undefined,
      refresh_token: undefined,
      id_token: undefined,
      token_type: 'bearer',
      scope: 'repo,read:user',
    }
  }

  it('reads the user from its API, whose subject is the number of the account', async () => {
    const { visit, caller, fake, world } = await logInAt(provider, prepare)
    expect(caller).toMatchObject({ subject: '583231', claims: { login: 'ada', id: 583_231 } })
    expect(visit).toMatchObject({ scope: 'repo read:user', code_challenge_method: 'S256' })
    expect(visit).not.toHaveProperty('nonce')
    expect(fake.headers.map((headers) => headers.get('accept'))).toEqual(['application/json', 'application/json'])
    expect(fake.headers.at(-1)?.get('user-agent')).toBe('mcpx')
    expect(world.requested).toContain('https://api.github.com/user')
  })

  it('reports errors that it sends with the status 200', async () => {
    const { result, world } = await logInAt(provider, (fake) => {
      fake.interfere = ({ url }) =>
        url.endsWith('/access_token')
          ? Response.json({ error: 'bad_verification_code', error_description: 'expired' })
          : undefined
    })
    expect(result.error).toBe('server_error')
    expect(world.warnings[0]?.message).toContain('bad_verification_code: expired')
  })

  it('ends the login at the next refresh after the user has revoked the app', async () => {
    const { world, fake, clientId, body } = await logInAt(provider, prepare)
    const first = await world.refresh(clientId, body.refresh_token ?? '')
    expect(first.status).toBe(200)
    fake.interfere = ({ url }) => (url.endsWith('/user') ? new Response('', { status: 500 }) : undefined)
    expect((await world.refresh(clientId, first.body.refresh_token ?? '')).status).toBe(503)
    fake.interfere = () => undefined
    fake.valid.clear()
    expect((await world.refresh(clientId, first.body.refresh_token ?? '')).body.error).toBe('invalid_grant')
    expect(await world.statusOf(first.body.access_token ?? '')).toBe(401)
  })

  it('ignores the parameter iss, because its issuer is not known', async () => {
    const { result } = await logInAt(provider, (fake) => {
      prepare(fake)
      fake.callback = { iss: 'https://github.com/login/oauth' }
    })
    expect(result).toHaveProperty('code')
  })

  it('has other endpoints on an Enterprise Server', () => {
    expect(github({ ...app, host: 'git.example.com' }).endpoints).toEqual({
      authorization: 'https://git.example.com/login/oauth/authorize',
      token: 'https://git.example.com/login/oauth/access_token',
      userInfo: 'https://git.example.com/api/v3/user',
    })
    expect(() => github({ ...app, host: 'https://git.example.com' })).toThrow('github: host: expected a host name')
  })
})

describe('okta', () => {
  it('uses the default authorization server, another one, or that of the organization', async () => {
    const domain = 'example.okta.com'
    expect(okta({ domain, ...app }).issuer).toBe('https://example.okta.com/oauth2/default')
    expect(okta({ domain, ...app, authorizationServer: 'aus1' }).issuer).toBe('https://example.okta.com/oauth2/aus1')
    expect(okta({ domain, ...app, authorizationServer: false }).issuer).toBe('https://example.okta.com')
    const { caller, fake } = await logInAt(okta({ domain, ...app }))
    expect(caller).toMatchObject({ subject: 'ada' })
    expect(fake.headers[0]?.get('authorization')).toMatch(/^Basic /)
    expect(fake.requests[0]).not.toHaveProperty('client_secret')
  })
})

describe('auth0', () => {
  it('has an issuer with a slash, and sends the audience', async () => {
    const provider = auth0({ domain: 'example.eu.auth0.com', ...app, audience: 'https://api.example.com' })
    const { visit, caller, fake } = await logInAt(provider)
    expect(fake.issuer).toBe('https://example.eu.auth0.com/')
    expect([visit.audience, visit.scope]).toEqual(['https://api.example.com', 'openid profile email offline_access'])
    expect(caller).toMatchObject({ subject: 'ada' })
    expect(() => auth0({ domain: 'https://example.eu.auth0.com', ...app })).toThrow(
      'auth0: domain: expected a host name',
    )
  })
})

describe('oidc', () => {
  it('describes a provider by its endpoints', async () => {
    const provider = oidc({
      endpoints: {
        authorization: 'https://login.example/authorize',
        token: 'https://login.example/token',
        userInfo: 'https://login.example/user',
      },
      ...app,
      subject: 'login',
      name: 'Example',
    })
    const { caller, visit } = await logInAt(provider)
    expect(caller).toMatchObject({ subject: 'ada' })
    expect(visit).not.toHaveProperty('scope')
  })

  it('names options that are missing or wrong', () => {
    const issuer = 'https://login.example'
    expect(() => oidc({ ...app })).toThrow('oidc: expected an issuer or endpoints, got neither')
    expect(() => oidc({ issuer: 'http://login.example', ...app })).toThrow(
      'oidc: issuer: "http://login.example/" is not HTTPS',
    )
    expect(() => oidc({ issuer, clientId: 'x', clientSecret: '' })).toThrow(
      'oidc: clientSecret: expected a string, got none',
    )
    expect(() => oidc({ issuer, ...app, scope: 'x' } as never)).toThrow(
      'there is no option "scope"; did you mean "scopes"?',
    )
    expect(() => oidc({ endpoints: { authorization: 'x' }, ...app } as never)).toThrow(
      'oidc: authorization: expected a URL',
    )
  })
})

describe('all providers', () => {
  it.each([entra({ tenant: TENANT, ...app }), google(app), github(app), okta({ domain: 'x.okta.com', ...app })])(
    'send users back to one URL: $name',
    async (provider) => {
      const { visit } = await logInAt(provider)
      expect(visit.redirect_uri).toBe(`${FRONT}/callback`)
    },
  )
})
