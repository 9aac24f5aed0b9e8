import { Hono } from 'hono'
import { EncryptJWT, SignJWT } from 'jose'
import { describe, expect, it, vi } from 'vitest'
import { Browser, CALLBACK, CHALLENGE, FRONT, RESOURCE, SECRET, VERIFIER, World } from './front.fixture.ts'
import { Seals } from './seals.ts'

const SECOND = `${FRONT}/second`

/** A world in which a client has received a code. */
async function codeIn(options: ConstructorParameters<typeof World>[0] = {}, metadata: object = {}) {
  const world = new World(options)
  const registered = await world.register(metadata)
  const { client_id: clientId = '' } = registered
  const end = await new Browser(world).logIn(world.authorizeUrl(clientId))
  return { world, clientId, secret: registered.client_secret ?? '', code: end.get('code') ?? '' }
}

const refusal = ({ status, body }: { status: number; body: Record<string, string> }) => [status, body.error]

describe('authorization codes', () => {
  it('are accepted once; a second use ends the login', async () => {
    const { world, clientId, code } = await codeIn()
    const { body } = await world.redeem(clientId, code)
    expect(await world.statusOf(body.access_token ?? '')).toBe(200)
    expect(refusal(await world.redeem(clientId, code))).toEqual([400, 'invalid_grant'])
    expect(await world.statusOf(body.access_token ?? '')).toBe(401)
    expect(refusal(await world.refresh(clientId, body.refresh_token ?? ''))).toEqual([400, 'invalid_grant'])
  })

  it('are accepted once of two simultaneous requests to two nodes', async () => {
    const { world, clientId, code } = await codeIn()
    const nodes = [world.front.routes, world.createNode().routes]
    let turn = 0
    world.app.fetch = ((request: Request) => nodes[turn++ % 2]?.fetch(request)) as typeof world.app.fetch
    const answers = await Promise.all([world.redeem(clientId, code), world.redeem(clientId, code)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
  })

  it('of another client are refused, and stay valid for their own', async () => {
    const { world, clientId, code } = await codeIn()
    const { client_id: other = '' } = await world.register()
    expect(refusal(await world.redeem(other, code))).toEqual([400, 'invalid_grant'])
    expect((await world.redeem(clientId, code)).status).toBe(200)
  })

  it('of a client with a secret need the secret, and stay valid without it', async () => {
    const { world, clientId, secret, code } = await codeIn({}, { token_endpoint_auth_method: 'client_secret_post' })
    expect(refusal(await world.redeem(clientId, code))).toEqual([401, 'invalid_client'])
    expect((await world.redeem(clientId, code, { client_secret: secret })).status).toBe(200)
  })

  it.each([
    ['another verifier', { code_verifier: 'another-verifier-of-at-least-43-characters-xx' }, 'invalid_grant'],
    ['the challenge as verifier', { code_verifier: CHALLENGE }, 'invalid_grant'],
    ['a short verifier', { code_verifier: 'short' }, 'invalid_grant'],
    ['no verifier', { code_verifier: '' }, 'invalid_request'],
    ['another redirect URI', { redirect_uri: `${CALLBACK}/evil` }, 'invalid_grant'],
    ['another resource', { resource: SECOND }, 'invalid_target'],
    ['an unknown resource', { resource: 'https://other.example' }, 'invalid_target'],
    ['no code', { code: '' }, 'invalid_request'],
    ['a long code', { code: 'x'.repeat(5_000) }, 'invalid_request'],
    ['another grant type', { grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    ['the password grant', { grant_type: 'password', username: 'ada', password: 'x' }, 'unsupported_grant_type'],
    ['no client', { client_id: '' }, 'invalid_client'],
    ['an unknown client', { client_id: 'unknown' }, 'invalid_client'],
    ['a secret of a public client', { client_secret: 'secret' }, 'invalid_client'],
  ])('are refused with %s', async (_, params, error) => {
    const { world, clientId, code } = await codeIn({ resource: [RESOURCE, SECOND] })
    const { body } = await world.redeem(clientId, code, params as Record<string, string>)
    expect(body).toMatchObject({ error, error_description: expect.any(String) })
    expect(body).not.toHaveProperty('access_token')
  })

  it.each([1, 2, 3, 4])('stay valid if the store fails at step %i of their use', async (step) => {
    const { world, clientId, code } = await codeIn()
    world.failStore(step)
    expect(refusal(await world.redeem(clientId, code))).toEqual([503, 'temporarily_unavailable'])
    const { body } = await world.redeem(clientId, code)
    expect(await world.statusOf(body.access_token ?? '')).toBe(200)
    expect((await world.refresh(clientId, body.refresh_token ?? '')).status).toBe(200)
  })

  it('are lost with a wrong verifier, so that a thief has one attempt', async () => {
    const { world, clientId, code } = await codeIn()
    await world.redeem(clientId, code, { code_verifier: 'x'.repeat(43) })
    expect(refusal(await world.redeem(clientId, code))).toEqual([400, 'invalid_grant'])
  })

  it('expire', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const { world, clientId, code } = await codeIn()
      vi.setSystemTime(Date.now() + 61_000)
      expect(refusal(await world.redeem(clientId, code))).toEqual([400, 'invalid_grant'])
    } finally {
      vi.useRealTimers()
    }
  })

  it('are no tokens', async () => {
    const { world, clientId, code } = await codeIn()
    expect(await world.statusOf(code)).toBe(401)
    expect(refusal(await world.refresh(clientId, code))).toEqual([400, 'invalid_grant'])
  })
})

describe('refresh tokens', () => {
  it('end the login when they are used again after the grace period', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const world = new World()
      const { clientId, refreshToken } = await world.logIn()
      const { body } = await world.refresh(clientId, refreshToken)
      vi.setSystemTime(Date.now() + 61_000)
      const replay = await world.refresh(clientId, refreshToken)
      expect(replay.body.error_description).toMatch('it was used before. All tokens of this login were revoked')
      expect(refusal(await world.refresh(clientId, body.refresh_token ?? ''))).toEqual([400, 'invalid_grant'])
      expect(await world.statusOf(body.access_token ?? '')).toBe(401)
    } finally {
      vi.useRealTimers()
    }
  })

  it('do not extend the grace period by being used', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const world = new World()
      const { clientId, refreshToken } = await world.logIn()
      await world.refresh(clientId, refreshToken)
      vi.setSystemTime(Date.now() + 50_000)
      expect((await world.refresh(clientId, refreshToken)).status).toBe(200)
      vi.setSystemTime(Date.now() + 11_000)
      expect(refusal(await world.refresh(clientId, refreshToken))).toEqual([400, 'invalid_grant'])
    } finally {
      vi.useRealTimers()
    }
  })

  it('end the login when the one before the previous one is used, even at once', async () => {
    const world = new World()
    const { clientId, refreshToken } = await world.logIn()
    const second = (await world.refresh(clientId, refreshToken)).body.refresh_token ?? ''
    const third = (await world.refresh(clientId, second)).body.refresh_token ?? ''
    expect(refusal(await world.refresh(clientId, refreshToken))).toEqual([400, 'invalid_grant'])
    expect(refusal(await world.refresh(clientId, third))).toEqual([400, 'invalid_grant'])
  })

  it('end the login at the first second use without a grace period', async () => {
    const world = new World({ refreshGrace: 0 })
    const { clientId, refreshToken } = await world.logIn()
    const next = (await world.refresh(clientId, refreshToken)).body.refresh_token ?? ''
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(refusal(await world.refresh(clientId, refreshToken))).toEqual([400, 'invalid_grant'])
    expect(refusal(await world.refresh(clientId, next))).toEqual([400, 'invalid_grant'])
  })

  it('are rotated once by many simultaneous requests', async () => {
    const world = new World()
    const { clientId, refreshToken } = await world.logIn()
    const answers = await Promise.all(Array.from({ length: 10 }, () => world.refresh(clientId, refreshToken)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    // All successors are of the same generation.
    for (const { body } of answers.slice(0, 2)) {
      expect((await world.refresh(clientId, body.refresh_token ?? '')).status).toBe(200)
    }
  })

  it('need the secret of their client, also to be revoked', async () => {
    const world = new World()
    const metadata = { token_endpoint_auth_method: 'client_secret_post' }
    const { client_id: clientId = '', client_secret: secret = '' } = await world.register(metadata)
    const end = await new Browser(world).logIn(world.authorizeUrl(clientId))
    const { body } = await world.redeem(clientId, end.get('code') ?? '', { client_secret: secret })
    const token = body.refresh_token ?? ''
    for (const client_secret of ['', 'wrong', `${secret}x`]) {
      expect((await world.refresh(clientId, token, { client_secret })).body.error).toBe('invalid_client')
      const revocation = await world.post('/revoke', { token, client_id: clientId, client_secret })
      expect(revocation.body.error).toBe('invalid_client')
    }
    expect(await world.statusOf(body.access_token ?? '')).toBe(200)
    expect((await world.refresh(clientId, token, { client_secret: secret })).status).toBe(200)
  })

  it('are not revived by a refresh at the same time as their revocation, at two nodes', async () => {
    const world = new World()
    const { clientId, accessToken, refreshToken } = await world.logIn()
    const other = new Hono().route('/', world.createNode().routes)
    const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken }
    const refreshing = Array.from({ length: 10 }, async () => {
      const response = await other.request(`${FRONT}/token`, { method: 'POST', body: new URLSearchParams(form) })
      return (await response.json()) as { access_token?: string }
    })
    const revoked = world.post('/revoke', { token: refreshToken, client_id: clientId })
    const tokens = (await Promise.all(refreshing)).map(({ access_token }) => access_token).filter(Boolean)
    expect((await revoked).status).toBe(200)
    for (const token of [accessToken, ...tokens]) expect(await world.statusOf(token as string)).toBe(401)
    expect((await world.refresh(clientId, refreshToken)).body.error).toBe('invalid_grant')
  })

  it('of another client are refused, and end nothing', async () => {
    const world = new World()
    const { clientId, refreshToken } = await world.logIn()
    const { client_id: other = '' } = await world.register()
    expect(refusal(await world.refresh(other, refreshToken))).toEqual([400, 'invalid_grant'])
    await world.post('/revoke', { client_id: other, token: refreshToken })
    expect((await world.refresh(clientId, refreshToken)).status).toBe(200)
  })

  it('give no more than the login: no other scopes, no other server', async () => {
    const world = new World({ scopes: { read: 'Read', write: 'Write' }, resource: [RESOURCE, SECOND] })
    const { clientId, refreshToken } = await world.logIn({ scope: 'read' })
    const more = await world.refresh(clientId, refreshToken, { scope: 'read write' })
    expect(refusal(more)).toEqual([400, 'invalid_scope'])
    const other = await world.refresh(clientId, refreshToken, { resource: SECOND })
    expect(refusal(other)).toEqual([400, 'invalid_target'])
  })
})

