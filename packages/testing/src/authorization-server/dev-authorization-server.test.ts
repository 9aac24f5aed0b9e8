import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  jwtVerify,
  SignJWT,
} from 'jose'
import { describe, expect, it } from 'vitest'
import { authorize, createProver, ISSUER, post, REDIRECT, RESOURCE, redeeming } from './client.fixture.ts'
import { devAuthorizationServer } from './dev-authorization-server.ts'
import type { DevAuthorizationServerOptions } from './options.ts'

const clientId = 'app'
const machine = { clientId: 'machine', clientSecret: 'machine secret: %+' }
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`,
})

function serve(options: Partial<DevAuthorizationServerOptions> = {}) {
  const app = { clientId, redirectUris: [REDIRECT, 'http://127.0.0.1:1/back'] }
  return devAuthorizationServer({ issuer: ISSUER, clients: [app, machine], ...options })
}

type Server = ReturnType<typeof serve>

async function login(server: Server, scope = 'mcp') {
  const { code } = await authorize(server, { client_id: clientId, scope })
  return (await post(server, 'token', redeeming(code, { client_id: clientId }))).body
}

describe('the metadata', () => {
  it.each([
    'https://as.example/.well-known/oauth-authorization-server/t',
    'https://as.example/.well-known/openid-configuration/t',
    'https://as.example/t/.well-known/openid-configuration',
  ])('is found at %s, by pages too [S-281, X-112]', async (url) => {
    const server = devAuthorizationServer({ issuer: `${ISSUER}/t` })
    const response = await server.fetch(new Request(url))
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(await response.json()).toMatchObject({
      issuer: 'https://as.example/t',
      token_endpoint: 'https://as.example/t/token',
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    })
  })

  it('is only served for an issuer that is HTTPS, or on this machine [S-279]', () => {
    expect(() => devAuthorizationServer({ issuer: 'http://as.example' })).toThrow(
      'issuer: "http://as.example/" is not HTTPS',
    )
    expect(() => devAuthorizationServer({ issuer: 'http://127.0.0.1:9000' })).not.toThrow()
  })
})

describe('the authorization code flow', () => {
  it('gives a token for the resource that was asked for, and names itself in the response [S-281]', async () => {
    const server = serve()
    const { code, state, iss } = await authorize(server, { client_id: clientId })
    expect({ state, iss }).toEqual({ state: 'xyz', iss: ISSUER })
    const { status, body } = await post(server, 'token', redeeming(code, { client_id: clientId, resource: RESOURCE }))
    expect(status).toBe(200)
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'mcp' })
    const { payload } = await jwtVerify(body.access_token as string, createLocalJWKSet(await server.jwks()), {
      issuer: ISSUER,
      audience: RESOURCE,
      typ: 'at+jwt',
    })
    expect(payload).toMatchObject({ sub: 'dev-user', client_id: clientId, scope: 'mcp' })
  })

  it('takes any port of a loopback redirect, and no other change [S-281]', async () => {
    const server = serve()
    const redirect = (redirect_uri: string) => authorize(server, { client_id: clientId, redirect_uri })
    expect((await redirect('http://127.0.0.1:5555/back')).code).toBeDefined()
    for (const uri of ['http://127.0.0.1:1/other', `${REDIRECT}/`, `${REDIRECT}?a=b`, 'https://evil.example/back']) {
      expect(await redirect(uri)).toMatchObject({ error: 'invalid_request' })
    }
  })

  it.each([
    ['no PKCE', { code_challenge: undefined }, 'invalid_request'],
    ['PKCE without a hash', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['another response', { response_type: 'token' }, 'unsupported_response_type'],
    ['an unknown resource', { resource: 'https://other.example' }, 'invalid_target'],
    ['a resource with a fragment', { resource: `${RESOURCE}#x` }, 'invalid_target'],
    ['an unknown scope', { scope: 'root' }, 'invalid_scope'],
  ])('tells the client about %s, and names itself [S-281]', async (_, form, error) => {
    const server = serve({ resources: [RESOURCE], scopes: ['mcp'] })
    const answer = await authorize(server, { client_id: clientId, ...form })
    expect(answer).toMatchObject({ error, iss: ISSUER, state: 'xyz' })
    expect(answer.code).toBeUndefined()
  })

  it.each([
    ['a wrong verifier', { code_verifier: 'wrong' }, 'invalid_grant'],
    ['another redirect', { redirect_uri: 'https://app.example/other' }, 'invalid_grant'],
    ['another client', { client_id: 'machine', client_secret: machine.clientSecret }, 'unauthorized_client'],
    ['another resource', { resource: 'https://other.example' }, 'invalid_target'],
    ['more scopes', { scope: 'mcp admin' }, 'invalid_scope'],
  ])('refuses a code with %s', async (_, form, error) => {
    const server = serve()
    const { code } = await authorize(server, { client_id: clientId })
    expect((await post(server, 'token', redeeming(code, { client_id: clientId, ...form }))).body).toMatchObject({
      error,
    })
  })

  it('redeems a code once, and ends all that came of it when it comes again [S-281]', async () => {
    const server = serve()
    const { code } = await authorize(server, { client_id: clientId })
    const { status, body } = await post(server, 'token', redeeming(code, { client_id: clientId }))
    expect(status).toBe(200)
    const again = await post(server, 'token', redeeming(code, { client_id: clientId }))
    expect(again.body).toMatchObject({ error: 'invalid_grant' })
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token), client_id: clientId }
    expect((await post(server, 'token', refresh)).body).toMatchObject({ error: 'invalid_grant' })
  })

  it('lets a stand-in for the user deny, or grant less', async () => {
    const denied = await authorize(serve({ consent: () => false }), { client_id: clientId })
    expect(denied).toMatchObject({ error: 'access_denied', iss: ISSUER })
    const body = await login(serve({ consent: ({ scopes }) => scopes.slice(0, 1) }), 'mcp admin')
    expect(body.scope).toBe('mcp')
  })
})

