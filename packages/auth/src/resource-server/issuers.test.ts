import { devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { exportJWK, generateKeyPair, type JSONWebKeySet, SignJWT } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { SendRequest as Fetch } from '../bounded-fetch.ts'
import type { BearerOptions } from './bearer.ts'
import { bearer } from './bearer.ts'
import { createFixture, ISSUER, RESOURCE } from './stage.fixture.ts'

afterEach(() => {
  vi.useRealTimers()
})

const never = () => new Promise<never>(() => {})

/** A fixture whose authorization server can fail. */
function createBroken(options: Partial<BearerOptions> = {}) {
  const server = devAuthorizationServer({ issuer: ISSUER })
  const fetched: string[] = []
  const state: { answer: ((url: string) => Response | Promise<Response>) | undefined } = { answer: undefined }
  const fetch: Fetch = async (url, init) => {
    fetched.push(new URL(url).pathname)
    return (await state.answer?.(url)) ?? server.fetch(new Request(url, init))
  }
  const fixture = createFixture({ fetch, ...options })
  const token = () => server.sign({ sub: 'ada', aud: RESOURCE })
  return { ...fixture, server, state, fetched, token }
}

const jwks = (answer: () => Response | Promise<Response>) => (url: string) =>
  url.endsWith('/jwks') ? answer() : (undefined as unknown as Response)

describe('the keys of an issuer', () => {
  it('are found by its metadata and fetched once for concurrent requests', async () => {
    const { fetched, sendToken, token } = createBroken()
    const tokens = await Promise.all([token(), token(), token()])
    const answers = await Promise.all(tokens.map(sendToken))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    await sendToken(await token())
    expect(fetched).toEqual(['/.well-known/oauth-authorization-server', '/jwks'])
  })

  it('are fetched again for a token with a new key, but not for each unknown key [S-273]', async () => {
    const { fetched, sendToken, token, server } = createBroken({ cooldown: 0 })
    await sendToken(await token())
    await server.rotateKeys()
    expect((await sendToken(await token())).status).toBe(200)
    expect(fetched.filter((path) => path === '/jwks')).toHaveLength(2)

    const cool = createBroken({ cooldown: 60_000 })
    await cool.sendToken(await cool.token())
    await cool.server.rotateKeys()
    for (let count = 0; count < 5; count++)
      expect((await cool.sendToken(await cool.token())).reason).toBe('unknown_key')
    expect(cool.fetched.filter((path) => path === '/jwks')).toHaveLength(1)
  })

  it('are no longer accepted after the issuer has removed them', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { sendToken, token, server } = createBroken({ maxAge: 1_000, cooldown: 0 })
    const old = await token()
    await sendToken(old)
    await server.rotateKeys({ drop: true })
    vi.advanceTimersByTime(1_001)
    expect((await sendToken(old)).reason).toBe('unknown_key')
  })

  it('are used for a while when no newer ones are available', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { sendToken, token, state, problems } = createBroken({ maxAge: 1_000, cooldown: 0 })
    await sendToken(await token())
    state.answer = () => new Response(null, { status: 502 })
    vi.advanceTimersByTime(2_000)
    expect((await sendToken(await token())).status).toBe(200)
    expect(problems[0]?.message).toContain('https://as.example')
    vi.advanceTimersByTime(3_700_000)
    expect((await sendToken(await token())).reason).toBe('unavailable')
  })

  it.each([
    ['down', () => Promise.reject(new TypeError('fetch failed')), 'no response'],
    ['slow', never, 'no response within 40 ms'],
    [
      'sent too slowly',
      () => new Response(new ReadableStream({ start: (it) => it.enqueue(new Uint8Array(9)) })),
      'no response within 40 ms',
    ],
    ['above the limit', () => Response.json({ keys: ['x'.repeat(300_000)] }), 'larger than 262144 bytes'],
    [
      'above the limit by content-length',
      () => new Response('{}', { headers: { 'content-length': '999999999' } }),
      'larger than',
    ],
    ['not JSON', () => new Response('<html>'), 'not a JSON object'],
    ['not an object', () => Response.json(['keys']), 'not a JSON object'],
    ['not keys', () => Response.json({ keys: 'none' }), 'JSON Web Key Set malformed'],
    ['an error', () => new Response(null, { status: 500 }), 'status 500'],
    ['a redirect elsewhere', () => Response.redirect('http://169.254.169.254/keys'), 'status 302'],
  ])('that are %s cause 503, and only a warning has the reason', async (_, answer, problem) => {
    const { sendToken, token, state, problems } = createBroken({ timeout: 40 })
    state.answer = jwks(answer)
    const { status, reason, challenge, response } = await sendToken(await token())
    expect({ status, reason, challenge }).toEqual({ status: 503, reason: 'unavailable', challenge: '' })
    expect(response?.headers.get('retry-after')).toBe('5')
    expect(await response?.text()).not.toContain('as.example')
    expect(problems.map(({ message }) => message).join()).toContain(problem)
  })

  it('that are unavailable are not requested for each call', async () => {
    const { sendToken, token, state, fetched } = createBroken({ cooldown: 60_000 })
    state.answer = () => new Response(null, { status: 500 })
    for (let count = 0; count < 5; count++) await sendToken(await token())
    expect(fetched.length).toBeLessThanOrEqual(3)
  })

  it('are fetched without following redirects', async () => {
    const modes: (string | undefined)[] = []
    const server = devAuthorizationServer({ issuer: ISSUER })
    const fetch: Fetch = async (url, init) => {
      modes.push(init.redirect)
      return server.fetch(new Request(url, init))
    }
    await createFixture({ fetch }).sendToken(await server.sign({ sub: 'ada', aud: RESOURCE }))
    expect(modes).toEqual(['manual', 'manual'])
  })

  it('can be passed as an option', async () => {
    const issuer = devAuthorizationServer({ issuer: ISSUER })
    const { sendToken, fetched } = createFixture({ issuer: { issuer: ISSUER, jwks: await issuer.jwks() } })
    expect((await sendToken(await issuer.sign({ sub: 'ada', aud: RESOURCE }))).status).toBe(200)
    expect(fetched).toEqual([])
  })

  it('are never shared secrets', async () => {
    const oct: JSONWebKeySet = { keys: [{ kty: 'oct', k: 'AAAA', kid: 'x' }] }
    const { sendToken } = createFixture({ issuer: { issuer: ISSUER, jwks: oct } })
    const issuer = devAuthorizationServer({ issuer: ISSUER })
    expect((await sendToken(await issuer.sign({ sub: 'ada', aud: RESOURCE }))).reason).toBe('unknown_key')
    for (const algorithms of [['HS256'], ['none'], ['RS256', 'HS512']]) {
      expect(() => createFixture({ algorithms })).toThrow('expected algorithms without a shared secret')
    }
  })

  it('are limited to the algorithms of the option', async () => {
    const { sendToken, token } = createFixture({ algorithms: ['RS256'] })
    expect((await sendToken(await token())).reason).toBe('algorithm')
  })
})