describe('access tokens', () => {
  it('are for one server', async () => {
    const world = new World({ resource: [RESOURCE, SECOND] })
    const { accessToken } = await world.logIn()
    const refused = (await world.call(accessToken, world.front.authenticateFor(SECOND))) as Response
    expect([refused.status, await refused.json()]).toEqual([
      401,
      { error: 'invalid_token', error_description: 'the token is for another server' },
    ])
  })

  it('are of one issuer, also if another has the same secrets and store', async () => {
    const world = new World()
    const { clientId, accessToken, refreshToken } = await world.logIn()
    const other = world.createNode({ issuer: 'https://other.example', resource: RESOURCE })
    expect(await world.statusOf(accessToken, other.authenticate)).toBe(401)
    const form = new URLSearchParams({ grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })
    const response = await other.routes.request('https://other.example/token', { method: 'POST', body: form })
    expect(response.status).toBe(401)
  })

  it('expire, are not refresh tokens, and are not accepted in the URL', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const world = new World()
      const { clientId, accessToken, refreshToken } = await world.logIn()
      expect(await world.statusOf(refreshToken)).toBe(401)
      expect(refusal(await world.refresh(clientId, accessToken))).toEqual([400, 'invalid_grant'])
      const inUrl = await world.front.authenticate(new Request(`${RESOURCE}?access_token=${accessToken}`))
      expect((inUrl as Response).status).toBe(400)
      vi.setSystemTime(Date.now() + 3_601_000)
      expect(await world.statusOf(accessToken)).toBe(401)
    } finally {
      vi.useRealTimers()
    }
  })

  it('have only the scopes that the user agreed to, whatever the provider claims', async () => {
    const world = new World({ scopes: { read: 'Read', admin: 'Everything' } })
    world.provider.claims = { scope: 'admin', scp: ['admin'], sid: 'x', client_id: 'admin', iss: world.provider.issuer }
    const { accessToken, clientId } = await world.logIn({ scope: 'read' })
    const caller = await world.call(accessToken)
    if (caller instanceof Response) throw new Error(`expected a caller, got the status ${caller.status}`)
    expect(caller).toMatchObject({ scopes: ['read'], clientId, issuer: FRONT, subject: 'ada' })
    expect(caller.claims).toMatchObject({ iss: FRONT, client_id: clientId })
    expect(caller.claims?.sid).not.toBe('x')
  })

  it('cannot be made or changed by others', async () => {
    const world = new World()
    const { accessToken, clientId } = await world.logIn()
    const parts = accessToken.split('.')
    const encode = (value: object) => btoa(JSON.stringify(value)).replaceAll('=', '')
    const headed = (header: object) => [encode(header), ...parts.slice(1)].join('.')
    const claims = { grant: 'x', scopes: ['admin'] }
    const key = new TextEncoder().encode(SECRET)
    const forged = [
      headed({ alg: 'none' }),
      headed({ alg: 'dir', enc: 'none' }),
      headed({ alg: 'dir', enc: 'A256GCM', kid: '../../etc/passwd' }),
      headed({ alg: 'dir', enc: 'A256GCM', jku: 'https://evil.example/keys' }),
      headed({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' }),
      headed({ alg: 'RSA1_5', enc: 'A256GCM' }),
      headed({ alg: 'PBES2-HS256+A128KW', enc: 'A256GCM', p2c: 2_000_000_000, p2s: 'x' }),
      ...parts.map((_, index) => parts.map((part, at) => (at === index ? `${part}A` : part)).join('.')),
      `${encode({ alg: 'none' })}.${encode({ ...claims, iss: FRONT })}.`,
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(key),
      await new EncryptJWT(claims).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(key.slice(0, 32)),
      await new Seals([SECRET], 'https://other.example').seal('access', claims),
      await new Seals([SECRET], FRONT).seal('refresh', claims),
      clientId,
      'x'.repeat(16_000),
    ]
    for (const token of forged)
      expect([token.slice(0, 20), await world.statusOf(token)]).toEqual([token.slice(0, 20), 401])
  })

  it('of a login whose code was not redeemed do not exist', async () => {
    const { world, code } = await codeIn()
    const seals = new Seals([SECRET], FRONT)
    const reference = await seals.open<{ grant: string }>('code', code)
    expect(await world.statusOf(await seals.seal('access', { grant: reference?.grant, scopes: [] }, 60_000))).toBe(401)
  })

  it('contain and return nothing of the provider', async () => {
    const world = new World()
    const { accessToken, body } = await world.logIn()
    const auth = await world.call(accessToken)
    expect(JSON.stringify([auth, body])).not.toContain('upstream-')
  })
})