describe('refreshing', () => {
  it('gives a new refresh token each time, and ends the family when an old one comes again [S-281]', async () => {
    const server = serve()
    const refresh = (refresh_token: unknown) =>
      post(server, 'token', { grant_type: 'refresh_token', refresh_token: String(refresh_token), client_id: clientId })
    const first = await login(server)
    const second = (await refresh(first.refresh_token)).body
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect((await refresh(first.refresh_token)).body).toMatchObject({ error: 'invalid_grant' })
    expect((await refresh(second.refresh_token)).body).toMatchObject({ error: 'invalid_grant' })
  })
})

describe('clients', () => {
  const metadata = {
    redirect_uris: ['https://web.example/back'],
    client_name: 'Web',
    token_endpoint_auth_method: 'none',
  }
  const register = async (server: Server, body: object) => {
    const response = await server.fetch(
      new Request(`${ISSUER}/register`, { method: 'POST', body: JSON.stringify(body) }),
    )
    return (await response.json()) as Record<string, string>
  }

  it('register themselves', async () => {
    const server = serve()
    const { client_id } = await register(server, metadata)
    const answer = await authorize(server, { client_id, redirect_uri: 'https://web.example/back' })
    expect(answer.code).toBeDefined()
  })

  it.each([
    ['a web client on this machine', { application_type: 'web', redirect_uris: ['http://localhost/back'] }],
    ['plain HTTP elsewhere', { application_type: 'native', redirect_uris: ['http://web.example/back'] }],
    ['a scheme that runs', { application_type: 'native', redirect_uris: ['javascript:alert(1)'] }],
    ['no redirect at all', { redirect_uris: [] }],
  ])('are not registered with %s', async (_, changed) => {
    expect(await register(serve(), { ...metadata, ...changed })).toMatchObject({ error: 'invalid_redirect_uri' })
  })

  const url = 'https://web.example/client.json'
  const byUrl = (document: object, client_id = url, issuer = ISSUER) => {
    const asked: string[] = []
    const server = serve({
      issuer,
      fetch: async (address) => {
        asked.push(address)
        return Response.json(document)
      },
    })
    const answer = authorize(server, { client_id, redirect_uri: 'https://web.example/back' })
    return answer.then(({ code, error }) => ({ code, error, asked }))
  }

  it('are named by the URL of their metadata [S-281]', async () => {
    const { code, asked } = await byUrl({ ...metadata, client_id: url })
    expect(code).toBeDefined()
    expect(asked).toEqual([url])
  })

  it.each([
    ['is of another client', { ...metadata, client_id: 'https://evil.example/client.json' }],
    ['has no name', { ...metadata, client_id: url, client_name: undefined }],
    ['has a secret', { ...metadata, client_id: url, token_endpoint_auth_method: 'client_secret_basic' }],
    ['leads users to a script', { ...metadata, client_id: url, redirect_uris: ['javascript:alert(1)'] }],
    ['leads users over plain HTTP', { ...metadata, client_id: url, redirect_uris: ['http://web.example/back'] }],
    ['is huge', { ...metadata, client_id: url, filler: 'x'.repeat(10_000) }],
  ])('are refused when the metadata %s', async (_, document) => {
    expect(await byUrl(document)).toMatchObject({ error: 'invalid_client' })
  })

  it.each([
    'http://web.example/client.json',
    'https://web.example',
    'https://127.0.0.1/client.json',
    'https://localhost/client.json',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/client.json',
    'https://[fd00::1]/client.json',
    'https://[::ffff:10.0.0.1]/client.json',
    'https://intranet/client.json',
    'https://0x7f.1/client.json',
    'https://user:pass@web.example/client.json',
  ])('are refused unread at %s [S-281]', async (client_id) => {
    expect(await byUrl({ ...metadata, client_id }, client_id)).toMatchObject({ error: 'invalid_client', asked: [] })
  })
})

