import { afterEach, expect, it, vi } from 'vitest'
import { sha256 as tokenHash } from './dpop.ts'
import { createFixture, createHolder, RESOURCE } from './stage.fixture.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Counts the signatures that WebCrypto verifies. */
const watch = () => vi.spyOn(crypto.subtle, 'verify')

it('verifies the signature of a token once, until the cache entry expires', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const fixture = createFixture()
  const token = await fixture.token()
  const verify = watch()
  const { auth } = await fixture.sendToken(token)
  expect((await fixture.sendToken(token)).auth).toEqual(auth)
  expect(verify).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(60_001)
  expect((await fixture.sendToken(token)).status).toBe(200)
  expect(verify).toHaveBeenCalledTimes(2)
})

it('caches no token beyond its expiry, and no refused token', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const fixture = createFixture({ clockTolerance: 0 })
  const token = await fixture.token({}, { ttl: 10_000 })
  expect((await fixture.sendToken(token)).status).toBe(200)
  vi.advanceTimersByTime(10_000)
  expect((await fixture.sendToken(token)).reason).toBe('expired')
  const elsewhere = await fixture.token({ aud: 'https://other.example/mcp' })
  for (let count = 0; count < 2; count++) expect((await fixture.sendToken(elsewhere)).reason).toBe('audience')
})

it('does not confuse a token with a cached one', async () => {
  const fixture = createFixture()
  const token = await fixture.token()
  await fixture.sendToken(token)
  const [header, , signature] = token.split('.')
  const claims = btoa(JSON.stringify({ iss: fixture.server.issuer, aud: RESOURCE, sub: 'eve', exp: 2 ** 32 }))
  expect((await fixture.sendToken(`${header}.${claims.replace(/=+$/, '')}.${signature}`)).reason).toBe('signature')
  expect((await createFixture().sendToken(token)).reason).toBe('unknown_key')
})

it('checks the proof of a cached token each time', async () => {
  const fixture = createFixture()
  const holder = await createHolder(fixture)
  const sendHeaders = (dpop: string) => fixture.sendHeaders({ authorization: `DPoP ${holder.token}`, dpop })
  const proof = await holder.prove({ htm: 'POST', htu: RESOURCE, ath: await tokenHash(holder.token) })
  expect((await sendHeaders(proof)).status).toBe(200)
  const verify = watch()
  expect((await sendHeaders(proof)).reason).toBe('proof_replayed')
  expect(verify).toHaveBeenCalledTimes(1)
  expect((await fixture.sendToken(holder.token)).reason).toBe('bound')
})

it('caches for maxAge at most, for verifiedMaxAge, or not at all', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  for (const options of [{ maxAge: 1_000 }, { verifiedMaxAge: 1_000 }, { verifiedMaxAge: 0 }]) {
    const fixture = createFixture(options)
    const token = await fixture.token()
    await fixture.sendToken(token)
    vi.advanceTimersByTime(1_001)
    const verify = watch()
    await fixture.sendToken(token)
    expect(verify).toHaveBeenCalledTimes(1)
    vi.restoreAllMocks()
  }
  expect(() => createFixture({ verifiedMaxAge: -1 })).toThrow(/verifiedMaxAge: expected/)
})

it('returns callers that handlers cannot change', async () => {
  const asked = createFixture(
    { introspection: { clientId: 'rs', clientSecret: 'rs-secret' } },
    { authorizationServer: { accessTokens: 'opaque' } },
  )
  const opaque = await asked.server.issue({ subject: 'ada', resources: [RESOURCE] })
  const signed = createFixture()
  const token = await signed.token({ act: { sub: 'bob' } })
  for (const sendToken of [() => asked.sendToken(opaque), () => signed.sendToken(token)]) {
    const { auth } = await sendToken()
    expect(() => Object.assign(auth as object, { subject: 'root' })).toThrow(TypeError)
    expect(() => Object.assign(auth?.claims as object, { sub: 'root' })).toThrow(TypeError)
    expect(() => Object.assign(auth?.scopes as object, { 0: 'admin', length: 1 })).toThrow(TypeError)
    expect((await sendToken()).auth?.subject).toBe('ada')
  }
  const { auth } = await signed.sendToken(token)
  expect(() => Object.assign(auth?.claims?.act as object, { sub: 'root' })).toThrow(TypeError)
})
