import { describe, expect, it, vi } from 'vitest'
import { FRONT, World } from './front.fixture.ts'

/** A login whose upstream tokens have expired, and the context of a handler. */
async function loggedIn(tokens: Record<string, unknown> = { expires_in: 0 }) {
  const world = new World({ timeout: 500 })
  world.provider.tokens = tokens
  const login = await world.logIn()
  const auth = await world.call(login.accessToken)
  if (auth instanceof Response) throw new Error(String(auth.status))
  world.provider.tokens = {}
  return { world, ...login, context: { auth } }
}

const slowly = (world: World, ms: number) => {
  world.provider.interfere = async ({ url }) => {
    if (url.endsWith('/token')) await new Promise((resolve) => setTimeout(resolve, ms))
    return undefined
  }
}

describe('upstreamToken', () => {
  it('returns the token of the provider while it is valid', async () => {
    const { world, context } = await loggedIn({})
    expect(await world.front.upstreamToken(context)).toBe('upstream-access-2')
    expect(world.provider.requests).toHaveLength(1)
  })

  it('refreshes a token that is about to expire, and keeps the new one', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const { world, context } = await loggedIn({})
      vi.setSystemTime(Date.now() + 3_541_000)
      expect(await world.front.upstreamToken(context)).toBe('upstream-access-3')
      expect(await world.front.upstreamToken(context)).toBe('upstream-access-3')
      expect(world.provider.requests.map(({ grant_type }) => grant_type)).toEqual([
        'authorization_code',
        'refresh_token',
      ])
    } finally {
      vi.useRealTimers()
    }
  })

  it('refreshes once for many callers of several processes', async () => {
    const { world, context } = await loggedIn()
    slowly(world, 150)
    const nodes = [world.front, world.createNode(), world.createNode()]
    const tokens = await Promise.all(Array.from({ length: 12 }, (_, n) => nodes[n % 3]?.upstreamToken(context)))
    expect(new Set(tokens)).toEqual(new Set(['upstream-access-3']))
    expect([world.provider.requests.length, world.provider.reused]).toEqual([2, 0])
  })

  it('keeps the new tokens although the store fails for a moment, because the old ones are used up', async () => {
    const { world, context } = await loggedIn()
    world.failStore(2, 'update')
    expect(await world.front.upstreamToken(context)).toBe('upstream-access-3')
    expect(await world.createNode().upstreamToken(context)).toBe('upstream-access-3')
    expect([world.provider.requests.length, world.provider.reused]).toEqual([2, 0])
  })

  it('does not use a refresh token that another process has just used', async () => {
    const { world, context } = await loggedIn()
    const { records, counters } = world.store
    let resume = () => {}
    const paused = new Promise<void>((resolve) => {
      resume = resolve
    })
    let reads = 0
    const get: typeof records.get = async (id, ttl) => {
      const record = await records.get(id, ttl)
      if (reads++ === 0) await paused
      return record
    }
    const slow = world.createNode({ store: { counters, records: { ...records, get } } })
    const late = slow.upstreamToken(context)
    expect(await world.front.upstreamToken(context)).toBe('upstream-access-3')
    resume()
    expect(await late).toBe('upstream-access-3')
    expect([world.provider.requests.length, world.provider.reused]).toEqual([2, 0])
  })

  it('does not replace tokens that another process has stored after its lease', async () => {
    const { world, context } = await loggedIn()
    const id = `${FRONT} upstream:${context.auth.claims?.sid}`
    const before = await world.store.records.get(id)
    world.provider.interfere = async ({ url }) => {
      if (url.endsWith('/token'))
        await world.store.records.update(id, (record) => void Object.assign(record, { lease: { holder: 'other' } }))
      return undefined
    }
    expect(await world.front.upstreamToken(context)).toBe('upstream-access-3')
    expect(await world.store.records.get(id)).toMatchObject({ tokens: before?.tokens, lease: { holder: 'other' } })
  })

  it('lets another process refresh when the first one has died', async () => {
    const { world, context } = await loggedIn()
    const id = `${FRONT} upstream:${context.auth.claims?.sid}`
    await world.store.records.update(id, (record) => {
      record.lease = { holder: 'dead', until: Date.now() + 300 }
    })
    const start = Date.now()
    expect(await world.front.upstreamToken(context)).toBe('upstream-access-3')
    expect(Date.now() - start).toBeGreaterThanOrEqual(290)
  })

  it('rejects without ending the login while the provider is unavailable', async () => {
    const { world, context, accessToken } = await loggedIn()
    world.provider.interfere = () => new Response('', { status: 503 })
    await expect(world.front.upstreamToken(context)).rejects.toThrow(
      'refresh: The token request was refused with HTTP status 503',
    )
    world.provider.interfere = () => undefined
    expect(await world.statusOf(accessToken)).toBe(200)
    expect(await world.front.upstreamToken(context)).toBe('upstream-access-3')
  })

  it('rejects and ends the login when the provider has ended it', async () => {
    const { world, context, accessToken } = await loggedIn()
    world.provider.refreshable.clear()
    await expect(world.front.upstreamToken(context)).rejects.toThrow(
      'refresh: The login at login.example has ended. The client logs in again with its next request.',
    )
    expect(await world.statusOf(accessToken)).toBe(401)
  })

  it('uses a token without a refresh token until it expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const { world, context, accessToken } = await loggedIn({ refresh_token: undefined })
      vi.setSystemTime(Date.now() + 3_590_000)
      expect(await world.front.upstreamToken(context)).toBe('upstream-access-2')
      vi.setSystemTime(Date.now() + 11_000)
      await expect(world.front.upstreamToken(context)).rejects.toThrow('has ended')
      expect(await world.statusOf(accessToken)).toBe(401)
    } finally {
      vi.useRealTimers()
    }
  })

  it('needs the context of a request that this front has authenticated', async () => {
    const { world, context } = await loggedIn()
    const other = { auth: { ...context.auth, issuer: 'https://other.example' } }
    for (const wrong of [{}, { auth: undefined }, other, { auth: { ...context.auth, claims: {} } }]) {
      await expect(world.front.upstreamToken(wrong)).rejects.toThrow('upstreamToken: expected the context of a request')
    }
  })

  it('does not bring tokens back after a revocation during a refresh', async () => {
    const { world, context, clientId, refreshToken } = await loggedIn()
    slowly(world, 100)
    const pending = world.front.upstreamToken(context).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 30))
    await world.post('/revoke', { client_id: clientId, token: refreshToken })
    await pending
    expect(await world.store.records.get(`${FRONT} upstream:${context.auth.claims?.sid}`)).toBeUndefined()
    await expect(world.front.upstreamToken(context)).rejects.toThrow('has ended')
  })
})