describe('client credentials', () => {
  const form = { grant_type: 'client_credentials', resource: RESOURCE, scope: 'mcp' }

  it('are taken as a header and as a form', async () => {
    const server = serve()
    const byHeader = await post(server, 'token', form, basic(machine.clientId, machine.clientSecret))
    const byForm = await post(server, 'token', {
      ...form,
      client_id: machine.clientId,
      client_secret: machine.clientSecret,
    })
    for (const { body } of [byHeader, byForm]) {
      expect(decodeJwt(body.access_token as string)).toMatchObject({ sub: 'machine', aud: RESOURCE, scope: 'mcp' })
    }
  })

  it('are refused when they are wrong, missing, or there twice', async () => {
    const server = serve()
    const wrong = await post(server, 'token', form, basic(machine.clientId, 'wrong'))
    expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    expect((await post(server, 'token', form)).body).toMatchObject({ error: 'invalid_client' })
    const both = { ...form, client_id: machine.clientId, client_secret: machine.clientSecret }
    const twice = await post(server, 'token', both, basic(machine.clientId, machine.clientSecret))
    expect(twice.body).toMatchObject({ error: 'invalid_request' })
  })

  it('can be an assertion that is for this server, and used once', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const server = serve({ clients: [{ clientId: 'signer', jwks: { keys: [await exportJWK(publicKey)] } }] })
    const assert = (aud: string) =>
      new SignJWT({ jti: crypto.randomUUID() })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer('signer')
        .setSubject('signer')
        .setAudience(aud)
        .setExpirationTime('1m')
        .sign(privateKey)
    const ask = async (client_assertion: string) => {
      const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
      return (await post(server, 'token', { ...form, client_assertion, client_assertion_type })).body
    }
    const assertion = await assert(ISSUER)
    expect(await ask(assertion)).toHaveProperty('access_token')
    expect(await ask(assertion)).toMatchObject({ error: 'invalid_client' })
    expect(await ask(await assert('https://other.example'))).toMatchObject({ error: 'invalid_client' })
  })
})

