import { describe, expect, it, vi } from 'vitest'
import { tokenHash } from '../dpop-proof.ts'
import type { Fetch } from '../json-document.ts'
import { apiKeys } from './api-keys.ts'
import { bearer } from './bearer.ts'
import { firstOf } from './first-of.ts'
import { protectedResourceMetadata } from './metadata.ts'
import { createHolder, createStage, ISSUER, RESOURCE } from './stage.fixture.ts'

const METADATA = 'https://mcp.example/.well-known/oauth-protected-resource'

describe('scopes', () => {
  it('that any request needs are asked for with what is held already, in one challenge [S-274]', async () => {
    const stage = createStage({ scopes: ['mcp', 'files'] })
    const { status, reason, challenge } = await stage.bring(await stage.token({ scope: 'mcp profile offline_access' }))
    expect([status, reason]).toEqual([403, 'scope'])
    expect(challenge).toBe(
      'Bearer error="insufficient_scope", error_description="the token lacks scopes that any request needs here", ' +
        `scope="mcp profile files", resource_metadata="${METADATA}/mcp"`,
    )
  })

  it('hold others, over any number of steps, also in circles [S-275]', async () => {
    const implies = { admin: ['write'], write: ['read'], read: ['write'] }
    const stage = createStage({ scopes: ['read'], implies })
    const { auth } = await stage.bring(await stage.token({ scope: 'admin' }))
    expect(auth?.scopes).toEqual(['admin', 'write', 'read'])
    const byRule = createStage({
      scopes: ['files.read'],
      implies: (scope) => (scope === 'files' ? ['files.read'] : []),
    })
    expect((await byRule.bring(await byRule.token({ scope: 'files' }))).status).toBe(200)
    expect((await byRule.bring(await byRule.token({ scope: 'other' }))).status).toBe(403)
    expect((await stage.bring(await stage.token({ scope: 'constructor __proto__' }))).status).toBe(403)
  })

  it('that a request needs besides are asked for in the fewest words [S-274, S-275, S-277]', async () => {
    const stage = createStage({ scopes: ['read'], implies: { admin: ['read', 'write'], write: ['read'] } })
    const refuse = async (scope: string, requiredScopes: string[]) => {
      const { auth } = await stage.bring(await stage.token({ scope }))
      const response = stage.guard.refuse(new Request(RESOURCE), { auth, requiredScopes })
      return [response.status, /scope="([^"]*)"/.exec(response.headers.get('www-authenticate') ?? '')?.[1]]
    }
    expect(await refuse('read', ['write'])).toEqual([403, 'write'])
    expect(await refuse('write profile', ['admin'])).toEqual([403, 'profile admin'])
    expect(await refuse('read', ['other', 'offline_access'])).toEqual([403, 'read other'])
  })

  it('of a token that lists thousands cost no time that others would miss, and make no endless header', async () => {
    const stage = createStage({ scopes: ['admin'], implies: (scope) => (scope === 'admin' ? ['read'] : []) })
    const token = await stage.token({ scope: Array.from({ length: 2_000 }, (_, index) => `s${index}`).join(' ') })
    const begun = performance.now()
    const { reason, challenge } = await stage.bring(token)
    expect(performance.now() - begun).toBeLessThan(400)
    expect(reason).toBe('scope')
    expect(challenge.length).toBeLessThan(5_000)
    expect(challenge).toMatch(/scope="[^"]*\badmin"/)
  })

  it('are asked for with 401 where nobody is known', () => {
    const { guard } = createStage({ scopes: ['mcp'] })
    const response = guard.refuse(new Request(RESOURCE), { auth: undefined, requiredScopes: ['files'] })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe(
      `Bearer scope="mcp files", resource_metadata="${METADATA}/mcp"`,
    )
  })

  it.each([
    ['a text', { scope: ' a  b ' }],
    ['a list', { scope: ['a', 7, 'b'] }],
    ['another name', { scope: undefined, scp: 'a b' }],
  ])('are read from %s', async (_, claims) => {
    const stage = createStage()
    expect((await stage.bring(await stage.token(claims))).auth?.scopes).toEqual(['a', 'b'])
  })

  it('are found elsewhere by a function', async () => {
    const stage = createStage({ scopesIn: ({ permissions }) => permissions as string[] })
    expect((await stage.bring(await stage.token({ permissions: ['x'] }))).auth?.scopes).toEqual(['x'])
  })

  it('that would break the header are left out of it', () => {
    const { guard } = createStage()
    const requiredScopes = ['a"b', 'c\\d', 'e f', 'ok', 'ü', '\r\nx: y']
    const response = guard.refuse(new Request(RESOURCE), { auth: undefined, requiredScopes })
    expect(response.headers.get('www-authenticate')).toContain('scope="ok"')
  })
})

