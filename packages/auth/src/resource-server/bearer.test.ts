import { principalOf } from '@mcpx/protocol'
import { delay } from '@mcpx/testing'
import { describe, expect, it, vi } from 'vitest'
import type { SendRequest as Fetch } from '../bounded-fetch.ts'
import { apiKeys, firstOf } from './api-keys.ts'
import { bearer } from './bearer.ts'
import { sha256 as tokenHash } from './dpop.ts'

import { protectedResourceMetadata } from './metadata.ts'
import { createFixture, createHolder, ISSUER, RESOURCE } from './stage.fixture.ts'

const METADATA = 'https://mcp.example/.well-known/oauth-protected-resource'

describe('scopes', () => {
  it('that every request needs are named in one challenge with those of the token [S-274]', async () => {
    const fixture = createFixture({ scopes: ['mcp', 'files'] })
    const { status, reason, challenge } = await fixture.sendToken(
      await fixture.token({ scope: 'mcp profile offline_access' }),
    )
    expect([status, reason]).toEqual([403, 'scope'])
    expect(challenge).toBe(
      'Bearer error="insufficient_scope", error_description="the token lacks scopes that every request needs here", ' +
        `scope="mcp profile files", resource_metadata="${METADATA}/mcp"`,
    )
  })

  it('imply others transitively, also in cycles [S-275]', async () => {
    const implies = { admin: ['write'], write: ['read'], read: ['write'] }
    const fixture = createFixture({ scopes: ['read'], implies })
    const { auth } = await fixture.sendToken(await fixture.token({ scope: 'admin' }))
    expect(auth?.scopes).toEqual(['admin', 'write', 'read'])
    const byRule = createFixture({
      scopes: ['files.read'],
      implies: (scope) => (scope === 'files' ? ['files.read'] : []),
    })
    expect((await byRule.sendToken(await byRule.token({ scope: 'files' }))).status).toBe(200)
    expect((await byRule.sendToken(await byRule.token({ scope: 'other' }))).status).toBe(403)
    expect((await fixture.sendToken(await fixture.token({ scope: 'constructor __proto__' }))).status).toBe(403)
  })

  it('that one request needs are reduced to the fewest [S-274, S-275, S-277]', async () => {
    const fixture = createFixture({ scopes: ['read'], implies: { admin: ['read', 'write'], write: ['read'] } })
    const refuse = async (scope: string, requiredScopes: string[]) => {
      const { auth } = await fixture.sendToken(await fixture.token({ scope }))
      const response = fixture.guard.refuse(new Request(RESOURCE), { auth, requiredScopes })
      return [response.status, /scope="([^"]*)"/.exec(response.headers.get('www-authenticate') ?? '')?.[1]]
    }
    expect(await refuse('read', ['write'])).toEqual([403, 'write'])
    expect(await refuse('write profile', ['admin'])).toEqual([403, 'profile admin'])
    expect(await refuse('read', ['other', 'offline_access'])).toEqual([403, 'read other'])
  })

  it('of a token with thousands of them cost little time, and do not make the header larger', async () => {
    const fixture = createFixture({ scopes: ['admin'], implies: (scope) => (scope === 'admin' ? ['read'] : []) })
    const token = await fixture.token({ scope: Array.from({ length: 2_000 }, (_, index) => `s${index}`).join(' ') })
    const begun = performance.now()
    const { reason, challenge } = await fixture.sendToken(token)
    expect(performance.now() - begun).toBeLessThan(400)
    expect(reason).toBe('scope')
    expect(challenge.length).toBeLessThan(5_000)
    expect(challenge).toMatch(/scope="[^"]*\badmin"/)
  })

  it('are requested with 401 without a caller', () => {
    const { guard } = createFixture({ scopes: ['mcp'] })
    const response = guard.refuse(new Request(RESOURCE), { auth: undefined, requiredScopes: ['files'] })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe(
      `Bearer scope="mcp files", resource_metadata="${METADATA}/mcp"`,
    )
  })

  it.each([
    ['a string', { scope: ' a  b ' }],
    ['a list', { scope: ['a', 7, 'b'] }],
    ['another name', { scope: undefined, scp: 'a b' }],
  ])('are read from %s', async (_, claims) => {
    const fixture = createFixture()
    expect((await fixture.sendToken(await fixture.token(claims))).auth?.scopes).toEqual(['a', 'b'])
  })

  it('are read by a function', async () => {
    const fixture = createFixture({ readScopes: ({ permissions }) => permissions as string[] })
    expect((await fixture.sendToken(await fixture.token({ permissions: ['x'] }))).auth?.scopes).toEqual(['x'])
  })

  it('with invalid characters are omitted from the header', () => {
    const { guard } = createFixture()
    const requiredScopes = ['a"b', 'c\\d', 'e f', 'ok', 'ü', '\r\nx: y']
    const response = guard.refuse(new Request(RESOURCE), { auth: undefined, requiredScopes })
    expect(response.headers.get('www-authenticate')).toContain('scope="ok"')
  })
})

