import { createServer } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { createFullServer, EVERY_REQUEST } from './full-server.ts'
import { closeAll, connectRawClient, KEY, MODERN, meta } from './raw-client.ts'

afterEach(closeAll)

describe('the result of server/discover', () => {
  it('contains versions, capabilities and cache hints [S-030]', async () => {
    const client = connectRawClient(createFullServer({ instructions: 'Be brief' }))
    const { result } = await client.call('server/discover')
    expect(result).toEqual({
      resultType: 'complete',
      supportedVersions: [MODERN],
      capabilities: {
        logging: {},
        completions: {},
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        tools: { listChanged: true },
      },
      instructions: 'Be brief',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { [`${KEY}serverInfo`]: { name: 'full', version: '1.0.0' } },
    })
  })

  it('contains the server info in the metadata, and instructions if there are some [S-031, S-034]', async () => {
    const { result } = await connectRawClient(createFullServer()).call('server/discover')
    expect(result).not.toHaveProperty('serverInfo')
    expect(result).not.toHaveProperty('instructions')
    expect(result?._meta).toHaveProperty([`${KEY}serverInfo`, 'name'], 'full')
  })

  it('contains the same versions as a version error [S-033]', async () => {
    const client = connectRawClient(createFullServer())
    const { error } = await client.ask('tools/list', { _meta: meta({}, { [`${KEY}protocolVersion`]: '2031-01-01' }) })
    expect((await client.call('server/discover')).result?.supportedVersions).toEqual(error?.data?.supported)
  })
})

describe('the declared capabilities', () => {
  const methodsOf: Readonly<Record<string, readonly string[]>> = {
    tools: ['tools/list', 'tools/call'],
    resources: ['resources/list', 'resources/templates/list', 'resources/read'],
    prompts: ['prompts/list', 'prompts/get'],
    completions: ['completion/complete'],
  }
  const makers = {
    nothing: () => createServer({ name: 's', version: '1' }),
    tools: () => createServer({ name: 's', version: '1' }).tool('echo', {}, () => ''),
    resources: () => createServer({ name: 's', version: '1' }).resource('config://app', {}, 'x'),
    prompts: () => createServer({ name: 's', version: '1' }).prompt('greet', {}, () => 'x'),
    everything: () => createFullServer(),
  }

  it.each(Object.entries(makers))('match the supported methods, with %s [S-032]', async (_, make) => {
    const client = connectRawClient(make())
    const { capabilities } = (await client.call('server/discover')).result as { capabilities: object }
    for (const [capability, methods] of Object.entries(methodsOf)) {
      for (const method of methods) {
        const params = EVERY_REQUEST.find(([name]) => name === method)?.[1]
        const { error } = await client.call(method, params)
        expect([method, error?.code]).toEqual([method, capability in capabilities ? undefined : -32601])
      }
    }
  })

  it('stay valid when items are added and removed [S-032, S-160, S-180, S-190]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const client = connectRawClient(server)
    const declared = async () => {
      const { result } = await client.call('server/discover')
      return Object.keys(result?.capabilities as object)
    }
    expect(await declared()).toEqual([])
    server.tool('t', {}, () => '')
    server.resource('a:b', {}, '')
    server.prompt('p', {}, () => '')
    expect(await declared()).toEqual(['logging', 'prompts', 'resources', 'tools'])
    server.removeTool('t')
    server.removeResource('a:b')
    server.removePrompt('p')
    expect(await declared()).toEqual(['logging', 'prompts', 'resources', 'tools'])
    expect((await client.call('tools/list')).result?.tools).toEqual([])
    expect((await client.call('resources/list')).result?.resources).toEqual([])
    expect((await client.call('prompts/list')).result?.prompts).toEqual([])
  })
})
