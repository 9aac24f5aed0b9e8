import { clientCredentials, oauth } from '@mcpx/auth/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { protect, RESOURCE, userCalled } from './protected.ts'
import { MACHINE, RESOURCE_CLIENT, type RunningProvider, startProvider } from './provider.ts'

let jwt: RunningProvider
let opaque: RunningProvider
let nonces: RunningProvider
beforeAll(async () => {
  jwt = await startProvider({ accessTokens: 'jwt' })
  opaque = await startProvider({ accessTokens: 'opaque' })
  nonces = await startProvider({ accessTokens: 'jwt', dpopNonces: true })
})
afterAll(async () => {
  for (const each of [jwt, opaque, nonces]) await each?.close()
})

const machine = (options: object = {}) => clientCredentials({ ...MACHINE, scope: 'mcp', ...options })

describe('a third-party authorization server', () => {
  it.each(['modern', 'legacy'] as const)(
    'logs a user in with a JWT that its keys verify, in the %s era [S-270, S-271, S-273]',
    async (era) => {
      const { connect, challenges } = protect({ issuer: jwt.issuer, scopes: ['mcp'] })
      const client = await connect(oauth({ redirect: userCalled('ada') }), { era })
      const me = await client.tools.whoami({})
      expect(me).toMatchObject({ subject: 'ada', issuer: jwt.issuer, scopes: ['mcp'] })
      expect(challenges).toEqual([expect.stringMatching(/^401 Bearer scope="mcp", resource_metadata="/)])
      await client.close()
    },
  )

  it('grants more scopes when a tool needs them, in one step [S-274]', async () => {
    for (const era of ['modern', 'legacy'] as const) {
      const { connect, challenges } = protect({ issuer: jwt.issuer, scopes: ['mcp'] })
      const client = await connect(oauth({ redirect: userCalled('ada') }), { era })
      expect((await client.callTool('wipe')).content).toEqual([{ type: 'text', text: 'wiped' }])
      expect(challenges.map((each) => each.slice(0, 3))).toEqual(['401', '403'])
      expect(challenges[1]).toMatch(/error="insufficient_scope".* scope="mcp admin", resource_metadata=/)
      await client.close()
    }
  })

  it('returns the subject of an opaque token by introspection', async () => {
    const { connect, problems } = protect({ issuer: opaque.issuer, scopes: ['mcp'], introspection: RESOURCE_CLIENT })
    const client = await connect(oauth({ redirect: userCalled('bob') }))
    expect(await client.tools.whoami({})).toMatchObject({ subject: 'bob', issuer: opaque.issuer, scopes: ['mcp'] })
    expect(problems).toEqual([])
    await client.close()
  })

  it('reports a revoked token by introspection', async () => {
    const introspection = { ...RESOURCE_CLIENT, maxAge: 0 }
    const { reach, refused } = protect({ issuer: opaque.issuer, introspection })
    const token = await tokenOf(opaque)
    const call = () => reach(RESOURCE, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
    expect((await call()).status).not.toBe(401)
    await post(`${opaque.issuer}/token/revocation`, { token })
    expect((await call()).status).toBe(401)
    expect(refused.at(-1)?.reason).toBe('inactive')
  })

  it.each(['jwt', 'opaque'] as const)('binds %s tokens to a key with DPoP', async (kind) => {
    const provider = kind === 'jwt' ? jwt : opaque
    const introspection = kind === 'opaque' ? RESOURCE_CLIENT : undefined
    const { connect, challenges } = protect({
      issuer: provider.issuer,
      introspection,
      scopes: ['mcp'],
      dpop: 'required',
    })
    const client = await connect(oauth({ redirect: userCalled('ada'), dpop: true }))
    expect(await client.tools.whoami({})).toMatchObject({ subject: 'ada' })
    expect(challenges).toEqual([expect.stringMatching(/^401 DPoP scope="mcp", resource_metadata=/)])
    await client.close()
  })

  it('requires nonces in DPoP proofs, like the server', async () => {
    const { connect, refused } = protect({
      issuer: nonces.issuer,
      scopes: ['mcp'],
      dpop: { required: true, nonces: true },
    })
    const client = await connect(machine({ dpop: true }))
    expect(await client.tools.whoami({})).toMatchObject({ clientId: MACHINE.clientId })
    expect(refused.map(({ reason }) => reason)).toContain('proof_nonce')
    await client.close()
  })

  it('refreshes rotating tokens during a session', async () => {
    const short = await startProvider({ accessTokens: 'jwt', ttl: 1 })
    try {
      const { connect } = protect({ issuer: short.issuer, scopes: ['mcp'], clockTolerance: 0 })
      const client = await connect(oauth({ redirect: userCalled('ada') }), { era: 'legacy' })
      for (let count = 0; count < 2; count++) {
        expect(await client.tools.whoami({})).toMatchObject({ subject: 'ada' })
        await new Promise((resolve) => setTimeout(resolve, 1_100))
      }
      await client.close()
      const [first, ...others] = short.grants
      expect(first).toBe('authorization_code')
      expect(others.length).toBeGreaterThan(0)
      expect(new Set(others)).toEqual(new Set(['refresh_token']))
    } finally {
      await short.close()
    }
  })

  it('issues tokens to machines, and the server rejects tokens for another server [S-273]', async () => {
    const { connect, reach, refused } = protect({ issuer: jwt.issuer, scopes: ['mcp'] })
    const client = await connect(machine())
    expect(await client.tools.whoami({})).toMatchObject({ subject: MACHINE.clientId, scopes: ['mcp'] })
    await client.close()
    const token = await tokenOf(jwt, 'http://127.0.0.1:9/other')
    const answer = await reach(RESOURCE, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
    expect([answer.status, refused.at(-1)?.reason]).toEqual([401, 'audience'])
  })

  it('is distinguished from another issuer with the same subject and session [S-278]', async () => {
    const { reach } = protect({ issuer: undefined, issuers: [jwt.issuer, nonces.issuer] })
    const open = async (token: string, session?: string) => {
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
      const message = session === undefined ? { method: 'initialize', params } : { method: 'ping' }
      return reach(RESOURCE, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
      })
    }
    const [one, two] = [await tokenOf(jwt), await tokenOf(nonces)]
    const session = (await open(one)).headers.get('mcp-session-id') as string
    expect((await open(one, session)).status).toBe(200)
    expect((await open(two, session)).status).toBe(404)
  })
})

async function post(url: string, form: Record<string, string>): Promise<Record<string, string>> {
  const authorization = `Basic ${btoa(`${MACHINE.clientId}:${MACHINE.clientSecret}`)}`
  const response = await fetch(url, { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text === '' ? {} : JSON.parse(text)
}

async function tokenOf({ issuer }: RunningProvider, resource = RESOURCE): Promise<string> {
  const { access_token } = await post(`${issuer}/token`, { grant_type: 'client_credentials', scope: 'mcp', resource })
  return access_token as string
}