describe('requests for tokens', () => {
  const basic = (text: string) => ({ authorization: `Basic ${btoa(text)}` })

  it.each([
    ['two ways to authenticate', { client_id: 'x', client_secret: 'y' }, basic('x:y'), 'invalid_request'],
    ['two client ids', { client_id: 'other' }, basic('x:y'), 'invalid_request'],
    ['a secret in a malformed header', {}, { authorization: 'Basic !' }, 'invalid_client'],
    ['an empty name in the header', {}, basic(':secret'), 'invalid_client'],
    ['a broken escape in the header', {}, basic('%E0%A4%A:x'), 'invalid_client'],
    ['a bearer token', { client_id: 'x' }, { authorization: 'Bearer x' }, 'invalid_client'],
    ['JSON', {}, { 'content-type': 'application/json' }, 'invalid_request'],
    ['a multipart form', {}, { 'content-type': 'multipart/form-data; boundary=x' }, 'invalid_request'],
  ])('are refused with %s', async (_, form, headers, error) => {
    const answer = await new World().post(
      '/token',
      { grant_type: 'authorization_code', ...form } as never,
      headers as never,
    )
    expect(answer.body.error).toBe(error)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('cost no more time in one form than in many, whatever the number of parameters', async () => {
    const world = new World()
    const form = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [n.toString(36), '']))
    async function measure(forms: number, count: number): Promise<number> {
      const times: number[] = []
      for (let n = 0; n < 5; n++) {
        const { user, system } = process.cpuUsage()
        for (let sent = 0; sent < forms; sent++) await world.post('/token', form(count))
        const after = process.cpuUsage()
        times.push(after.user + after.system - user - system)
      }
      return Math.min(...times)
    }
    const [many, one] = [await measure(20, 600), await measure(1, 12_000)]
    expect(one / many).toBeLessThan(3)
  })

  it('for one server give no token for another one', async () => {
    const { world, clientId, code } = await codeIn({ resource: [RESOURCE, SECOND] })
    expect(refusal(await world.redeem(clientId, code, { resource: SECOND }))).toEqual([400, 'invalid_target'])
    expect(refusal(await world.redeem(clientId, code, { resource: RESOURCE }))).toEqual([400, 'invalid_grant'])
  })

  it('are refused with a parameter twice, in the URL, by GET, and over the limit', async () => {
    const { world, clientId, code } = await codeIn()
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: clientId,
      code,
      code_verifier: VERIFIER,
    })
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const twice = await world.request('/token', { method: 'POST', headers: type, body: `${form}&code=x` })
    expect([twice.status, await twice.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'code: expected one value, got several' },
    ])
    const inUrl = await world.request(`/token?${form}`, { method: 'POST', headers: type, body: 'x=1' })
    expect(inUrl.status).toBe(400)
    const get = await world.request(`/token?${form}`)
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
    const large = await world.request('/token', {
      method: 'POST',
      headers: type,
      body: `${form}&x=${'x'.repeat(70_000)}`,
    })
    expect(large.status).toBe(413)
    expect((await world.redeem(clientId, code)).status).toBe(200)
  })

  it('describe errors in the characters that RFC 6749 permits, without values of the request', async () => {
    const body = new URLSearchParams([
      ['"\\ü\n<x>', '1'],
      ['"\\ü\n<x>', '2'],
    ])
    const response = await new World().request('/token', { method: 'POST', body })
    const { error_description: text = '' } = (await response.json()) as Record<string, string>
    expect(text).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    const secret = await new World().post('/token', { grant_type: 'x-secret-value' })
    expect(JSON.stringify(secret.body)).not.toContain('x-secret-value')
  })

  it('may come from pages of any origin, which send no cookies', async () => {
    const response = await new World().request('/token', {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
  })
})