describe('the audience', () => {
  it('can be an origin, with or without its slash', async () => {
    for (const audience of ['https://mcp.example', 'https://mcp.example/']) {
      const fixture = createFixture({ audience })
      for (const aud of ['https://mcp.example', 'https://mcp.example/', ['x', 'https://mcp.example']]) {
        expect((await fixture.sendToken(await fixture.token({ aud }))).status).toBe(200)
      }
      expect((await fixture.sendToken(await fixture.token({ aud: 'https://mcp.example/mcp' }))).reason).toBe('audience')
      expect((await fixture.sendHeaders()).challenge).toContain(`resource_metadata="${METADATA}"`)
    }
  })

  it('can have other names than its URL', async () => {
    const fixture = createFixture({ audience: [RESOURCE, 'api://mcp'] })
    expect((await fixture.sendToken(await fixture.token({ aud: 'api://mcp' }))).status).toBe(200)
  })
})

describe('the metadata', () => {
  const { guard } = createFixture({ scopes: ['mcp'], metadata: { name: 'Files', more: { x: 1 } } })

  it.each([`${METADATA}/mcp`, METADATA])('is public at %s [S-271, S-277, S-282]', async (url) => {
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

  it('answers preflight requests, and no other paths', () => {
    expect(guard.metadata(new Request(METADATA, { method: 'OPTIONS' }))?.status).toBe(204)
    for (const url of [`${METADATA}/other`, RESOURCE, `${RESOURCE}?x=/.well-known/oauth-protected-resource`]) {
      expect(guard.metadata(new Request(url))).toBeUndefined()
    }
    expect(guard.metadata(new Request(METADATA, { method: 'POST' }))).toBeUndefined()
  })

  it('can be served at the root of a larger app', async () => {
    const serve = protectedResourceMetadata(guard)
    expect((await serve(new Request(`${METADATA}/mcp`)).json()) as object).toMatchObject({ resource: RESOURCE })
    expect(serve(new Request(`${METADATA}/other`)).status).toBe(404)
    const alone = protectedResourceMetadata({ resource: RESOURCE, authorizationServers: [ISSUER] })
    expect(alone(new Request(METADATA)).status).toBe(200)
    expect(() => protectedResourceMetadata({ resource: RESOURCE, authorizationServers: [] })).toThrow('at least one')
  })
})

describe('numbers out of range', () => {
  it.each([Number.NaN, -1, '5'])('are refused by the names of their options: %s', (value) => {
    const number = value as number
    for (const name of ['timeout', 'maxAge', 'cooldown', 'verifiedMaxAge'] as const) {
      expect(() => createFixture({ [name]: number })).toThrow(
        new RegExp(`^${name}: expected a number of ms from 0, got`),
      )
    }
    for (const name of ['maxAge', 'maxEntries'] as const) {
      const introspection = { clientId: 'rs', clientSecret: 'rs-secret', [name]: number }
      expect(() => createFixture({ introspection })).toThrow(new RegExp(`^introspection.${name}: expected a number`))
    }
  })
})

describe('a token without a subject', () => {
  it('is of its client, which is never mistaken for a user of the same name', async () => {
    const fixture = createFixture()
    const machine = await fixture.sendToken(await fixture.token({ sub: undefined, client_id: 'alice' }))
    const user = await fixture.sendToken(await fixture.token({ sub: 'alice' }))
    expect(machine.auth).toMatchObject({ subject: 'client:alice', clientId: 'alice' })
    expect(user.auth).toMatchObject({ subject: 'alice', clientId: 'app' })
    expect(principalOf(machine.auth)).not.toBe(principalOf(user.auth))
  })

  it('is not mistaken for that of a user whose subject looks like a client', async () => {
    const fixture = createFixture()
    expect(await fixture.sendToken(await fixture.token({ sub: 'client:alice' }))).toMatchObject({ reason: 'claims' })
    const same = await fixture.token({ sub: 'client:alice', client_id: 'alice' })
    expect((await fixture.sendToken(same)).auth?.subject).toBe('client:alice')
  })
})

describe('introspection', () => {
  const opaque = { authorizationServer: { accessTokens: 'opaque' } } as const
  const introspection = { clientId: 'rs', clientSecret: 'rs-secret' }

  it('finds the caller of an opaque token, and is cached', async () => {
    for (const method of ['basic', 'post'] as const) {
      const fixture = createFixture({ introspection: { ...introspection, method } }, opaque)
      const token = await fixture.server.issue({ subject: 'ada', scopes: ['mcp'], resources: [RESOURCE] })
      const { auth } = await fixture.sendToken(token)
      expect(auth).toMatchObject({ subject: 'ada', issuer: ISSUER, clientId: 'dev-client', scopes: ['mcp'] })
      await fixture.sendToken(token)
      expect(fixture.fetched.filter((url) => url.endsWith('/introspect'))).toHaveLength(1)
    }
  })

  it('sends one request for simultaneous requests with the same token', async () => {
    for (const isUp of [true, false]) {
      let requests = 0
      const fetch: Fetch = async () => {
        requests += 1
        await delay(20)
        return isUp ? Response.json({ active: true, aud: RESOURCE, sub: 'ada' }) : new Response(null, { status: 500 })
      }
      const endpoint = `${ISSUER}/introspect`
      const fixture = createFixture({ fetch, introspection: { ...introspection, endpoint } })
      const outcomes = await Promise.all(Array.from({ length: 100 }, () => fixture.sendToken('opaque')))
      expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([isUp ? 200 : 503]))
      expect(requests).toBe(1)
      expect(fixture.problems).toHaveLength(isUp ? 0 : 1)
      await Promise.all([fixture.sendToken('one'), fixture.sendToken('two')])
      expect(requests).toBe(3)
    }
  })

  it('sends a request for each token that is not cached', async () => {
    const fixture = createFixture({ introspection: { ...introspection, maxAge: 0 } }, opaque)
    const token = await fixture.server.issue({ resources: [RESOURCE] })
    await Promise.all([fixture.sendToken(token), fixture.sendToken(token)])
    expect(fixture.fetched.filter((url) => url.endsWith('/introspect'))).toHaveLength(2)
  })

  it.each([
    ['exp', String(Math.floor(Date.now() / 1000) + 600), undefined],
    ['exp', '1', 'expired'],
    ['exp', 'tomorrow', 'claims'],
    ['exp', '1e9999', 'claims'],
    ['exp', {}, 'claims'],
    ['nbf', '1', undefined],
    ['nbf', String(Math.floor(Date.now() / 1000) + 600), 'not_yet_valid'],
    ['nbf', true, 'claims'],
  ])('reads the time in %s as a number or a string of digits, and refuses others: %j', async (name, value, reason) => {
    const fetch: Fetch = async () => Response.json({ active: true, aud: RESOURCE, sub: 'ada', [name]: value })
    const endpoint = `${ISSUER}/introspect`
    const fixture = createFixture({ fetch, introspection: { ...introspection, endpoint } })
    const outcome = await fixture.sendToken('opaque')
    expect(outcome.reason).toBe(reason)
    if (name === 'exp' && reason === undefined) expect(outcome.auth?.expiresAt).toBeGreaterThan(Date.now() / 1000)
  })

  it('refuses revoked and unknown tokens, and those for another server [S-273]', async () => {
    const fixture = createFixture({ introspection: { ...introspection, maxAge: 0 } }, opaque)
    const token = await fixture.server.issue({ resources: [RESOURCE] })
    expect((await fixture.sendToken(token)).status).toBe(200)
    fixture.server.revoke(token)
    expect((await fixture.sendToken(token)).reason).toBe('inactive')
    const other = await fixture.server.issue({ resources: ['https://other.example'] })
    expect((await fixture.sendToken(other)).reason).toBe('audience')
    expect((await fixture.sendToken('guess')).reason).toBe('inactive')
  })

  const soon = () => Math.floor(Date.now() / 1000) + 60
  it.each([
    ['whose active is not true', { active: 'true', aud: RESOURCE, sub: 'ada' }, 'inactive', 401],
    ['that is active and has expired', { active: true, aud: RESOURCE, sub: 'ada', exp: 1 }, 'expired', 401],
    ['that is not valid yet', { active: true, aud: RESOURCE, sub: 'ada', nbf: soon() + 60 }, 'not_yet_valid', 401],
    ['without an audience', { active: true, sub: 'ada' }, 'audience', 401],
    [
      'of another issuer',
      { active: true, aud: RESOURCE, sub: 'ada', iss: 'https://evil.example' },
      'unknown_issuer',
      401,
    ],
    ['without a subject', { active: true, aud: RESOURCE }, 'claims', 401],
    ['that is bound to a key', { active: true, aud: RESOURCE, sub: 'ada', cnf: { jkt: 'x' } }, 'bound', 401],
    ['that is not an object', 'active', 'inactive', 401],
  ])('refuses a response %s', async (_, answer, reason, status) => {
    const fetch: Fetch = async () => Response.json(answer)
    const endpoint = `${ISSUER}/introspect`
    const fixture = createFixture({ fetch, introspection: { ...introspection, endpoint } })
    expect(await fixture.sendToken('opaque')).toMatchObject({ reason, status })
  })

  it.each([
    ['is down', async () => Promise.reject(new Error('down'))],
    ['responds with status 401', async () => new Response(null, { status: 401 })],
    ['responds above the limit', async () => Response.json({ active: true, x: 'x'.repeat(300_000) })],
    ['responds with a page', async () => new Response('<title>Login</title>')],
  ])('refuses with 503 when the endpoint %s', async (_, fetch) => {
    const fixture = createFixture({ fetch, introspection: { ...introspection, endpoint: `${ISSUER}/introspect` } })
    expect(await fixture.sendToken('opaque')).toMatchObject({ reason: 'unavailable', status: 503 })
    expect(fixture.problems).toHaveLength(1)
    expect(fixture.problems[0]?.message).not.toContain('opaque')
  })

  it('is used for JWTs of a known issuer only if the option says so', async () => {
    const lazy = createFixture({ introspection })
    await lazy.sendToken(await lazy.token())
    expect(lazy.fetched.some((url) => url.endsWith('/introspect'))).toBe(false)
    const all = createFixture({ introspection: { ...introspection, tokens: 'all' } })
    const token = await all.server.issue({ resources: [RESOURCE] })
    expect((await all.sendToken(token)).status).toBe(200)
    all.server.revoke(token)
    expect((await createFixture({ introspection: { ...introspection, tokens: 'all' } }).sendToken(token)).reason).toBe(
      'inactive',
    )
  })

  it('supports tokens that are bound to a key', async () => {
    const fixture = createFixture({ introspection }, opaque)
    const { jkt, prove } = await createHolder(fixture)
    const token = await fixture.server.issue({ resources: [RESOURCE], jkt })
    expect((await fixture.sendToken(token)).reason).toBe('bound')
    const dpop = await prove({ htm: 'POST', htu: RESOURCE, ath: await tokenHash(token) })
    expect((await fixture.sendHeaders({ authorization: `DPoP ${token}`, dpop })).status).toBe(200)
  })

  it('need not name the issuer if there is only one', async () => {
    const fetch: Fetch = async () => Response.json({ active: true, aud: RESOURCE, sub: 'ada' })
    const fixture = createFixture({ fetch, introspection: { ...introspection, endpoint: `${ISSUER}/introspect` } })
    expect((await fixture.sendToken('opaque')).auth).toMatchObject({ subject: 'ada', issuer: ISSUER })
  })

  it('requires an endpoint with https:', () => {
    expect(() => createFixture({ issuer: undefined, introspection })).toThrow('introspection.endpoint')
    expect(() => createFixture({ introspection: { ...introspection, endpoint: 'http://as.example/i' } })).toThrow(
      'HTTPS',
    )
  })
})

describe('the option verify', () => {
  const own = { subject: 'own', scopes: ['mcp'] }

  it('returns scopes that imply others [S-275]', async () => {
    const fixture = createFixture({ verify: () => own, implies: { mcp: ['read'] } })
    expect((await fixture.sendToken('mine')).auth?.scopes).toEqual(['mcp', 'read'])
  })

  it('requires an authorization server for the metadata', () => {
    const make = () => bearer({ audience: RESOURCE, verify: () => own })
    expect(make).toThrow('metadata.authorizationServers: expected at least one issuer')
  })

  it('is called for unknown tokens, and not for refused ones', async () => {
    const asked: string[] = []
    const verify = (token: string) => {
      asked.push(token)
      return token === 'mine' ? own : undefined
    }
    const fixture = createFixture({ verify })
    expect((await fixture.sendToken('mine')).auth).toEqual(own)
    expect((await fixture.sendToken('yours')).reason).toBe('unknown')
    expect((await fixture.sendToken(await fixture.token({}, { ttl: -100_000 }))).reason).toBe('expired')
    expect(asked).toEqual(['mine', 'yours'])
  })

  it('is called after introspection, and its expiry counts', async () => {
    const introspection = { clientId: 'rs', clientSecret: 'rs-secret' }
    const verify = (token: string) => (token === 'late' ? { ...own, expiresAt: 1 } : own)
    const fixture = createFixture({ introspection, verify }, { authorizationServer: { accessTokens: 'opaque' } })
    expect((await fixture.sendToken('mine')).auth).toEqual(own)
    expect((await fixture.sendToken('late')).reason).toBe('expired')
    const other = await fixture.server.issue({ resources: ['https://other.example'] })
    expect((await fixture.sendToken(other)).reason).toBe('audience')
    const token = await fixture.server.issue({ subject: 'ada', resources: [RESOURCE] })
    expect((await fixture.sendToken(token)).auth?.subject).toBe('ada')
  })

  it('passes its errors on', async () => {
    const guard = bearer({
      audience: RESOURCE,
      metadata: { authorizationServers: [ISSUER] },
      verify: () => Promise.reject(new Error('bug')),
    })
    const request = new Request(RESOURCE, { headers: { authorization: 'Bearer x' } })
    await expect(guard(request)).rejects.toThrow('bug')
  })
})

describe('apiKeys', () => {
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

  it('accepts a key and returns its caller', async () => {
    const ci = { subject: 'ci', scopes: ['mcp'] }
    expect(await ask({ authorization: `Bearer ${key}` })).toEqual(ci)
    expect(await ask({ 'x-api-key': key }, 'x-api-key')).toEqual(ci)
  })

  it.each([
    ['a missing key', {}, [401, 'Bearer']],
    [
      'a wrong one',
      { authorization: `Bearer ${key}x` },
      [401, 'Bearer error="invalid_token", error_description="the key is unknown"'],
    ],
    [
      'the beginning of one',
      { authorization: `Bearer ${key.slice(0, -1)}` },
      [401, expect.stringContaining('unknown')],
    ],
    ['an expired key', { authorization: `Bearer ${keys[2]?.key}` }, [401, expect.stringContaining('expired')]],
    [
      'a huge one',
      { authorization: `Bearer ${'x'.repeat(2_000)}` },
      [400, expect.stringContaining('longer than 1024')],
    ],
    ['a key with another scheme', { authorization: `DPoP ${key}` }, [401, 'Bearer']],
  ])('refuse %s', async (_, headers, expected) => {
    expect(await ask(headers as Record<string, string>)).toEqual(expected)
  })

  it('refuses short keys and an empty list', () => {
    expect(() => apiKeys({ keys: [{ key: 'short', subject: 'x' }] })).toThrow('16 to 1024 characters')
    expect(() => apiKeys({ keys: [] })).toThrow('at least one')
  })

  it('can be combined with tokens', async () => {
    const fixture = createFixture()
    const both = firstOf(apiKeys({ keys, header: 'x-api-key' }), fixture.guard)
    const ask = (headers: Record<string, string>) => both(new Request(RESOURCE, { headers }))
    expect(await ask({ 'x-api-key': key })).toMatchObject({ subject: 'ci' })
    expect(await ask({ authorization: `Bearer ${await fixture.token()}` })).toMatchObject({ subject: 'ada' })
    expect(((await ask({})) as Response).headers.get('www-authenticate')).toContain('resource_metadata')
    expect(both.metadata?.(new Request(METADATA))?.status).toBe(200)
  })

  it('refuses although the global Response was replaced', async () => {
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
  it.each([[undefined], [[]]])('throws: %j', (audience) => {
    expect(() => bearer({ issuer: ISSUER, audience } as never)).toThrow('audience: expected the URL of this server')
  })
})
