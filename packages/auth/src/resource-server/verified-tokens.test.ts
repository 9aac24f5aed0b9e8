import { afterEach, expect, it, vi } from 'vitest'
import { tokenHash } from '../dpop-proof.ts'
import { createHolder, createStage, RESOURCE } from './stage.fixture.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** How many signatures are checked by WebCrypto from now on. */
const watch = () => vi.spyOn(crypto.subtle, 'verify')

it('looks at the signature of a token once in a while, and not for each request', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const stage = createStage()
  const token = await stage.token()
  const verify = watch()
  const { auth } = await stage.bring(token)
  expect((await stage.bring(token)).auth).toEqual(auth)
  expect(verify).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(60_001)
  expect((await stage.bring(token)).status).toBe(200)
  expect(verify).toHaveBeenCalledTimes(2)
})

it('remembers no token beyond its end, and none that was refused', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const stage = createStage({ clockTolerance: 0 })
  const token = await stage.token({}, { ttl: 10 })
  expect((await stage.bring(token)).status).toBe(200)
  vi.advanceTimersByTime(10_000)
  expect((await stage.bring(token)).reason).toBe('expired')
  const elsewhere = await stage.token({ aud: 'https://other.example/mcp' })
  for (let count = 0; count < 2; count++) expect((await stage.bring(elsewhere)).reason).toBe('audience')
})

it('takes no other token for one that it remembers', async () => {
  const stage = createStage()
  const token = await stage.token()
  await stage.bring(token)
  const [header, , signature] = token.split('.')
  const claims = btoa(JSON.stringify({ iss: stage.server.issuer, aud: RESOURCE, sub: 'eve', exp: 2 ** 32 }))
  expect((await stage.bring(`${header}.${claims.replace(/=+$/, '')}.${signature}`)).reason).toBe('signature')
  expect((await createStage().bring(token)).reason).toBe('unknown_key')
})

it('checks the proof of a token that it remembers each time', async () => {
  const stage = createStage()
  const holder = await createHolder(stage)
  const knock = (dpop: string) => stage.knock({ authorization: `DPoP ${holder.token}`, dpop })
  const proof = await holder.prove({ htm: 'POST', htu: RESOURCE, ath: await tokenHash(holder.token) })
  expect((await knock(proof)).status).toBe(200)
  const verify = watch()
  expect((await knock(proof)).reason).toBe('proof_replayed')
  expect(verify).toHaveBeenCalledTimes(1)
  expect((await stage.bring(holder.token)).reason).toBe('bound')
})

it('remembers for as long as keys are taken for new at the most, for as long as it is told, or not at all', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  for (const options of [{ maxAge: 1_000 }, { keepVerified: 1_000 }, { keepVerified: 0 }]) {
    const stage = createStage(options)
    const token = await stage.token()
    await stage.bring(token)
    vi.advanceTimersByTime(1_001)
    const verify = watch()
    await stage.bring(token)
    expect(verify).toHaveBeenCalledTimes(1)
    vi.restoreAllMocks()
  }
  expect(() => createStage({ keepVerified: -1 })).toThrow(/keepVerified: expected/)
})

it('gives handlers what none of them can change for the next request', async () => {
  const asked = createStage(
    { introspection: { clientId: 'rs', clientSecret: 'rs-secret' } },
    { authorizationServer: { accessTokens: 'opaque' } },
  )
  const opaque = await asked.server.issue({ subject: 'ada', resources: [RESOURCE] })
  const signed = createStage()
  const token = await signed.token({ act: { sub: 'bob' } })
  for (const bring of [() => asked.bring(opaque), () => signed.bring(token)]) {
    const { auth } = await bring()
    expect(() => Object.assign(auth as object, { subject: 'root' })).toThrow(TypeError)
    expect(() => Object.assign(auth?.claims as object, { sub: 'root' })).toThrow(TypeError)
    expect(() => Object.assign(auth?.scopes as object, { 0: 'admin', length: 1 })).toThrow(TypeError)
    expect((await bring()).auth?.subject).toBe('ada')
  }
  const { auth } = await signed.bring(token)
  expect(() => Object.assign(auth?.claims?.act as object, { sub: 'root' })).toThrow(TypeError)
})