describe('enterprise-managed authorization', () => {
  it('exchanges an ID token for an assertion, and that for a token [S-281]', async () => {
    const provider = serve({ issuer: 'https://idp.example', subject: 'ada' })
    const server = serve({ trusted: [{ issuer: provider.issuer, jwks: await provider.jwks() }] })
    const { id_token } = await login(provider, 'openid')
    const exchanged = await post(provider, 'token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      subject_token: id_token as string,
      audience: ISSUER,
      resource: RESOURCE,
      scope: 'mcp',
      client_id: clientId,
    })
    expect(exchanged.body).toMatchObject({
      token_type: 'N_A',
      issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
    })
    const bring = (assertion: unknown, client = clientId) =>
      post(server, 'token', {
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: String(assertion),
        client_id: client,
      })
    const { body } = await bring(exchanged.body.access_token)
    expect(decodeJwt(body.access_token as string)).toMatchObject({
      sub: 'ada',
      aud: RESOURCE,
      scope: 'mcp',
      iss: ISSUER,
    })
    expect((await bring(exchanged.body.access_token)).body).toMatchObject({ error: 'invalid_grant' })
    expect((await bring(id_token)).body).toMatchObject({ error: 'invalid_grant' })
  })

  it('takes assertions of workloads of a trusted platform only', async () => {
    const platform = serve({ issuer: 'https://platform.example' })
    const trusted = [{ issuer: platform.issuer, jwks: await platform.jwks(), workloads: true }]
    const assertion = await platform.sign({ sub: 'job', aud: `${ISSUER}/token` }, { typ: 'JWT' })
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion,
      resource: RESOURCE,
      scope: 'mcp',
    }
    const { body } = await post(serve({ trusted }), 'token', form)
    expect(decodeJwt(body.access_token as string)).toMatchObject({ sub: 'job', aud: RESOURCE, scope: 'mcp' })
    expect((await post(serve(), 'token', form)).body).toMatchObject({ error: 'invalid_grant' })
  })
})

describe('proofs of possession', () => {
  const proving = { htm: 'POST', htu: `${ISSUER}/token` }
  const form = { grant_type: 'client_credentials', client_id: machine.clientId, client_secret: machine.clientSecret }

  it('bind tokens to their key, and are used once', async () => {
    const server = serve()
    const prover = await createProver()
    const dpop = await prover.prove(proving)
    const { body } = await post(server, 'token', form, { dpop })
    expect(body.token_type).toBe('DPoP')
    const jkt = await calculateJwkThumbprint(prover.jwk)
    expect(decodeJwt(body.access_token as string)).toMatchObject({ cnf: { jkt } })
    expect((await post(server, 'token', form, { dpop })).body).toMatchObject({ error: 'invalid_dpop_proof' })
  })

  it('can be made to hold a nonce', async () => {
    const server = serve({ dpop: 'nonce' })
    const prover = await createProver()
    const first = await post(server, 'token', form, { dpop: await prover.prove(proving) })
    expect(first).toMatchObject({ status: 400, body: { error: 'use_dpop_nonce' } })
    const nonce = first.headers.get('dpop-nonce')
    expect((await post(server, 'token', form, { dpop: await prover.prove({ ...proving, nonce }) })).status).toBe(200)
    server.rotateNonce()
    const stale = await post(server, 'token', form, { dpop: await prover.prove({ ...proving, nonce }) })
    expect(stale.body).toMatchObject({ error: 'use_dpop_nonce' })
  })
})

describe('introspection', () => {
  it('says what a token is good for, to clients that authenticate, until it is revoked', async () => {
    const server = serve({ accessTokens: 'opaque' })
    const { access_token: issued } = await login(server)
    const token = String(issued)
    const ask = (headers = basic(machine.clientId, machine.clientSecret)) =>
      post(server, 'introspect', { token }, headers)
    expect((await ask()).body).toMatchObject({
      active: true,
      sub: 'dev-user',
      aud: RESOURCE,
      scope: 'mcp',
      iss: ISSUER,
    })
    expect((await post(server, 'introspect', { token })).status).toBe(401)
    await post(server, 'revoke', { token, client_id: clientId })
    expect((await ask()).body).toEqual({ active: false })
  })
})
