import { describe, expect, it } from 'vitest'
import { clientCredentials, workload } from './client-credentials.ts'
import { enterprise } from './enterprise.ts'
import { type OAuthOptions, oauth } from './oauth.ts'
import { caught, json, to, visits, World, type WorldOptions } from './world.fixture.ts'

/** An authorization server that refuses the parameter `resource`, or any value of it but one. */
function refusing(accepted?: string, options: WorldOptions = {}): World {
  const world = new World(options)
  world.interfere = (request, body) => {
    const { searchParams, pathname } = new URL(request.url)
    const resource = searchParams.get('resource') ?? body.get('resource')
    if (resource === (accepted ?? null) || !['/authorize', '/token', '/exchange'].includes(pathname)) return undefined
    const description = "AADSTS901002: The 'resource' request parameter is not supported."
    if (pathname !== '/authorize') return json({ error: 'invalid_target', error_description: description }, 400)
    const back = new URL(searchParams.get('redirect_uri') ?? '')
    const params = { error: 'invalid_target', state: searchParams.get('state') ?? '', iss: world.issuer }
    return to(`${back}?${new URLSearchParams(params)}`)
  }
  return world
}

/** The parameter `resource` of each request to the authorization server. */
const resources = (world: World) => [
  ...visits(world).map(({ resource }) => resource),
  ...world.to('/token').map(({ body }) => new URLSearchParams(body).get('resource') ?? undefined),
]

async function logInTwice(world: World, options: Partial<OAuthOptions>): Promise<void> {
  const fetch = oauth({ redirect: world.redirect, ...options })(world.fetch)
  expect((await fetch(world.mcp)).status).toBe(200)
  world.valid.clear()
  expect((await fetch(world.mcp)).status).toBe(200)
  expect(world.logins).toBe(1)
}

describe('the option resource', () => {
  it('is needed for an authorization server that refuses the parameter, and the error says so', async () => {
    const world = refusing()
    const error = await caught(() => oauth({ redirect: world.redirect })(world.fetch)(world.mcp))
    expect(error).toMatchObject({ step: 'authorization', message: expect.stringContaining('resource: false') })
    const machine = refusing()
    const auth = clientCredentials({ clientId: 'me', clientSecret: 'hush' })
    expect(await caught(() => auth(machine.fetch)(machine.mcp))).toMatchObject({
      step: 'token',
      message: expect.stringContaining('resource: false'),
    })
  })

  it('false sends no resource, neither with a login nor with a refresh', async () => {
    const world = refusing()
    await logInTwice(world, { resource: false })
    expect(resources(world)).toEqual([undefined, undefined, undefined])
  })

  it('a string replaces the resource in every request', async () => {
    const world = refusing('api://files')
    await logInTwice(world, { resource: 'api://files' })
    expect(resources(world)).toEqual(['api://files', 'api://files', 'api://files'])
  })

  it.each([
    ['clientCredentials', () => clientCredentials({ clientId: 'me', clientSecret: 'hush', resource: false })],
    ['workload', () => workload({ assertion: 'platform', resource: false })],
  ])('applies to %s', async (_, create) => {
    const world = refusing()
    expect((await create()(world.fetch)(world.mcp)).status).toBe(200)
  })

  it('applies to the token exchange at an identity provider', async () => {
    const idp = 'https://sso.example'
    const token = { access_token: 'x', token_type: 'N_A', issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag' }
    const world = refusing('api://files', {
      on: {
        [`${idp}/.well-known/oauth-authorization-server`]: () =>
          json({ issuer: idp, token_endpoint: `${idp}/exchange` }),
        [`${idp}/exchange`]: () => json(token),
      },
    })
    const identityProvider = { issuer: idp, clientId: 'me', subjectToken: 'id-token' }
    const auth = enterprise({ clientId: 'me', clientSecret: 'hush', identityProvider, resource: 'api://files' })
    expect((await auth(world.fetch)(world.mcp)).status).toBe(200)
  })

  it.each(['', 'files', 'https://files.example/#part'])('refuses %j', (resource) => {
    expect(() => oauth({ resource })).toThrow(/^resource: expected false or an absolute URI without a fragment/)
  })
})
