import { decodeJwt, decodeProtectedHeader, exportJWK, exportPKCS8, generateKeyPair, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { AuthError } from '../auth-error.ts'
import { clientCredentials, workload } from './client-credentials.ts'
import { enterprise } from './enterprise.ts'
import { oauth } from './oauth.ts'
import { caught, json, World } from './world.fixture.ts'

const bodies = (world: World, path = '/token') =>
  world.to(path).map(({ body }) => Object.fromEntries(new URLSearchParams(body)))

it('requests a token with a secret, and another one when it has expired [X-100, X-101, X-102]', async () => {
  const world = new World({
    token: { expires_in: 0, refresh_token: undefined },
    resource: { scopes_supported: ['a', 'b'] },
  })
  const fetch = clientCredentials({ clientId: 'me', clientSecret: 'hush' })(world.fetch)
  expect((await fetch(world.mcp)).status).toBe(200)
  expect((await fetch(world.mcp)).status).toBe(200)
  const asked = { grant_type: 'client_credentials', resource: world.mcp, scope: 'a b' }
  expect(bodies(world)).toEqual([asked, asked])
  expect(world.to('/token')[0]?.headers.get('authorization')).toBe(`Basic ${btoa('me:hush')}`)
  expect(world.to('/register')).toEqual([])
})

it('encodes only what a form encodes in the Basic header, for servers that do not decode it', async () => {
  const world = new World()
  await clientCredentials({ clientId: 'a-b_c.d*', clientSecret: 'x~-_.*:ü' })(world.fetch)(world.mcp)
  expect(world.to('/token')[0]?.headers.get('authorization')).toBe(`Basic ${btoa('a-b_c.d*:x%7E-_.*%3A%C3%BC')}`)
})

it('accepts null members, a lifetime as a string, and an ID token of any kind in a token response', async () => {
  const token = { expires_in: '3600', scope: null, refresh_token: null, id_token: 'not verified' }
  const world = new World({ token })
  const fetch = clientCredentials({ clientId: 'me', clientSecret: 'hush' })(world.fetch)
  expect([(await fetch(world.mcp)).status, (await fetch(world.mcp)).status]).toEqual([200, 200])
  expect(bodies(world).length).toBe(1)
})

it.each(['PEM', 'JWK', 'CryptoKey'])(
  'authenticates with a private key as %s, with the issuer as audience [X-101, X-103]',
  async (kind) => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    const given = {
      PEM: await exportPKCS8(privateKey),
      JWK: { ...(await exportJWK(privateKey)), kid: 'k1' },
      CryptoKey: privateKey,
    }
    const world = new World()
    const fetch = clientCredentials({ clientId: 'me', privateKey: given[kind as keyof typeof given] })(world.fetch)
    expect((await fetch(world.mcp)).status).toBe(200)
    const [body = {}] = bodies(world)
    expect(body).toMatchObject({ client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' })
    expect(body).not.toHaveProperty('client_id')
    const { payload } = await jwtVerify(body.client_assertion ?? '', publicKey, { audience: 'https://as.example' })
    expect(payload).toMatchObject({ iss: 'me', sub: 'me', jti: expect.any(String) })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60)
    // A server whose clock is behind would refuse it.
    expect(payload).not.toHaveProperty('nbf')
    expect(decodeProtectedHeader(body.client_assertion ?? '').kid).toBe(kind === 'JWK' ? 'k1' : undefined)
  },
)

it('refuses a CryptoKey of another algorithm than the option', async () => {
  const { privateKey } = await generateKeyPair('RS256')
  const world = new World()
  const error = await caught(() => clientCredentials({ clientId: 'me', privateKey })(world.fetch)(world.mcp))
  expect(error).toBeInstanceOf(AuthError)
  expect(error).toMatchObject({ step: 'token', message: expect.stringContaining('is for RS256, not for ES256') })
  expect(world.to('/token')).toEqual([])
  await clientCredentials({ clientId: 'me', privateKey, algorithm: 'RS256' })(world.fetch)(world.mcp)
  expect(decodeProtectedHeader(bodies(world)[0]?.client_assertion ?? '').alg).toBe('RS256')
})

it('names the token endpoint as audience of assertions if the option says so [X-103]', async () => {
  const { privateKey } = await generateKeyPair('ES256')
  const world = new World()
  await clientCredentials({ clientId: 'me', privateKey, assertionAudience: 'token_endpoint' })(world.fetch)(world.mcp)
  expect(decodeJwt(bodies(world)[0]?.client_assertion ?? '').aud).toBe('https://as.example/token')
})

it('does not reveal a key that cannot be used', async () => {
  const world = new World()
  const auth = clientCredentials({
    clientId: 'me',
    privateKey: '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----',
  })
  const error = (await caught(() => auth(world.fetch)(world.mcp))) as Error
  expect(error).toMatchObject({ step: 'token', message: expect.stringMatching(/The private key cannot be used/) })
  expect(`${error.message}${String(error.cause)}`).not.toMatch(/c2VjcmV0/)
})

it.each(['', undefined, 5])('refuses the client id %j by the name of its option', (clientId) => {
  const client = { clientId: clientId as string, clientSecret: 'hush' }
  const identityProvider = { issuer: 'https://sso.example', subjectToken: 't', clientId: 'me' }
  const got = clientId === '' ? '""' : String(clientId)
  const message = `clientId: expected a string that is not empty, got ${got}`
  expect(() => clientCredentials(client)).toThrow(new TypeError(message))
  expect(() => enterprise({ ...client, identityProvider })).toThrow(new TypeError(message))
  const provider = { ...identityProvider, clientId: clientId as string }
  const enter = () => enterprise({ ...client, clientId: 'me', identityProvider: provider })
  expect(enter).toThrow(new TypeError(`identityProvider.${message}`))
  if (clientId !== undefined) expect(() => oauth({ clientId: clientId as string })).toThrow(new TypeError(message))
})

it('requires a secret or a key', () => {
  expect(() => clientCredentials({ clientId: 'me' })).toThrow(/expected a clientSecret or a privateKey/)
})

it('requests more scopes without a user', async () => {
  const world = new World({
    serve: (_, scope) =>
      scope.includes('more')
        ? undefined
        : new Response('', {
            status: 403,
            headers: { 'www-authenticate': 'Bearer error="insufficient_scope", scope="more"' },
          }),
  })
  const fetch = clientCredentials({ clientId: 'me', clientSecret: 'hush', scope: 'some' })(world.fetch)
  expect((await fetch(world.mcp)).status).toBe(200)
  expect(bodies(world).map(({ scope }) => scope)).toEqual(['some', 'some more'])
})

it('refuses an authorization server that does not support the grant', async () => {
  const world = new World({ server: { grant_types_supported: ['authorization_code'] } })
  const error = await caught(() => workload({ assertion: 'x' })(world.fetch)(world.mcp))
  expect(error).toMatchObject({
    step: 'token',
    message: expect.stringMatching(
      /does not support urn:ietf:params:oauth:grant-type:jwt-bearer, only authorization_code/,
    ),
  })
  expect(world.to('/token')).toEqual([])
})

it('exchanges the token of a platform, reads it for each request, and does not repeat a refused one [X-120, X-121]', async () => {
  let count = 0
  const world = new World({ token: { refresh_token: undefined } })
  const seen: unknown[] = []
  const assertion = (context: object) => {
    seen.push(context)
    return `platform-${++count}`
  }
  const fetch = workload({ assertion })(world.fetch)
  expect((await fetch(world.mcp)).status).toBe(200)
  world.valid.clear()
  expect((await fetch(world.mcp)).status).toBe(200)
  expect(bodies(world)).toEqual(
    ['platform-1', 'platform-2'].map((assertion) => ({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion,
      resource: world.mcp,
    })),
  )
  expect(seen[0]).toEqual({ issuer: 'https://as.example', resource: world.mcp })

  const strict = new World({
    on: {
      'https://as.example/token': () =>
        json({ error: 'invalid_grant', error_description: 'platform-token is old' }, 400),
    },
  })
  const error = await caught(() => workload({ assertion: 'platform-token' })(strict.fetch)(strict.mcp))
  expect(error).toMatchObject({ step: 'token', message: expect.stringMatching(/invalid_grant: \[redacted\] is old/) })
  expect(strict.to('/token').length).toBe(1)
})

describe('the token of a platform', () => {
  const tokenFor = (aud?: string | string[]) =>
    `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ sub: 'pod', aud }))}.AA`
  const login = 'https://login.corp.example'
  const evil = () => new World({ issuer: 'https://evil.example' })

  it.each([
    ['another authorization server', login],
    ['several others', [login, 'https://other.example']],
    ['an audience with a similar name', 'https://evil.example.corp.example'],
  ])('for %s is not sent to an authorization server that the server names', async (_, audience) => {
    const world = evil()
    const error = await caught(() => workload({ assertion: tokenFor(audience) })(world.fetch)(world.mcp))
    expect(error).toMatchObject({
      step: 'token',
      message: expect.stringMatching(/not for https:\/\/evil.example.*issuer/),
    })
    expect(world.to('/token')).toEqual([])
  })

  it.each([
    ['the authorization server', 'https://as.example'],
    ['its token endpoint', ['x', 'https://as.example/token']],
    ['the authorization server with a slash', 'https://as.example/'],
    ['no audience', undefined],
  ])('for %s is sent', async (_, audience) => {
    const world = new World()
    expect((await workload({ assertion: () => tokenFor(audience) })(world.fetch)(world.mcp)).status).toBe(200)
  })

  it('for another name is sent to the issuer of the option', async () => {
    const world = new World()
    const options = { assertion: tokenFor('api://exchange'), issuer: world.issuer }
    expect((await workload(options)(world.fetch)(world.mcp)).status).toBe(200)
  })
})

it('exchanges the token of an employee at the identity provider, for an assertion that only one server accepts [X-110, X-111]', async () => {
  const idp = 'https://sso.corp.internal'
  const idJag = {
    access_token: 'id-jag',
    token_type: 'N_A',
    issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
  }
  const world = new World({
    resource: { scopes_supported: ['a'] },
    on: {
      [`${idp}/.well-known/oauth-authorization-server`]: () => json({ issuer: idp, token_endpoint: `${idp}/exchange` }),
      [`${idp}/exchange`]: () => json(idJag),
    },
  })
  const identityProvider = {
    issuer: idp,
    clientId: 'at-idp',
    clientSecret: 'idp-hush',
    subjectToken: async () => 'id-token',
  }
  const fetch = enterprise({ clientId: 'me', clientSecret: 'hush', identityProvider })(world.fetch)
  expect((await fetch(world.mcp)).status).toBe(200)
  expect(bodies(world, '/exchange')).toEqual([
    {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
      audience: 'https://as.example',
      resource: world.mcp,
      scope: 'a',
      subject_token: 'id-token',
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    },
  ])
  const [token] = world.to('/token')
  expect(token?.headers.get('authorization')).toBe(`Basic ${btoa('me:hush')}`)
  expect(bodies(world)[0]).toMatchObject({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: 'id-jag',
  })

  idJag.issued_token_type = 'urn:ietf:params:oauth:token-type:access_token'
  world.valid.clear()
  world.refreshable.clear()
  expect(await caught(() => fetch(world.mcp))).toMatchObject({
    message: expect.stringMatching(/issued a token of type urn:ietf:params:oauth:token-type:access_token instead of/),
  })
})
