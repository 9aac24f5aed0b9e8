import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { manualRedirect, type OAuthOptions, oauth } from '@mcpx/auth/client'
import { fileStore, loopbackRedirect } from '@mcpx/auth/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { protect } from './protected.ts'
import { type RunningProvider, startProvider, visit } from './provider.ts'

/** The lifetime of tokens, in seconds. */
const TTL = 3

let provider: RunningProvider
beforeAll(async () => {
  provider = await startProvider({ accessTokens: 'jwt', ttl: TTL })
})
afterAll(() => provider?.close())

/** A redirect. Its browser logs in automatically and opens the redirect URI on the port of the client. */
const redirect = loopbackRedirect({
  open(url) {
    void visit(url, url.searchParams.get('redirect_uri') ?? '').then((back) => fetch(back))
    return true
  },
})

const failingRedirect = manualRedirect('http://127.0.0.1:9/back', () => {
  throw new Error('No login is expected.')
})

const newFile = async () => join(await mkdtemp(join(tmpdir(), 'mcpx-auth-')), 'tokens.json')

describe.each([
  ['bearer tokens', {}],
  ['key-bound tokens', { dpop: true }],
])('a file with %s', (_, options: Partial<OAuthOptions>) => {
  it('lets the next run use the stored tokens, although they have expired and rotate', async () => {
    const file = await newFile()
    const { connect } = protect({ issuer: provider.issuer, scopes: ['mcp'], clockTolerance: 0 })
    const before = provider.grants.length
    const since = () => provider.grants.slice(before)
    const first = await connect(oauth({ ...options, redirect, store: fileStore(file) }))
    expect(await first.tools.whoami({})).toMatchObject({ subject: 'ada' })
    await first.close()
    await wait(TTL * 1_000)

    const auths = [1, 2].map(() => oauth({ ...options, redirect: failingRedirect, store: fileStore(file) }))
    const clients = await Promise.all(auths.map((auth) => connect(auth)))
    const calls = clients.flatMap((client) => Array.from({ length: 10 }, () => client.tools.whoami({})))
    expect((await Promise.all(calls)).map(({ subject }) => subject)).toEqual(calls.map(() => 'ada'))
    expect(since()).toEqual(['authorization_code', 'refresh_token'])
    await Promise.all(clients.map((client) => client.close()))
    expect(Object.keys(JSON.parse(await readFile(file, 'utf8')).records).length).toBe(options.dpop ? 5 : 4)
  }, 20_000)
})
