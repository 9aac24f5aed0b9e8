import { devAuthorizationServer } from '@mcpx/testing/authorization-server'
import { exportJWK, generateKeyPair, type JSONWebKeySet, SignJWT } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Fetch } from '../json-document.ts'
import { bearer } from './bearer.ts'
import type { BearerOptions } from './options.ts'
import { createStage, ISSUER, RESOURCE } from './stage.fixture.ts'

afterEach(() => {
  vi.useRealTimers()
})

const never = () => new Promise<never>(() => {})

/** A stage whose authorization server can be put out of order. */
function createBroken(options: Partial<BearerOptions> = {}) {
  const server = devAuthorizationServer({ issuer: ISSUER })
  const fetched: string[] = []
  const state: { answer: ((url: string) => Response | Promise<Response>) | undefined } = { answer: undefined }
  const fetch: Fetch = async (url, init) => {
    fetched.push(new URL(url).pathname)
    return (await state.answer?.(url)) ?? server.fetch(new Request(url, init))
  }
  const stage = createStage({ fetch, ...options })
  const token = () => server.sign({ sub: 'ada', aud: RESOURCE })
  return { ...stage, server, state, fetched, token }
}

const jwks = (answer: () => Response | Promise<Response>) => (url: string) =>
  url.endsWith('/jwks') ? answer() : (undefined as unknown as Response)

describe('the keys of an issuer', () => {
  it('are found by its metadata and fetched once, for any number of requests at once', async () => {
    const { fetched, bring, token } = createBroken()
    const tokens = await Promise.all([token(), token(), token()])
    const answers = await Promise.all(tokens.map(bring))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    await bring(await token())
    expect(fetched).toEqual(['/.well-known/oauth-authorization-server', '/jwks'])
  })

  it('are fetched again for a token with a new key, but not for each that somebody makes up [S-273]', async () => {
    const { fetched, bring, token, server } = createBroken({ cooldown: 0 })
    await bring(await token())
    await server.rotateKeys()
    expect((await bring(await token())).status).toBe(200)
    expect(fetched.filter((path) => path === '/jwks')).toHaveLength(2)

    const cool = createBroken({ cooldown: 60_000 })
    await cool.bring(await cool.token())
    await cool.server.rotateKeys()
    for (let count = 0; count < 5; count++) expect((await cool.bring(await cool.token())).reason).toBe('unknown_key')
    expect(cool.fetched.filter((path) => path === '/jwks')).toHaveLength(1)
  })

  it('count no longer once the issuer has dropped them', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { bring, token, server } = createBroken({ maxAge: 1_000, cooldown: 0 })
    const old = await token()
    await bring(old)
    await server.rotateKeys({ drop: true })
    vi.advanceTimersByTime(1_001)
    expect((await bring(old)).reason).toBe('unknown_key')
  })

  it('stand in for a while when no newer ones can be had, and no longer', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { bring, token, state, problems } = createBroken({ maxAge: 1_000, cooldown: 0 })
    await bring(await token())
    state.answer = () => new Response(null, { status: 502 })
    vi.advanceTimersByTime(2_000)
    expect((await bring(await token())).status).toBe(200)
    expect(problems[0]?.message).toContain('https://as.example')
    vi.advanceTimersByTime(3_700_000)
    expect((await bring(await token())).reason).toBe('unavailable')
  })

  it.each([
    ['down', () => Promise.reject(new TypeError('fetch failed')), 'cannot be reached'],
    ['slow', never, 'no answer within 40 ms'],
    [
      'slow to send them',
      () => new Response(new ReadableStream({ start: (it) => it.enqueue(new Uint8Array(9)) })),
      'no answer within 40 ms',
    ],
    ['huge', () => Response.json({ keys: ['x'.repeat(300_000)] }), 'larger than 262144 bytes'],
    ['huge, and says so', () => new Response('{}', { headers: { 'content-length': '999999999' } }), 'larger than'],
    ['no JSON', () => new Response('<html>'), 'it is no JSON'],
    ['no object', () => Response.json(['keys']), 'it is no JSON object'],
    ['no keys', () => Response.json({ keys: 'none' }), 'JSON Web Key Set malformed'],
    ['an error', () => new Response(null, { status: 500 }), 'status 500'],
    ['a redirect elsewhere', () => Response.redirect('http://169.254.169.254/keys'), 'status 302'],
  ])('that are %s cost the request a 503, and the reason stays here', async (_, answer, problem) => {
    const { bring, token, state, problems } = createBroken({ timeout: 40 })
    state.answer = jwks(answer)
    const { status, reason, challenge, response } = await bring(await token())
    expect({ status, reason, challenge }).toEqual({ status: 503, reason: 'unavailable', challenge: '' })
    expect(response?.headers.get('retry-after')).toBe('5')
    expect(await response?.text()).not.toContain('as.example')
    expect(problems.map(({ message }) => message).join()).toContain(problem)
  })

  it('that cannot be had are not asked for by each request', async () => {
    const { bring, token, state, fetched } = createBroken({ cooldown: 60_000 })
    state.answer = () => new Response(null, { status: 500 })
    for (let count = 0; count < 5; count++) await bring(await token())
    expect(fetched.length).toBeLessThanOrEqual(3)
  })

  it('are fetched from where they are said to be, whatever redirects that place answers with', async () => {
    const modes: (string | undefined)[] = []
    const server = devAuthorizationServer({ issuer: ISSUER })
    const fetch: Fetch = async (url, init) => {
      modes.push(init.redirect)
      return server.fetch(new Request(url, init))
    }
    await createStage({ fetch }).bring(await server.sign({ sub: 'ada', aud: RESOURCE }))
    expect(modes).toEqual(['manual', 'manual'])
  })

  it('are given by hand where nothing is to be fetched', async () => {
    const issuer = devAuthorizationServer({ issuer: ISSUER })
    const { bring, fetched } = createStage({ issuer: { issuer: ISSUER, jwks: await issuer.jwks() } })
    expect((await bring(await issuer.sign({ sub: 'ada', aud: RESOURCE }))).status).toBe(200)
    expect(fetched).toEqual([])
  })

  it('are never shared secrets, whatever the issuer publishes', async () => {
    const oct: JSONWebKeySet = { keys: [{ kty: 'oct', k: 'AAAA', kid: 'x' }] }
    const { bring } = createStage({ issuer: { issuer: ISSUER, jwks: oct } })
    const issuer = devAuthorizationServer({ issuer: ISSUER })
    expect((await bring(await issuer.sign({ sub: 'ada', aud: RESOURCE }))).reason).toBe('unknown_key')
    for (const algorithms of [['HS256'], ['none'], ['RS256', 'HS512']]) {
      expect(() => createStage({ algorithms })).toThrow('is none that needs no secret here')
    }
  })

  it('may be only for the algorithms that are named', async () => {
    const { bring, token } = createStage({ algorithms: ['RS256'] })
    expect((await bring(await token())).reason).toBe('algorithm')
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
    expect((await createStage({ issuer, fetch }).bring(token)).auth?.subject).toBe('ada')
  })

  it.each([
    ['names another issuer', { issuer: 'https://evil.example', jwks_uri: `${ISSUER}/jwks` }, 'that of another issuer'],
    ['names no keys', { issuer: ISSUER }, 'names no jwks_uri'],
    ['names keys by plain HTTP', { issuer: ISSUER, jwks_uri: 'http://as.example/jwks' }, 'is not HTTPS'],
    ['names keys in a file', { issuer: ISSUER, jwks_uri: 'file:///etc/keys' }, 'is not HTTPS'],
  ])('is not used when it %s', async (_, metadata, problem) => {
    const { bring, token, state, problems } = createBroken()
    state.answer = () => Response.json(metadata)
    expect((await bring(await token())).reason).toBe('unavailable')
    expect(problems.map(({ message }) => message).join()).toContain(problem)
  })
})

