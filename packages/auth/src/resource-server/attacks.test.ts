import { createMemoryReplayStore, memoryStore } from '@mcpx/protocol/memory'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { firstOf } from './api-keys.ts'
import { sha256 as tokenHash } from './dpop.ts'
import {
  createFixture,
  createHolder,
  createProver,
  type Fixture,
  type Holder,
  ISSUER,
  RESOURCE,
} from './stage.fixture.ts'

const NOW = () => Math.floor(Date.now() / 1000)
const encode = (value: object) =>
  btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

let fixture: Fixture
let holder: Holder
beforeAll(async () => {
  fixture = createFixture({ dpop: { maxAge: 60_000 } })
  holder = await createHolder(fixture)
})

/** Claims that are accepted with a valid signature. */
const good = () => ({ iss: ISSUER, sub: 'ada', aud: RESOURCE, scope: 'mcp', client_id: 'app', exp: NOW() + 60 })

/** Signed with the public key of the issuer as a shared secret. */
async function confused(): Promise<string> {
  const [key] = (await fixture.server.jwks()).keys
  const secret = new TextEncoder().encode(JSON.stringify(key))
  return new SignJWT(good()).setProtectedHeader({ alg: 'HS256', kid: key?.kid as string }).sign(secret)
}

async function foreign(kid?: string): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256')
  const [key] = (await fixture.server.jwks()).keys
  return new SignJWT(good()).setProtectedHeader({ alg: 'ES256', kid: kid ?? (key?.kid as string) }).sign(privateKey)
}

/** Names the attacker's key in the header, as a key or by its URL. */
async function withOwnKey(member: 'jwk' | 'jku'): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk = await exportJWK(publicKey)
  const header = member === 'jwk' ? { jwk } : { jku: 'https://evil.example/jwks' }
  return new SignJWT(good()).setProtectedHeader({ alg: 'ES256', kid: 'mine', ...header }).sign(privateKey)
}

async function altered(): Promise<string> {
  const [header, , signature] = (await fixture.token()).split('.')
  return `${header}.${encode({ ...good(), sub: 'root' })}.${signature}`
}

type Row = readonly [attack: string, reason: string, status: number, token: () => string | Promise<string>]