describe('the audience', () => {
  it('may be an origin, with or without its slash', async () => {
    for (const audience of ['https://mcp.example', 'https://mcp.example/']) {
      const stage = createStage({ audience })
      for (const aud of ['https://mcp.example', 'https://mcp.example/', ['x', 'https://mcp.example']]) {
        expect((await stage.bring(await stage.token({ aud }))).status).toBe(200)
      }
      expect((await stage.bring(await stage.token({ aud: 'https://mcp.example/mcp' }))).reason).toBe('audience')
      expect((await stage.knock()).challenge).toContain(`resource_metadata="${METADATA}"`)
    }
  })

  it('may have other names besides its URL', async () => {
    const stage = createStage({ audience: [RESOURCE, 'api://mcp'] })
    expect((await stage.bring(await stage.token({ aud: 'api://mcp' }))).status).toBe(200)
  })
})

describe('the metadata', () => {
  const { guard } = createStage({ scopes: ['mcp'], metadata: { name: 'Files', more: { x: 1 } } })

  it.each([`${METADATA}/mcp`, METADATA])('is at %s, for everybody [S-271, S-277, S-282]', async (url) => {
    const response = guard.metadata(new Request(url))
    expect(response?.headers.get('access-control-allow-origin')).toBe('*')
    expect(await response?.json()).toEqual({
      resource: RESOURCE,
      authorization_servers: [ISSUER],
      scopes_supported: ['mcp'],
      bearer_methods_supported: ['header'],
      resource_name: 'Files',
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
      x: 1,
    })
  })

  it('lets pages ask first, and answers nothing else', () => {
    expect(guard.metadata(new Request(METADATA, { method: 'OPTIONS' }))?.status).toBe(204)
    for (const url of [`${METADATA}/other`, RESOURCE, `${RESOURCE}?x=/.well-known/oauth-protected-resource`]) {
      expect(guard.metadata(new Request(url))).toBeUndefined()
    }
    expect(guard.metadata(new Request(METADATA, { method: 'POST' }))).toBeUndefined()
  })

  it('is served by itself, at the root of an app that the server is mounted in', async () => {
    const serve = protectedResourceMetadata(guard)
    expect((await serve(new Request(`${METADATA}/mcp`)).json()) as object).toMatchObject({ resource: RESOURCE })
    expect(serve(new Request(`${METADATA}/other`)).status).toBe(404)
    const alone = protectedResourceMetadata({ resource: RESOURCE, authorizationServers: [ISSUER] })
    expect(alone(new Request(METADATA)).status).toBe(200)
    expect(() => protectedResourceMetadata({ resource: RESOURCE, authorizationServers: [] })).toThrow('at least one')
  })
})