describe('several issuers', () => {
  it('are each believed for their own tokens only [S-273]', async () => {
    const one = devAuthorizationServer({ issuer: 'https://one.example' })
    const two = devAuthorizationServer({ issuer: 'https://two.example' })
    const fetch: Fetch = async (url, init) => (url.startsWith(one.issuer) ? one : two).fetch(new Request(url, init))
    const stage = createStage({ issuer: undefined, issuers: [one.issuer, two.issuer], fetch })
    const claims = { sub: 'ada', aud: RESOURCE }
    const both = [await stage.bring(await one.sign(claims)), await stage.bring(await two.sign(claims))]
    expect(both.map(({ auth }) => auth?.issuer)).toEqual([one.issuer, two.issuer])
    // Signed by one of them in the name of the other.
    expect((await stage.bring(await one.sign({ ...claims, iss: two.issuer }))).reason).toBe('unknown_key')
  })
})

describe('what cannot be right', () => {
  const options: BearerOptions = { issuer: ISSUER, audience: RESOURCE }
  it.each([
    ['an issuer by plain HTTP', { issuer: 'http://as.example' }, 'issuer: "http://as.example/" is not HTTPS'],
    [
      'an audience by plain HTTP',
      { audience: 'http://mcp.example/mcp' },
      'audience: "http://mcp.example/mcp" is not HTTPS',
    ],
    ['an audience that is no URL', { audience: 'mcp' }, 'audience: expected a URL'],
    ['an audience with a fragment', { audience: `${RESOURCE}#x` }, 'has a fragment'],
    ['an audience with a query', { audience: `${RESOURCE}?a=b` }, 'without a query'],
    ['an issuer with credentials', { issuer: 'https://me:secret@as.example' }, 'holds credentials'],
    ['the same issuer twice', { issuers: [ISSUER] }, 'one is there twice'],
    ['nobody to check tokens', { issuer: undefined }, 'expected an issuer, introspection, or verify'],
    ['keys by plain HTTP', { issuer: { issuer: ISSUER, jwksUri: 'http://x.example/' } }, 'issuer.jwksUri'],
    ['offline_access as a scope of the server', { scopes: ['offline_access'] }, 'offline_access'],
    ['a secret for nonces that is short', { dpop: { nonces: { secret: 'short' } } }, 'at least 32 characters'],
  ] as const)('is said at once: %s [S-277, S-279]', (_, changed, problem) => {
    const make = () => bearer({ ...options, ...(changed as Partial<BearerOptions>) })
    expect(make).toThrow(RangeError)
    expect(make).toThrow(problem)
    expect(make).not.toThrow('secret@')
  })

  it('is not a server on this machine', () => {
    const local = { issuer: 'http://localhost:9000', audience: 'http://127.0.0.1:3000/mcp' }
    expect(() => bearer({ ...options, ...local })).not.toThrow()
  })
})