describe('the metadata of an issuer', () => {
  it.each([
    ['https://as.example/t', '/.well-known/oauth-authorization-server/t'],
    ['https://as.example/t', '/.well-known/openid-configuration/t'],
    ['https://as.example/t', '/t/.well-known/openid-configuration'],
    ['https://as.example', '/.well-known/openid-configuration'],
  ])('is found for %s at %s', async (issuer, place) => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const keys = { keys: [await exportJWK(publicKey)] }
    const fetch: Fetch = async (url) => {
      if (url === 'https://keys.example/all') return Response.json(keys)
      if (new URL(url).pathname !== place) return new Response(null, { status: 404 })
      return Response.json({ issuer, jwks_uri: 'https://keys.example/all' })
    }
    const token = await new SignJWT({ iss: issuer, aud: RESOURCE, sub: 'ada' })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime('1m')
      .sign(privateKey)
    expect((await createFixture({ issuer, fetch }).sendToken(token)).auth?.subject).toBe('ada')
  })

  it.each([
    [
      'names another issuer',
      { issuer: 'https://evil.example', jwks_uri: `${ISSUER}/jwks` },
      'the document names another issuer',
    ],
    ['names no keys', { issuer: ISSUER }, 'names no jwks_uri'],
    ['names keys with plain HTTP', { issuer: ISSUER, jwks_uri: 'http://as.example/jwks' }, 'is not HTTPS'],
    ['names keys in a file', { issuer: ISSUER, jwks_uri: 'file:///etc/keys' }, 'is not HTTPS'],
  ])('is not used when it %s', async (_, metadata, problem) => {
    const { sendToken, token, state, problems } = createBroken()
    state.answer = () => Response.json(metadata)
    expect((await sendToken(await token())).reason).toBe('unavailable')
    expect(problems.map(({ message }) => message).join()).toContain(problem)
  })
})

