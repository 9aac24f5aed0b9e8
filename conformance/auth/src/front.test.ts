import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { memoryStore as memoryTokens, oauth } from '@mcpx/auth/client'
import { connect } from '@mcpx/client'
import { http } from '@mcpx/transport-http/client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasRedis, type RedisServer, startRedis } from '../../../packages/store-redis/src/redis.fixture.ts'
import { CALLBACK, type Deployment, deploy, userCalled } from './front.fixture.ts'
import { visit } from './provider.ts'

const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe.skipIf(!hasRedis)('two nodes with an OAuth front on one Redis, before a third-party provider', () => {
  let redis: RedisServer
  let deployment: Deployment | undefined
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  afterEach(() => deployment?.close())

  async function start(options: Parameters<typeof deploy>[1] = {}): Promise<Deployment> {
    deployment = await deploy(redis, options)
    return deployment
  }

  it.each(['modern', 'legacy'] as const)('log a user of our client in, in the %s era', async (era) => {
    const { url, handled, warnings } = await start()
    const client = await connect(http(url, { auth: oauth({ redirect: userCalled('ada') }) }), { era })
    expect((await client.callTool('whoami')).structuredContent).toEqual({ subject: 'ada', scopes: ['mcp'] })
    const [profile] = (await client.callTool('profile')).content
    expect(profile).toMatchObject({ text: expect.stringMatching(/^200 .*"sub":"ada"/) })
    // The tool requires another scope, so the client logs in again automatically.
    expect((await client.callTool('wipe')).content).toEqual([{ type: 'text', text: 'wiped' }])
    await client.close()
    expect(Math.min(...handled)).toBeGreaterThan(5)
    expect(warnings).toEqual([])
  })

  it('refresh the tokens of our client, and keep users apart', async () => {
    const { url } = await start({ accessTokenTtl: 2_000 })
    const [ada, bob] = await Promise.all(
      ['ada', 'bob'].map((name) =>
        connect(http(url, { auth: oauth({ redirect: userCalled(name), store: memoryTokens() }) })),
      ),
    )
    for (let n = 0; n < 3; n++) {
      expect((await ada?.callTool('whoami'))?.structuredContent).toMatchObject({ subject: 'ada' })
      expect((await bob?.callTool('whoami'))?.structuredContent).toMatchObject({ subject: 'bob' })
      await delay(1_100)
    }
    await ada?.close()
    await bob?.close()
  })

  it('refresh the token of the provider once for many calls, although it ends logins whose refresh token is used twice', async () => {
    const { url, provider, warnings } = await start({ upstreamTtl: 2 })
    const client = await connect(http(url, { auth: oauth({ redirect: userCalled('ada') }) }))
    for (let round = 1; round <= 2; round++) {
      await delay(2_100)
      const results = await Promise.all(Array.from({ length: 8 }, () => client.callTool('profile')))
      for (const { content } of results)
        expect(content[0]).toMatchObject({ text: expect.stringMatching(/^200 .*"sub":"ada"/) })
      expect(provider.grants.filter((grant) => grant === 'refresh_token')).toHaveLength(round)
    }
    expect(warnings).toEqual([])
    await client.close()
  })

  it('log a user of the official client in', async () => {
    const { url } = await start()
    const program = fileURLToPath(new URL('official-client.fixture.mjs', import.meta.url))
    const child = spawn(process.execPath, [program, url, CALLBACK], { stdio: ['pipe', 'pipe', 'inherit'] })
    try {
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const page = (await lines.next()).value ?? ''
      child.stdin.end(`${await visit(new URL(page), CALLBACK, 'ada')}\n`)
      expect(JSON.parse((await lines.next()).value ?? '')).toEqual({ subject: 'ada', scopes: ['mcp'] })
    } finally {
      child.kill('SIGKILL')
    }
  })
})
