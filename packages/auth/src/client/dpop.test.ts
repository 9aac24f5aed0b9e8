import { calculateJwkThumbprint, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import { expect, it, vi } from 'vitest'
import { sha256 } from '../resource-server/dpop.ts'
import { clientCredentials } from './client-credentials.ts'
import { oauth } from './oauth.ts'
import { memoryStore } from './store.ts'
import { caught, json, World } from './world.fixture.ts'

/** The claims of a proof, verified with the key in its header. */
async function proofOf(headers: Headers | undefined) {
  const proof = headers?.get('dpop') ?? ''
  const { jwk, typ } = decodeProtectedHeader(proof)
  const { payload } = await jwtVerify(proof, jwk as JWK)
  return { typ, jwk: jwk as JWK, ...payload }
}

const bound = { token: { token_type: 'DPoP' } }

it('sends a proof with each request to the token endpoint and to the server [X-130]', async () => {
  const world = new World(bound)
  const fetch = oauth({ redirect: world.redirect, dpop: true })(world.fetch)
  await fetch(`${world.mcp}?a=b`, { method: 'POST' })
  await fetch(world.mcp)
  const [visit] = world.to('/authorize')
  const token = await proofOf(world.to('/token')[0]?.headers)
  const [, post, get] = world.to('/mcp')
  const [posted, got] = [await proofOf(post?.headers), await proofOf(get?.headers)]
  expect(token).toMatchObject({ typ: 'dpop+jwt', htm: 'POST', htu: 'https://as.example/token' })
  expect(token).not.toHaveProperty('ath')
  expect(Math.abs((token.iat ?? 0) - Date.now() / 1_000)).toBeLessThan(5)
  const ath = await sha256('access-token-3@as.example')
  expect(posted).toMatchObject({ htm: 'POST', htu: 'https://mcp.example/mcp', ath })
  expect(got).toMatchObject({ htm: 'GET', htu: 'https://mcp.example/mcp', ath })
  expect(new Set([token.jti, posted.jti, got.jti]).size).toBe(3)
  expect(token.jwk).toEqual(posted.jwk)
  expect(token.jwk).not.toHaveProperty('d')
  expect(visit?.url.searchParams.get('dpop_jkt')).toBe(await calculateJwkThumbprint(token.jwk))
  expect(post?.headers.get('authorization')).toBe('DPoP access-token-3@as.example')
})

it('stores the key with the tokens that are bound to it', async () => {
  const world = new World(bound)
  const store = memoryStore()
  const keys = []
  for (let run = 0; run < 2; run++) {
    await oauth({ redirect: world.redirect, dpop: true, store })(world.fetch)(world.mcp)
    keys.push((await proofOf(world.to('/mcp').at(-1)?.headers)).jwk)
  }
  expect(keys[0]).toEqual(keys[1])
  expect(world.logins).toBe(1)
})

it('uses the nonces of both servers without another login [X-131]', async () => {
  const tries: (string | undefined)[] = []
  const nonceOf = async (headers: Headers) => ((await proofOf(headers)) as { nonce?: string }).nonce
  const world = new World(bound)
  world.interfere = async ({ url, headers }) => {
    if (!headers.has('dpop')) return undefined
    const nonce = await nonceOf(headers)
    tries.push(nonce)
    if (url === world.mcp) {
      const challenge = { 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': 'of-rs' }
      return nonce === 'of-rs' ? undefined : new Response('', { status: 401, headers: challenge })
    }
    return nonce === 'of-as' ? undefined : json({ error: 'use_dpop_nonce' }, 400, { 'dpop-nonce': 'of-as' })
  }
  const fetch = oauth({ redirect: world.redirect, dpop: { algorithm: 'EdDSA' } })(world.fetch)
  expect((await fetch(world.mcp)).status).toBe(200)
  expect((await fetch(world.mcp)).status).toBe(200)
  expect(tries).toEqual([undefined, 'of-as', undefined, 'of-rs', 'of-rs'])
  expect(world.logins).toBe(1)
})

it('gives up when a server refuses every nonce', async () => {
  let count = 0
  const nonces = () => ({ 'dpop-nonce': `n${++count}` })
  const world = new World({
    on: { 'https://as.example/token': () => json({ error: 'use_dpop_nonce' }, 400, nonces()) },
  })
  const auth = clientCredentials({ clientId: 'me', clientSecret: 'hush', dpop: true })
  expect(await caught(() => auth(world.fetch)(world.mcp))).toMatchObject({ step: 'token' })
  expect(count).toBe(3)

  const endless = new World({
    ...bound,
    serve: () =>
      new Response('', { status: 401, headers: { 'www-authenticate': 'DPoP error="use_dpop_nonce"', ...nonces() } }),
  })
  expect(await caught(() => auth(endless.fetch)(endless.mcp))).toMatchObject({ step: 'verification' })
  expect(endless.to('/mcp').length).toBeLessThan(8)
})

it('reads 16,384 characters of a challenge, like without proofs', async () => {
  const header = `DPoP ${'a=b,'.repeat(250_000)}`
  const world = new World({ ...bound, serve: () => new Response('', { headers: { 'www-authenticate': header } }) })
  const fetch = oauth({ redirect: world.redirect, dpop: true })(world.fetch)
  const start = performance.now()
  expect((await fetch(world.mcp)).status).toBe(200)
  expect(performance.now() - start).toBeLessThan(2_000)
})

it('ignores nonces that do not fit into a header', async () => {
  const long = { 'dpop-nonce': 'n'.repeat(1_025) }
  const world = new World({ token: { token_type: 'DPoP' }, serve: () => json({ ok: true }, 200, long) })
  world.interfere = ({ url }) => (url.endsWith('/token') ? json({ error: 'use_dpop_nonce' }, 400, long) : undefined)
  const auth = oauth({ redirect: world.redirect, dpop: true })
  expect(await caught(() => auth(world.fetch)(world.mcp))).toMatchObject({ step: 'token' })
  expect(world.to('/token').length).toBe(1)
  world.interfere = () => undefined
  const fetch = oauth({ redirect: world.redirect, dpop: true })(world.fetch)
  for (let call = 0; call < 2; call++) await fetch(world.mcp)
  expect(await proofOf(world.to('/mcp').at(-1)?.headers)).not.toHaveProperty('nonce')
})

it('works if responses share the headers of other responses, like those of the server of Hono for Node', async () => {
  const Plain = Response
  class Sharing extends Plain {
    constructor(body?: BodyInit | null, init?: ResponseInit) {
      super(body, init)
      if (init?.headers instanceof Headers) Object.defineProperty(this, 'headers', { value: init.headers })
    }
  }
  vi.stubGlobal('Response', Sharing)
  try {
    const world = new World()
    const token = JSON.stringify({ access_token: 'granted', token_type: 'Bearer' })
    world.valid.add('granted')
    // The headers of a response of the network are immutable.
    world.interfere = ({ url }) => (url.endsWith('/token') ? fetch(`data:application/json,${token}`) : undefined)
    expect((await oauth({ redirect: world.redirect })(world.fetch)(world.mcp)).status).toBe(200)
  } finally {
    vi.unstubAllGlobals()
  }
})

it('binds tokens of client credentials', async () => {
  const world = new World(bound)
  const fetch = clientCredentials({ clientId: 'me', clientSecret: 'hush', dpop: true })(world.fetch)
  expect((await fetch(world.mcp)).status).toBe(200)
  expect(await proofOf(world.to('/token')[0]?.headers)).toMatchObject({ htm: 'POST' })
})

it('sends no stored token of another type than the option requires', async () => {
  const store = memoryStore()
  const world = new World()
  const proven = new World({ token: { token_type: 'DPoP' }, valid: world.valid })
  await oauth({ redirect: world.redirect, store })(world.fetch)(world.mcp)
  const shown = (asked: World) => asked.to('/mcp').map(({ headers }) => headers.get('authorization')?.split(' ', 1)[0])
  expect((await oauth({ redirect: proven.redirect, store, dpop: true })(proven.fetch)(proven.mcp)).status).toBe(200)
  expect([shown(proven), proven.logins]).toEqual([[undefined, 'DPoP'], 1])
  const plain = new World({ valid: world.valid })
  expect((await oauth({ redirect: plain.redirect, store })(plain.fetch)(plain.mcp)).status).toBe(200)
  expect([shown(plain), plain.logins]).toEqual([[undefined, 'Bearer'], 1])
})