describe('the tokens of the provider in the store', () => {
  it('are sealed', async () => {
    const { world, context } = await loggedIn({})
    const record = await world.store.records.get(`${FRONT} upstream:${context.auth.claims?.sid}`)
    expect(JSON.stringify(record)).not.toContain('upstream-')
  })

  it('cannot be moved to the login of another user, or changed', async () => {
    const { world, context } = await loggedIn({})
    world.provider.claims = { sub: 'eve' }
    const eve = await world.logIn()
    const auth = await world.call(eve.accessToken)
    if (auth instanceof Response) throw new Error(String(auth.status))
    const ada = await world.store.records.get(`${FRONT} upstream:${context.auth.claims?.sid}`)
    await world.store.records.update(`${FRONT} upstream:${auth.claims?.sid}`, (record) => {
      record.tokens = ada?.tokens
    })
    await expect(world.front.upstreamToken({ auth })).rejects.toThrow('has ended')
  })

  it('and the grants end with the login', async () => {
    const { world, context, clientId, refreshToken } = await loggedIn({})
    const id = context.auth.claims?.sid
    await world.post('/revoke', { client_id: clientId, token: refreshToken })
    for (const name of [`${FRONT} grant:${id}`, `${FRONT} upstream:${id}`])
      expect(await world.store.records.get(name)).toBeUndefined()
  })
})