describe('several issuers', () => {
  it('are each accepted for their own tokens only [S-273]', async () => {
    const one = devAuthorizationServer({ issuer: 'https://one.example' })
    const two = devAuthorizationServer({ issuer: 'https://two.example' })
    const fetch: Fetch = async (url, init) => (url.startsWith(one.issuer) ? one : two).fetch(new Request(url, init))
    const fixture = createFixture({ issuer: undefined, issuers: [one.issuer, two.issuer], fetch })
    const claims = { sub: 'ada', aud: RESOURCE }
    const both = [await fixture.sendToken(await one.sign(claims)), await fixture.sendToken(await two.sign(claims))]
    expect(both.map(({ auth }) => auth?.issuer)).toEqual([one.issuer, two.issuer])
    // Signed by one of them in the name of the other.
    expect((await fixture.sendToken(await one.sign({ ...claims, iss: two.issuer }))).reason).toBe('unknown_key')
  })
})

describe('invalid options', () => {
  const options: BearerOptions = { issuer: ISSUER, audience: RESOURCE }
  it.each([
    ['an issuer with plain HTTP', { issuer: 'http://as.example' }, 'issuer: "http://as.example/" is not HTTPS'],
    [
      'an audience with plain HTTP',
      { audience: 'http://mcp.example/mcp' },
      'audience: "http://mcp.example/mcp" is not HTTPS',
    ],
    ['an audience that is not a URL', { audience: 'mcp' }, 'audience: expected a URL'],
    ['an audience with a fragment', { audience: `${RESOURCE}#x` }, 'has a fragment'],
    ['an audience with a query', { audience: `${RESOURCE}?a=b` }, 'without a query'],
    ['an issuer with credentials', { issuer: 'https://me:secret@as.example' }, 'contains credentials'],
    ['the same issuer twice', { issuers: [ISSUER] }, 'got one twice'],
    ['nothing that checks tokens', { issuer: undefined }, 'expected an issuer, introspection, or verify'],
    ['keys with plain HTTP', { issuer: { issuer: ISSUER, jwksUri: 'http://x.example/' } }, 'issuer.jwksUri'],
    ['offline_access as a scope of the server', { scopes: ['offline_access'] }, 'offline_access'],
    ['a tolerance of clocks that is not a number', { clockTolerance: Number.NaN }, 'clockTolerance: expected'],
    ['an endless tolerance of clocks', { clockTolerance: Number.POSITIVE_INFINITY }, 'clockTolerance: expected'],
    ['an age of proofs that is not a number', { dpop: { maxAge: Number.NaN } }, 'dpop.maxAge: expected'],
    ['a short secret for nonces', { dpop: { nonces: { secret: 'short' } } }, 'at least 32 characters'],
  ] as const)('throw: %s [S-277, S-279]', (_, changed, problem) => {
    const make = () => bearer({ ...options, ...(changed as Partial<BearerOptions>) })
    expect(make).toThrow(RangeError)
    expect(make).toThrow(problem)
    expect(make).not.toThrow('secret@')
  })

  it('do not include servers on this machine', () => {
    const local = { issuer: 'http://localhost:9000', audience: 'http://127.0.0.1:3000/mcp' }
    expect(() => bearer({ ...options, ...local })).not.toThrow()
  })
})