describe('introspection', () => {
  const opaque = { authorizationServer: { accessTokens: 'opaque' } } as const
  const introspection = { clientId: 'rs', clientSecret: 'rs-secret' }

  it('says whom an opaque token stands for, and is asked once for a while', async () => {
    for (const method of ['basic', 'post'] as const) {
      const stage = createStage({ introspection: { ...introspection, method } }, opaque)
      const token = await stage.server.issue({ subject: 'ada', scopes: ['mcp'], resources: [RESOURCE] })
      const { auth } = await stage.bring(token)
      expect(auth).toMatchObject({ subject: 'ada', issuer: ISSUER, clientId: 'dev-client', scopes: ['mcp'] })
      await stage.bring(token)
      expect(stage.fetched.filter((url) => url.endsWith('/introspect'))).toHaveLength(1)
    }
  })

  it('refuses what was revoked, what is for another server, and what nobody knows [S-273]', async () => {
    const stage = createStage({ introspection: { ...introspection, maxAge: 0 } }, opaque)
    const token = await stage.server.issue({ resources: [RESOURCE] })
    expect((await stage.bring(token)).status).toBe(200)
    stage.server.revoke(token)
    expect((await stage.bring(token)).reason).toBe('inactive')
    const other = await stage.server.issue({ resources: ['https://other.example'] })
    expect((await stage.bring(other)).reason).toBe('audience')
    expect((await stage.bring('guess')).reason).toBe('inactive')
  })

  const soon = () => Math.floor(Date.now() / 1000) + 60
  it.each([
    ['that is active by another word', { active: 'true', aud: RESOURCE, sub: 'ada' }, 'inactive', 401],
    ['that has expired all the same', { active: true, aud: RESOURCE, sub: 'ada', exp: 1 }, 'expired', 401],
    ['that is not valid yet', { active: true, aud: RESOURCE, sub: 'ada', nbf: soon() + 60 }, 'not_yet_valid', 401],
    ['that is for nobody in particular', { active: true, sub: 'ada' }, 'audience', 401],
    [
      'of another issuer',
      { active: true, aud: RESOURCE, sub: 'ada', iss: 'https://evil.example' },
      'unknown_issuer',
      401,
    ],
    ['of nobody', { active: true, aud: RESOURCE }, 'claims', 401],
    ['that is bound to a key', { active: true, aud: RESOURCE, sub: 'ada', cnf: { jkt: 'x' } }, 'bound', 401],
    ['that is no object', 'active', 'inactive', 401],
  ])('refuses an answer %s', async (_, answer, reason, status) => {
    const fetch: Fetch = async () => Response.json(answer)
    const endpoint = `${ISSUER}/introspect`
    const stage = createStage({ fetch, introspection: { ...introspection, endpoint } })
    expect(await stage.bring('opaque')).toMatchObject({ reason, status })
  })

  it.each([
    ['is down', async () => Promise.reject(new Error('down'))],
    ['refuses to answer', async () => new Response(null, { status: 401 })],
    ['is huge', async () => Response.json({ active: true, x: 'x'.repeat(300_000) })],
  ])('costs the request a 503 when the endpoint %s', async (_, fetch) => {
    const stage = createStage({ fetch, introspection: { ...introspection, endpoint: `${ISSUER}/introspect` } })
    expect(await stage.bring('opaque')).toMatchObject({ reason: 'unavailable', status: 503 })
    expect(stage.problems).toHaveLength(1)
    expect(stage.problems[0]?.message).not.toContain('opaque')
  })

  it('is asked about JWTs of a known issuer only when it is to be', async () => {
    const lazy = createStage({ introspection })
    await lazy.bring(await lazy.token())
    expect(lazy.fetched.some((url) => url.endsWith('/introspect'))).toBe(false)
    const all = createStage({ introspection: { ...introspection, tokens: 'all' } })
    const token = await all.server.issue({ resources: [RESOURCE] })
    expect((await all.bring(token)).status).toBe(200)
    all.server.revoke(token)
    expect((await createStage({ introspection: { ...introspection, tokens: 'all' } }).bring(token)).reason).toBe(
      'inactive',
    )
  })

  it('binds a token to its key as well', async () => {
    const stage = createStage({ introspection }, opaque)
    const { jkt, prove } = await createHolder(stage)
    const token = await stage.server.issue({ resources: [RESOURCE], jkt })
    expect((await stage.bring(token)).reason).toBe('bound')
    const dpop = await prove({ htm: 'POST', htu: RESOURCE, ath: await tokenHash(token) })
    expect((await stage.knock({ authorization: `DPoP ${token}`, dpop })).status).toBe(200)
  })

  it('need not say whose token it is, where there is one issuer', async () => {
    const fetch: Fetch = async () => Response.json({ active: true, aud: RESOURCE, sub: 'ada' })
    const stage = createStage({ fetch, introspection: { ...introspection, endpoint: `${ISSUER}/introspect` } })
    expect((await stage.bring('opaque')).auth).toMatchObject({ subject: 'ada', issuer: ISSUER })
  })

  it('needs to know where to ask', () => {
    expect(() => createStage({ issuer: undefined, introspection })).toThrow('introspection.endpoint')
    expect(() => createStage({ introspection: { ...introspection, endpoint: 'http://as.example/i' } })).toThrow('HTTPS')
  })
})

