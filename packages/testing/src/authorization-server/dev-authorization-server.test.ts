import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  jwtVerify,
  SignJWT,
} from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { authorize, createCodeForm, createProver, ISSUER, post, REDIRECT, RESOURCE } from './client.fixture.ts'
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
  return (await post(server, 'token', createCodeForm(code, { client_id: clientId }))).body
}

describe('the metadata', () => {
  it.each([
    'https://as.example/.well-known/oauth-authorization-server/t',
    'https://as.example/.well-known/openid-configuration/t',
    'https://as.example/t/.well-known/openid-configuration',
  ])('is served at %s, also to web pages [S-281, X-112]', async (url) => {
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

  it('requires an issuer that uses HTTPS or is on this machine [S-279]', () => {
    expect(() => devAuthorizationServer({ issuer: 'http://as.example' })).toThrow(
      'issuer: "http://as.example/" is not HTTPS',
    )
    expect(() => devAuthorizationServer({ issuer: 'http://127.0.0.1:9000' })).not.toThrow()
  })
})

describe('the authorization code flow', () => {
  it('issues a token for the requested resource, and sends its issuer in the response [S-281]', async () => {
    const server = serve()
    const { code, state, iss } = await authorize(server, { client_id: clientId })
    expect({ state, iss }).toEqual({ state: 'xyz', iss: ISSUER })
    const { status, body } = await post(
      server,
      'token',
      createCodeForm(code, { client_id: clientId, resource: RESOURCE }),
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'mcp' })
    const { payload } = await jwtVerify(body.access_token as string, createLocalJWKSet(await server.jwks()), {
      issuer: ISSUER,
      audience: RESOURCE,
      typ: 'at+jwt',
    })
    expect(payload).toMatchObject({ sub: 'dev-user', client_id: clientId, scope: 'mcp' })
  })

  it('accepts any port of a loopback redirect URI, and no other difference [S-281]', async () => {
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
  ])('redirects with an error for %s, and sends its issuer [S-281]', async (_, form, error) => {
    const server = serve({ resources: [RESOURCE], scopes: ['mcp'] })
    const parameters = await authorize(server, { client_id: clientId, ...form })
    expect(parameters).toMatchObject({ error, iss: ISSUER, state: 'xyz' })
    expect(parameters.code).toBeUndefined()
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
    expect((await post(server, 'token', createCodeForm(code, { client_id: clientId, ...form }))).body).toMatchObject({
      error,
    })
  })

  it('accepts a code once, and revokes its tokens when it is used again [S-281]', async () => {
    const server = serve()
    const { code } = await authorize(server, { client_id: clientId })
    const { status, body } = await post(server, 'token', createCodeForm(code, { client_id: clientId }))
    expect(status).toBe(200)
    const again = await post(server, 'token', createCodeForm(code, { client_id: clientId }))
    expect(again.body).toMatchObject({ error: 'invalid_grant' })
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token), client_id: clientId }
    expect((await post(server, 'token', refresh)).body).toMatchObject({ error: 'invalid_grant' })
  })

  it('lets the option consent deny, or grant fewer scopes', async () => {
    const denied = await authorize(serve({ consent: () => false }), { client_id: clientId })
    expect(denied).toMatchObject({ error: 'access_denied', iss: ISSUER })
    const body = await login(serve({ consent: ({ scopes }) => scopes.slice(0, 1) }), 'mcp admin')
    expect(body.scope).toBe('mcp')
  })
})