const tokens: readonly Row[] = [
  ['a token for another server', 'audience', 401, () => fixture.token({ aud: 'https://other.example/mcp' })],
  ['a token for a server above this one', 'audience', 401, () => fixture.token({ aud: 'https://mcp.example' })],
  ['a token for a server below this one', 'audience', 401, () => fixture.token({ aud: `${RESOURCE}/more` })],
  ['a token for several others', 'audience', 401, () => fixture.token({ aud: ['a', 'b'] })],
  ['a token without an audience', 'audience', 401, () => fixture.token({ aud: undefined })],
  ['an audience that is not a string', 'audience', 401, () => fixture.token({ aud: { [RESOURCE]: true } })],
  ['an ID token, which is for a client', 'audience', 401, () => fixture.token({ aud: 'app' }, { typ: 'JWT' })],
  [
    'a token of another issuer',
    'unknown_issuer',
    401,
    () => new UnsecuredJWT({ ...good(), iss: 'https://evil.example' }).encode(),
  ],
  [
    'an issuer that differs by a slash',
    'unknown_issuer',
    401,
    () => new UnsecuredJWT({ ...good(), iss: `${ISSUER}/` }).encode(),
  ],
  ['an unsigned token', 'algorithm', 401, () => new UnsecuredJWT(good()).encode()],
  ['a shared secret made of the public key', 'algorithm', 401, confused],
  ['an unknown algorithm', 'algorithm', 401, () => `${encode({ alg: 'XX1' })}.${encode(good())}.AA`],
  ['a signature by another key under the same name', 'signature', 401, () => foreign()],
  ['claims changed after the signature', 'signature', 401, altered],
  [
    'a signature that was cut off',
    'signature',
    401,
    async () => `${(await fixture.token()).split('.').slice(0, 2).join('.')}.`,
  ],
  ['a key that the issuer does not have', 'unknown_key', 401, () => foreign('nobody')],
  ['a key in the header of the token', 'unknown_key', 401, () => withOwnKey('jwk')],
  ['a key at a URL in the header of the token', 'unknown_key', 401, () => withOwnKey('jku')],
  ['a token that has expired', 'expired', 401, () => fixture.token({}, { ttl: -31_000 })],
  ['a token that is not valid yet', 'not_yet_valid', 401, () => fixture.token({ nbf: NOW() + 60 })],
  ['a token that was issued in the future', 'not_yet_valid', 401, () => fixture.token({ iat: NOW() + 60 })],
  ['a token without an expiry', 'claims', 401, () => fixture.token({ exp: undefined })],
  ['an expiry that is not a number', 'claims', 401, () => fixture.token({ exp: 'never' })],
  [
    'a token without a subject and a client',
    'claims',
    401,
    () => fixture.token({ sub: undefined, client_id: undefined }),
  ],
  ['a subject that is not a string', 'claims', 401, () => fixture.token({ sub: 7, client_id: '' })],
  ['a type that is not a string', 'type', 401, () => fixture.token({}, { typ: 7 as never })],
  ['a proof instead of a token', 'type', 401, () => fixture.token({}, { typ: 'dpop+jwt' })],
  ['an assertion instead of a token', 'type', 401, () => fixture.token({}, { typ: 'oauth-id-jag+jwt' })],
  ['a logout token', 'type', 401, () => fixture.token({}, { typ: 'logout+jwt' })],
  [
    'an extension that must be understood',
    'not_a_token',
    401,
    () => `${encode({ alg: 'ES256', crit: ['x'], x: 1 })}.${encode(good())}.AA`,
  ],
  ['a string that is not a token', 'not_a_token', 401, () => 'guess'],
  ['an encrypted token', 'not_a_token', 401, () => 'a.b.c.d.e'],
  ['a token that is not JSON', 'not_a_token', 401, () => 'AAAA.AAAA.AAAA'],
  ['a token above the limit', 'too_long', 400, () => fixture.token({ filler: 'x'.repeat(20_000) })],
  ['a token with spaces in it', 'malformed', 400, () => 'two words'],
  ['no token after the scheme', 'malformed', 400, () => ''],
  ['invalid characters', 'malformed', 400, () => 'tok"en'],
  ['a token that is bound to a key, without a proof', 'bound', 401, () => holder.token],
  ['a token that is bound to a certificate', 'bound', 401, () => fixture.token({ cnf: { 'x5t#S256': 'abc' } })],
  [
    'a token that is bound to a key and to a certificate',
    'bound',
    401,
    () => fixture.token({ cnf: { jkt: holder.jkt, 'x5t#S256': 'abc' } }),
  ],
  ['a binding that is not an object', 'bound', 401, () => fixture.token({ cnf: 'key' })],
]

describe('bearer', () => {
  it('accepts a valid token and returns its caller [S-273]', async () => {
    const { auth } = await fixture.sendToken(await fixture.token())
    expect(auth).toMatchObject({ subject: 'ada', issuer: ISSUER, clientId: 'app', scopes: ['mcp'] })
    expect(auth?.expiresAt).toBeGreaterThan(NOW())
    expect(auth?.claims).toMatchObject({ aud: RESOURCE })
  })

  it.each(tokens)('refuses %s: %s, %i [S-273, S-276, S-279]', async (_, reason, status, token) => {
    const text = await token()
    const { auth, response, challenge, ...told } = await fixture.sendToken(text)
    expect({ auth, reason: told.reason, status: told.status }).toEqual({ auth: undefined, reason, status })
    expect(challenge).toMatch(status === 400 ? /error="invalid_request"/ : /error="invalid_token"/)
    expect(challenge).toContain('error_description="')
    expect(challenge).toContain('resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"')
    // The response contains nothing of the token.
    const said = challenge + (await response?.text())
    if (text.length > 10) expect(said).not.toContain(text.slice(0, 10))
  })

  it.each([
    ['two Authorization headers', { authorization: ['Bearer one', 'Bearer two'] }, 'malformed', 400],
    ['no Authorization header', {}, 'missing', 401],
    ['another scheme', { authorization: 'Basic YTpi' }, 'missing', 401],
    ['a scheme with the prefix Bearer', { authorization: 'Bearers abc' }, 'missing', 401],
  ])('refuses %s [S-276]', async (_, headers, reason, status) => {
    expect(await fixture.sendHeaders(headers)).toMatchObject({ reason, status, auth: undefined })
  })

  it('refuses a token in the URL, even with a valid one in the header [S-276]', async () => {
    const token = await fixture.token()
    for (const name of ['access_token', 'access%5Ftoken']) {
      const url = `${RESOURCE}?x=1&${name}=${token}`
      const answer = await fixture.sendHeaders({ authorization: `Bearer ${token}` }, url)
      // An encoded name is found as well as a plain one.
      expect([answer.reason, answer.status]).toEqual(['in_query', 400])
    }
  })

  it('accepts every spelling of the scheme, and names no error without credentials [S-272]', async () => {
    expect((await fixture.sendHeaders({ authorization: `bEARER ${await fixture.token()}` })).auth?.subject).toBe('ada')
    const strict = createFixture({ scopes: ['mcp'] })
    expect((await strict.sendHeaders()).challenge).toBe(
      'Bearer scope="mcp", resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"',
    )
  })

  it('tolerates small differences of clocks', async () => {
    expect((await fixture.sendToken(await fixture.token({}, { ttl: -5_000 }))).auth).toBeDefined()
    expect((await fixture.sendToken(await fixture.token({ nbf: NOW() + 5 }))).auth).toBeDefined()
    const exact = createFixture({ clockTolerance: 0 })
    expect((await exact.sendToken(await exact.token({}, { ttl: -5_000 }))).reason).toBe('expired')
  })
})

