import { createServer } from '@mcpx/server'
import { afterEach, describe, expect, it } from 'vitest'
import { createFullServer, EVERY_REQUEST } from './full-server.ts'
import { closeAll, connectWire, KEY, MODERN, meta } from './wire.ts'

afterEach(closeAll)

describe('what a server says of itself', () => {
  it('is which versions it serves, what it can do, and how long that holds [S-030]', async () => {
    const wire = connectWire(createFullServer({ instructions: 'Be brief' }))
    const { result } = await wire.call('server/discover')
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

  it('has its name in the metadata, and instructions where there are some [S-031, S-034]', async () => {
    const { result } = await connectWire(createFullServer()).call('server/discover')
    expect(result).not.toHaveProperty('serverInfo')
    expect(result).not.toHaveProperty('instructions')
    expect(result?._meta).toHaveProperty([`${KEY}serverInfo`, 'name'], 'full')
  })

  it('names the versions that a refusal names [S-033]', async () => {
    const wire = connectWire(createFullServer())
    const { error } = await wire.ask('tools/list', { _meta: meta({}, { [`${KEY}protocolVersion`]: '2031-01-01' }) })
    expect((await wire.call('server/discover')).result?.supportedVersions).toEqual(error?.data?.supported)
  })
})

describe('what a server says that it can do', () => {
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

  it.each(Object.entries(makers))('is what it can do, with %s [S-032]', async (_, make) => {
    const wire = connectWire(make())
    const { capabilities } = (await wire.call('server/discover')).result as { capabilities: object }
    for (const [capability, methods] of Object.entries(methodsOf)) {
      for (const method of methods) {
        const params = EVERY_REQUEST.find(([name]) => name === method)?.[1]
        const { error } = await wire.call(method, params)
        expect([method, error?.code]).toEqual([method, capability in capabilities ? undefined : -32601])
      }
    }
  })

  it('stays true when offers come and go [S-032, S-160, S-180, S-190]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const wire = connectWire(server)
    const declared = async () => {
      const { result } = await wire.call('server/discover')
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
    expect((await wire.call('tools/list')).result?.tools).toEqual([])
    expect((await wire.call('resources/list')).result?.resources).toEqual([])
    expect((await wire.call('prompts/list')).result?.prompts).toEqual([])
  })
})