describe('refresh tokens', () => {
  it('are replaced by each refresh, and all are revoked when an old one is used again [S-281]', async () => {
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

  it('can register themselves', async () => {
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

  it('can be identified by the URL of their metadata [S-281]', async () => {
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

  it('are refused when the metadata URL redirects', async () => {
    const fetch = async () => new Response(null, { status: 302, headers: { location: 'https://web.example/other' } })
    const answer = await authorize(serve({ fetch }), { client_id: url, redirect_uri: 'https://web.example/back' })
    expect(answer).toMatchObject({ error: 'invalid_client' })
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
  ])('are refused without a request to %s [S-281]', async (client_id) => {
    expect(await byUrl({ ...metadata, client_id }, client_id)).toMatchObject({ error: 'invalid_client', asked: [] })
  })
})

describe('client credentials', () => {
  const form = { grant_type: 'client_credentials', resource: RESOURCE, scope: 'mcp' }

  it('are accepted in the header and in the form', async () => {
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

  it('are refused when they are wrong, missing, or sent twice', async () => {
    const server = serve()
    const wrong = await post(server, 'token', form, basic(machine.clientId, 'wrong'))
    expect(wrong).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    expect((await post(server, 'token', form)).body).toMatchObject({ error: 'invalid_client' })
    const both = { ...form, client_id: machine.clientId, client_secret: machine.clientSecret }
    const twice = await post(server, 'token', both, basic(machine.clientId, machine.clientSecret))
    expect(twice.body).toMatchObject({ error: 'invalid_request' })
  })

  it('can be an assertion for this server, which is accepted once', async () => {
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
  it('exchanges an ID token for an assertion, and the assertion for an access token [S-281]', async () => {
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

  it('accepts assertions of workloads of trusted platforms only', async () => {
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

describe('DPoP proofs', () => {
  const proving = { htm: 'POST', htu: `${ISSUER}/token` }
  const form = { grant_type: 'client_credentials', client_id: machine.clientId, client_secret: machine.clientSecret }

  it('bind tokens to their key, and are accepted once', async () => {
    const server = serve()
    const prover = await createProver()
    const dpop = await prover.prove(proving)
    const { body } = await post(server, 'token', form, { dpop })
    expect(body.token_type).toBe('DPoP')
    const jkt = await calculateJwkThumbprint(prover.jwk)
    expect(decodeJwt(body.access_token as string)).toMatchObject({ cnf: { jkt } })
    expect((await post(server, 'token', form, { dpop })).body).toMatchObject({ error: 'invalid_dpop_proof' })
  })

  it.each([
    ['for another method', { htm: 'GET' }, {}],
    ['for another URL', { htu: `${ISSUER}/other` }, {}],
    ['from six minutes ago', { iat: Math.floor(Date.now() / 1000) - 360 }, {}],
    ['from the future', { iat: Math.floor(Date.now() / 1000) + 360 }, {}],
    ['without an id', { jti: undefined }, {}],
    ['of another type', {}, { typ: 'JWT' }],
    ['with the key of somebody else', {}, { jwk: undefined }],
    ['that is too long', { filler: 'x'.repeat(8_192) }, {}],
  ])('are refused when they are %s', async (_, claims, header) => {
    const prover = await createProver()
    const other = 'jwk' in header ? { jwk: (await createProver()).jwk } : header
    const dpop = await prover.prove({ ...proving, ...claims }, other)
    const { status, body } = await post(serve(), 'token', form, { dpop })
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_dpop_proof' })
  })

  it('are required with `dpop: "required"`', async () => {
    const { body } = await post(serve({ dpop: 'required' }), 'token', form)
    expect(body).toMatchObject({ error: 'invalid_dpop_proof' })
  })

  it('must contain the current nonce with `dpop: "nonce"`', async () => {
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

describe('lifetimes', () => {
  afterEach(() => void vi.useRealTimers())

  it('of access tokens and ID tokens are set in milliseconds', async () => {
    const body = await login(serve({ accessTokenTtl: 120_000 }), 'openid')
    expect(body.expires_in).toBe(120)
    for (const token of [body.access_token, body.id_token]) {
      const { exp = 0, iat = 0 } = decodeJwt(String(token))
      expect(exp - iat).toBe(120)
    }
  })

  it.each([
    [59_000, undefined, undefined],
    [61_000, undefined, 'invalid_grant'],
    [1_500, 2_000, undefined],
    [2_500, 2_000, 'invalid_grant'],
  ])('of codes end in time: after %i ms with a limit of %s', async (wait, codeTtl, error) => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const server = serve({ codeTtl })
    const { code } = await authorize(server, { client_id: clientId })
    vi.advanceTimersByTime(wait)
    const { body } = await post(server, 'token', createCodeForm(code, { client_id: clientId }))
    expect(body.error).toBe(error)
  })
})

describe('introspection', () => {
  it('returns the claims of a token to clients that authenticate, until it is revoked', async () => {
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