interface ProofChange {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  readonly token?: string
  readonly proof?: (proof: string) => string | readonly string[]
  readonly url?: string
}

async function bringProof({ claims, header, token = holder.token, proof = (same) => same, url }: ProofChange) {
  const whole = { htm: 'POST', htu: RESOURCE, ath: await tokenHash(token), ...claims }
  const dpop = proof(await holder.prove(whole, header))
  return fixture.sendHeaders({ authorization: `DPoP ${token}`, dpop }, url)
}

const own = async () => ({ ath: await tokenHash(holder.token) })

const proofs: readonly (readonly [string, string, () => ProofChange | Promise<ProofChange>])[] = [
  ['no proof', 'proof_malformed', () => ({ proof: () => '' })],
  ['two proofs', 'proof_malformed', () => ({ proof: (one) => [one, one] })],
  ['a proof that is not a JWT', 'proof_malformed', () => ({ proof: () => 'proof' })],
  ['a proof above the limit', 'proof_malformed', () => ({ claims: { filler: 'x'.repeat(9_000) } })],
  ['a proof of another type', 'proof_type', () => ({ header: { typ: 'JWT' } })],
  ['a proof without a type', 'proof_type', () => ({ header: { typ: undefined } })],
  ['a proof without its key', 'proof_key', () => ({ header: { jwk: undefined } })],
  [
    'a proof that contains its private key',
    'proof_key',
    async () => ({ header: { jwk: await exportJWK(holder.privateKey) } }),
  ],
  [
    'a proof with a signature of another key',
    'proof_signature',
    async () => ({ header: { jwk: (await createProver()).jwk } }),
  ],
  [
    'a proof that was changed',
    'proof_signature',
    () => ({ proof: (one) => one.replace(/\.[^.]+\./, `.${encode({ htm: 'POST' })}.`) }),
  ],
  ['a proof for another method', 'proof_method', () => ({ claims: { htm: 'GET' } })],
  ['a proof with the method in lower case', 'proof_method', () => ({ claims: { htm: 'post' } })],
  ['a proof for another path', 'proof_url', () => ({ claims: { htu: `${RESOURCE}/other` } })],
  ['a proof for another host', 'proof_url', () => ({ claims: { htu: 'https://evil.example/mcp' } })],
  ['a proof for plain HTTP', 'proof_url', () => ({ claims: { htu: 'http://mcp.example/mcp' } })],
  ['a proof whose htu is not a URL', 'proof_url', () => ({ claims: { htu: 'mcp' } })],
  ['a proof that is too old', 'proof_time', () => ({ claims: { iat: NOW() - 62 } })],
  ['a proof from the future', 'proof_time', () => ({ claims: { iat: NOW() + 65 } })],
  ['a proof without a time', 'proof_claims', () => ({ claims: { iat: undefined } })],
  ['a proof without an id', 'proof_claims', () => ({ claims: { jti: undefined } })],
  ['a proof for another token', 'proof_token', async () => ({ claims: { ath: await tokenHash('other') } })],
  ['a proof without a token hash', 'proof_token', () => ({ claims: { ath: undefined } })],
]