describe('a function of one’s own', () => {
  const own = { subject: 'own', scopes: ['mcp'] }

  it('gives scopes that hold others, too [S-275]', async () => {
    const stage = createStage({ verify: () => own, implies: { mcp: ['read'] } })
    expect((await stage.bring('mine')).auth?.scopes).toEqual(['mcp', 'read'])
  })

  it('still needs somebody to send clients to', () => {
    const make = () => bearer({ audience: RESOURCE, verify: () => own })
    expect(make).toThrow('metadata.authorizationServers: expected at least one issuer')
  })

  it('is asked about what nobody else knows, and about nothing that was refused', async () => {
    const asked: string[] = []
    const verify = (token: string) => {
      asked.push(token)
      return token === 'mine' ? own : undefined
    }
    const stage = createStage({ verify })
    expect((await stage.bring('mine')).auth).toEqual(own)
    expect((await stage.bring('yours')).reason).toBe('unknown')
    expect((await stage.bring(await stage.token({}, { ttl: -100 }))).reason).toBe('expired')
    expect(asked).toEqual(['mine', 'yours'])
  })

  it('comes after introspection, and its end counts too', async () => {
    const introspection = { clientId: 'rs', clientSecret: 'rs-secret' }
    const verify = (token: string) => (token === 'late' ? { ...own, expiresAt: 1 } : own)
    const stage = createStage({ introspection, verify }, { authorizationServer: { accessTokens: 'opaque' } })
    expect((await stage.bring('mine')).auth).toEqual(own)
    expect((await stage.bring('late')).reason).toBe('expired')
    const other = await stage.server.issue({ resources: ['https://other.example'] })
    expect((await stage.bring(other)).reason).toBe('audience')
    const token = await stage.server.issue({ subject: 'ada', resources: [RESOURCE] })
    expect((await stage.bring(token)).auth?.subject).toBe('ada')
  })

  it('does not hide its faults', async () => {
    const guard = bearer({
      audience: RESOURCE,
      metadata: { authorizationServers: [ISSUER] },
      verify: () => Promise.reject(new Error('bug')),
    })
    const request = new Request(RESOURCE, { headers: { authorization: 'Bearer x' } })
    await expect(guard(request)).rejects.toThrow('bug')
  })
})

describe('keys that were handed out', () => {
  const key = 'a-key-of-enough-characters'
  const keys = [
    { key: 'another-key-of-enough-characters', subject: 'bob' },
    { key, subject: 'ci', scopes: ['mcp'] },
    { key: 'a-key-of-enough-characters-that-is-old', subject: 'old', expiresAt: 1 },
  ]
  const ask = async (headers: Record<string, string>, header?: string) => {
    const answer = await apiKeys({ keys, header })(new Request(RESOURCE, { headers }))
    return answer instanceof Response ? [answer.status, answer.headers.get('www-authenticate')] : answer
  }

  it('let in whom they stand for', async () => {
    const ci = { subject: 'ci', scopes: ['mcp'] }
    expect(await ask({ authorization: `Bearer ${key}` })).toEqual(ci)
    expect(await ask({ 'x-api-key': key }, 'x-api-key')).toEqual(ci)
  })

  it.each([
    ['none', {}, [401, 'Bearer']],
    [
      'a wrong one',
      { authorization: `Bearer ${key}x` },
      [401, 'Bearer error="invalid_token", error_description="the key is not known here"'],
    ],
    [
      'the beginning of one',
      { authorization: `Bearer ${key.slice(0, -1)}` },
      [401, expect.stringContaining('not known')],
    ],
    ['an old one', { authorization: `Bearer ${keys[2]?.key}` }, [401, expect.stringContaining('expired')]],
    [
      'a huge one',
      { authorization: `Bearer ${'x'.repeat(2_000)}` },
      [400, expect.stringContaining('longer than 1024')],
    ],
    ['one under another scheme', { authorization: `DPoP ${key}` }, [401, 'Bearer']],
  ])('refuse %s', async (_, headers, expected) => {
    expect(await ask(headers as Record<string, string>)).toEqual(expected)
  })

  it('must be long enough not to be guessed', () => {
    expect(() => apiKeys({ keys: [{ key: 'short', subject: 'x' }] })).toThrow('16 to 1024 characters')
    expect(() => apiKeys({ keys: [] })).toThrow('at least one')
  })

  it('stand beside tokens', async () => {
    const stage = createStage()
    const both = firstOf(apiKeys({ keys, header: 'x-api-key' }), stage.guard)
    const ask = (headers: Record<string, string>) => both(new Request(RESOURCE, { headers }))
    expect(await ask({ 'x-api-key': key })).toMatchObject({ subject: 'ci' })
    expect(await ask({ authorization: `Bearer ${await stage.token()}` })).toMatchObject({ subject: 'ada' })
    expect(((await ask({})) as Response).headers.get('www-authenticate')).toContain('resource_metadata')
    expect(both.metadata?.(new Request(METADATA))?.status).toBe(200)
  })

  it('let nobody in whom they refuse, where a server has put another Response in place of the global one', async () => {
    const refused = new Response(null, { status: 401 })
    const last = new Response(null, { status: 403 })
    vi.stubGlobal('Response', function Other() {})
    const both = firstOf(
      () => refused,
      () => last,
    )
    expect(await both(new Request(RESOURCE))).toBe(last)
    vi.unstubAllGlobals()
  })
})

describe('a guard without an audience', () => {
  it.each([[undefined], [[]]])('is refused when it is made, whoever checks types or does not: %j', (audience) => {
    expect(() => bearer({ issuer: ISSUER, audience } as never)).toThrow('audience: expected the URL of this server')
  })
})
