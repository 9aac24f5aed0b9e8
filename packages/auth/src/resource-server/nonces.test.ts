import { SignJWT } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createNonces } from './dpop.ts'

const secret = 'a secret of thirty-two characters or more'

afterEach(() => void vi.useRealTimers())

describe('a nonce', () => {
  it('is accepted in every process that shares the secret, and in no other', async () => {
    const nonce = await createNonces({ secret }).issue()
    expect(await createNonces({ secret }).accepts(nonce)).toBe(true)
    expect(await createNonces({ secret: `${secret}!` }).accepts(nonce)).toBe(false)
    expect(await createNonces({}).accepts(nonce)).toBe(false)
  })

  it('expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const nonces = createNonces({ ttl: 10_000 })
    const nonce = await nonces.issue()
    vi.advanceTimersByTime(8_000)
    expect(await nonces.accepts(nonce)).toBe(true)
    vi.advanceTimersByTime(3_000)
    expect(await nonces.accepts(nonce)).toBe(false)
  })

  it('is distinguished from other JWTs with the same secret', async () => {
    const other = await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setExpirationTime('1m')
      .sign(new TextEncoder().encode(secret))
    expect(await createNonces({ secret }).accepts(other)).toBe(false)
    expect(await createNonces({ secret }).accepts(undefined)).toBe(false)
  })
})