describe('bearer with tokens that are bound to a key', () => {
  it('accepts a token with a proof of its key, with any query [S-273]', async () => {
    expect((await bringProof({})).auth?.subject).toBe('ada')
    expect((await bringProof({ url: `${RESOURCE}?page=2` })).auth?.subject).toBe('ada')
    expect((await bringProof({ claims: { htu: 'HTTPS://MCP.example:443/mcp?page=2#x' } })).auth?.subject).toBe('ada')
  })

  it.each(proofs)('refuses %s: %s [X-132]', async (_, reason, change) => {
    const answer = await bringProof(await change())
    expect([answer.reason, answer.status, answer.auth]).toEqual([reason, 401, undefined])
    expect(answer.challenge).toMatch(/^DPoP error="invalid_dpop_proof", error_description="[^"]+", resource_metadata="/)
    expect(answer.challenge).toContain('algs="ES256 ')
  })

  it('refuses a missing proof [X-132]', async () => {
    expect((await fixture.sendHeaders({ authorization: `DPoP ${holder.token}` })).reason).toBe('proof_missing')
  })

  it('refuses a proof with an algorithm that is not accepted or has a shared secret', async () => {
    const strict = createFixture({ dpop: { algorithms: ['RS256'] } })
    const theirs = await createHolder(strict)
    const claims = { htm: 'POST', htu: RESOURCE, ath: await tokenHash(theirs.token) }
    const dpop = await theirs.prove(claims)
    expect((await strict.sendHeaders({ authorization: `DPoP ${theirs.token}`, dpop })).reason).toBe('proof_algorithm')
    const secret = { ...claims, jti: '1', iat: NOW() }
    const header = { alg: 'HS256', typ: 'dpop+jwt', jwk: { kty: 'oct', k: 'AAAA' } }
    const weak = await new SignJWT(secret).setProtectedHeader(header).sign(new Uint8Array(32))
    expect((await fixture.sendHeaders({ authorization: `DPoP ${holder.token}`, dpop: weak })).reason).toBe(
      'proof_algorithm',
    )
  })

  it('refuses a proof that was used before [X-132]', async () => {
    const dpop = await holder.prove({ htm: 'POST', htu: RESOURCE, ...(await own()) })
    const headers = { authorization: `DPoP ${holder.token}`, dpop }
    expect((await fixture.sendHeaders(headers)).status).toBe(200)
    expect(await fixture.sendHeaders(headers)).toMatchObject({ reason: 'proof_replayed', status: 401 })
  })

  it('refuses a proof that was used at another process with the same store, also behind `firstOf` [X-132]', async () => {
    const store = memoryStore()
    const guards = [fixture.guard.withStore(store), firstOf(() => undefined, fixture.guard).withStore?.(store)]
    const dpop = await holder.prove({ htm: 'POST', htu: RESOURCE, ...(await own()) })
    const headers = { authorization: `DPoP ${holder.token}`, dpop }
    const answers = []
    for (const guard of guards) answers.push(await guard?.(new Request(RESOURCE, { method: 'POST', headers })))
    expect(answers).toMatchObject([{ subject: 'ada' }, { status: 401 }])
  })

  it('keeps a replay store of its own', async () => {
    const own = createFixture({ dpop: { replayStore: { add: () => true } } })
    expect(own.guard.withStore(memoryStore())).toBe(own.guard)
    expect(createFixture({ dpop: false }).guard.withStore(memoryStore())).toBeTypeOf('function')
  })

  it('refuses a stolen token with a proof of the thief’s own key [X-132]', async () => {
    const thief = await createProver()
    const dpop = await thief.prove({ htm: 'POST', htu: RESOURCE, ...(await own()) })
    expect((await fixture.sendHeaders({ authorization: `DPoP ${holder.token}`, dpop })).reason).toBe('other_key')
  })

  it('refuses a token that is also bound to a certificate', async () => {
    const token = await fixture.token({ cnf: { jkt: holder.jkt, 'x5t#S256': 'abc' } })
    expect((await bringProof({ token })).reason).toBe('bound')
  })

  it('refuses an unbound token with the scheme DPoP', async () => {
    expect((await bringProof({ token: await fixture.token() })).reason).toBe('unbound')
  })

  it('accepts only bound tokens, or none of them, by option', async () => {
    const strict = createFixture({ dpop: 'required' })
    expect(await strict.sendToken(await strict.token())).toMatchObject({ reason: 'unbound', status: 401 })
    expect((await strict.sendHeaders()).challenge).toMatch(/^DPoP resource_metadata=/)
    const plain = createFixture({ dpop: false })
    const theirs = await createHolder(plain)
    expect((await plain.sendToken(theirs.token)).reason).toBe('bound')
    expect((await plain.sendHeaders({ authorization: `DPoP ${await plain.token()}` })).reason).toBe('bound')
  })

  it('requires a nonce, and accepts it in the next proof [X-133]', async () => {
    const fresh = createFixture({ dpop: { nonces: true } })
    const theirs = await createHolder(fresh)
    const claims = { htm: 'POST', htu: RESOURCE, ath: await tokenHash(theirs.token) }
    const prove = async (nonce?: string | null) =>
      fresh.sendHeaders({ authorization: `DPoP ${theirs.token}`, dpop: await theirs.prove({ ...claims, nonce }) })
    const first = await prove()
    expect([first.reason, first.status]).toEqual(['proof_nonce', 401])
    expect(first.challenge).toContain('error="use_dpop_nonce"')
    const nonce = first.response?.headers.get('dpop-nonce')
    expect((await prove(nonce)).auth?.subject).toBe('ada')
    expect((await prove('made-up')).reason).toBe('proof_nonce')
    expect((await prove(holder.token)).reason).toBe('proof_nonce')
  })

  it('stores the id of a proof until the proof expires', async () => {
    const lives: number[] = []
    const add = (_: string, ttl: number) => lives.push(ttl) > 0
    const watched = createFixture({ dpop: { maxAge: 60_000, replayStore: { add } } })
    const theirs = await createHolder(watched)
    for (const iat of [NOW() - 50, NOW(), NOW() + 50]) {
      const dpop = await theirs.prove({ htm: 'POST', htu: RESOURCE, ath: await tokenHash(theirs.token), iat })
      expect((await watched.sendHeaders({ authorization: `DPoP ${theirs.token}`, dpop })).status).toBe(200)
    }
    for (const [index, seconds] of [10, 60, 110].entries()) {
      expect(Math.abs((lives[index] ?? 0) - seconds * 1_000)).toBeLessThan(2_500)
    }
  })

  it('accepts proofs of other callers, however many proofs one caller sends', async () => {
    const limited = createFixture({ dpop: { replayStore: createMemoryReplayStore({ maxIds: 64 }) } })
    const [ada, again, bob] = [
      await createHolder(limited, { sub: 'ada' }),
      await createHolder(limited, { sub: 'ada' }),
      await createHolder(limited, { sub: 'bob' }),
    ]
    const send = async ({ token, prove }: Holder) => {
      const dpop = await prove({ htm: 'POST', htu: RESOURCE, ath: await tokenHash(token) })
      return (await limited.sendHeaders({ authorization: `DPoP ${token}`, dpop })).status
    }
    for (let count = 0; count < 48; count++) expect(await send(ada)).toBe(200)
    // Another key does not help.
    expect([await send(ada), await send(again), await send(bob)]).toEqual([503, 503, 200])
  })

  it('refuses with 503 when the store of proofs fails', async () => {
    const full = createFixture({ dpop: { replayStore: { add: () => Promise.reject(new Error('full')) } } })
    const theirs = await createHolder(full)
    const dpop = await theirs.prove({ htm: 'POST', htu: RESOURCE, ath: await tokenHash(theirs.token) })
    const answer = await full.sendHeaders({ authorization: `DPoP ${theirs.token}`, dpop })
    expect([answer.reason, answer.status, answer.challenge]).toEqual(['unavailable', 503, ''])
  })
})
