/** Servers within servers, and servers behind clients: what mounts and proxies pass on. */

import type { Change } from '@mcpx/protocol'
import { createServer, type Server } from '@mcpx/server'
import { caught, settled } from '@mcpx/testkit'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { inEach, proxied, upstream } from '../proxied.ts'
import { textOf } from './calling-tools.ts'
import { heard } from './changes.ts'

export const passingOn: Behaviours = {
  async 'a mounted server is offered under its prefix'({ connect }) {
    const server = createServer({ name: 'outer', version: '1' })
      .tool('own', {}, () => 'own')
      .mount('one', upstream())
      .mount('two', upstream())
    const client = await connect(server)
    const tools = (await client.listTools().all()).map((tool) => tool.name)
    expect(tools).toHaveLength(11)
    expect(tools).toEqual(expect.arrayContaining(['own', 'one.add', 'two.add']))
    expect(textOf(await client.callTool('two.add', { a: 1, b: 2 }))).toBe('3')
    expect(textOf(await client.callTool('own'))).toBe('own')
    expect((await client.getPrompt('one.greet', { name: 'Ada' })).messages).toHaveLength(1)
    expect((await client.listPrompts().all()).map((prompt) => prompt.name)).toEqual(['one.greet', 'two.greet'])
    const [resource] = await client.listResources().all()
    expect((await client.readResource(resource?.uri ?? '')).contents).toMatchObject([{ uri: resource?.uri, text: 'a' }])
  },

  async 'a proxy of a server of any revision offers what that server offers'(rig) {
    await inEach(async (era) => {
      const client = await rig.connect(await proxied(rig, upstream(), era))
      expect((await client.listTools().all()).map((tool) => tool.name)).toEqual([
        'up.add',
        'up.fail',
        'up.talk',
        'up.ask',
        'up.folders',
      ])
      expect(textOf(await client.callTool('up.add', { a: 1, b: 2 }))).toBe('3')
      expect(textOf(await client.callTool('up.add', { a: 'x', b: 2 }))).toMatch(/^arguments\.a: /)
      expect(await client.callTool('up.fail')).toMatchObject({ isError: true, content: [{ text: 'No.' }] })
      await expect(client.callTool('up.nope')).rejects.toMatchObject({ code: -32602 })
      expect(await client.getPrompt('up.greet', { name: 'Ada' })).toMatchObject({
        messages: [{ content: { text: 'Hello Ada' } }],
      })
      const [resource] = await client.listResources().all()
      expect(await client.readResource(resource?.uri ?? '')).toMatchObject({ contents: [{ text: 'a' }] })
      expect(await client.listResourceTemplates().all()).toHaveLength(1)
    })
  },

  async 'a proxy completes arguments'(rig) {
    await inEach(async (era) => {
      const client = await rig.connect(await proxied(rig, upstream(), era))
      const ref = { type: 'ref/prompt', name: 'up.greet' } as const
      const { completion } = await client.complete({ ref, argument: { name: 'name', value: 'A' } })
      expect(completion.values).toEqual(['Ada'])
    })
  },

  async 'a resource that the server behind a proxy does not have has the code of the era in front'(rig) {
    await inEach(async (era) => {
      const client = await rig.connect(await proxied(rig, upstream(), era))
      const [resource] = await client.listResources().all()
      const uri = `${resource?.uri}nope`
      const code = rig.era === 'legacy' ? -32002 : -32602
      await expect(client.readResource(uri)).rejects.toMatchObject({ code })
    })
  },

  async 'progress and logs pass through a proxy'(rig) {
    await inEach(async (era) => {
      const client = await rig.connect(await proxied(rig, upstream(), era), { logLevel: 'info', onLog: () => {} })
      const seen: unknown[] = []
      const result = await client.callTool(
        'up.talk',
        {},
        { onProgress: ({ progress }) => void seen.push(progress), onLog: ({ data }) => void seen.push(data) },
      )
      expect(textOf(result)).toBe('talked')
      expect(seen).toEqual([1, 'careful', 2])
    })
  },

  async 'logs pass through a proxy to a caller that named no level'(rig) {
    await inEach(async (era) => {
      const seen: unknown[] = []
      const client = await rig.connect(await proxied(rig, upstream(), era), {
        onLog: ({ data }) => void seen.push(data),
      })
      await client.callTool('up.talk')
      expect(seen).toEqual(['careful'])
    })
  },

  async 'cancelling reaches the server behind a proxy'(rig) {
    await inEach(async (era) => {
      let begin = () => {}
      let end = (_: unknown) => {}
      const begun = new Promise<void>((resolve) => {
        begin = resolve
      })
      const ended = new Promise((resolve) => {
        end = resolve
      })
      const server = upstream().tool('wait', {}, (_args, ctx) => {
        ctx.signal.addEventListener('abort', () => end('stopped'))
        begin()
        return new Promise(() => {})
      })
      const client = await rig.connect(await proxied(rig, server as unknown as Server, era))
      const stop = new AbortController()
      const call = caught(() => client.callTool('up.wait', {}, { signal: stop.signal }))
      await begun
      stop.abort()
      expect(await call).toMatchObject({ reason: 'cancelled' })
      expect(await ended).toBe('stopped')
    })
  },

  async 'list changes pass through a proxy'(rig) {
    await inEach(async (era) => {
      const server = upstream()
      const { onChange, count } = heard()
      await rig.connect(await proxied(rig, server, era), { onChange })
      await settled()
      server.tool('more', {}, () => 'x')
      expect(await count(1)).toEqual([{ kind: 'tools' }] satisfies Change[])
    })
  },

  async 'updates of resources pass through a proxy'(rig) {
    await inEach(async (era) => {
      const server = upstream()
      const { onChange, count } = heard()
      const client = await rig.connect(await proxied(rig, server, era), { onChange })
      const [resource] = await client.listResources().all()
      const uri = resource?.uri ?? ''
      await client.subscribe(uri)
      await settled()
      server.resourceUpdated('note://a')
      expect(await count(1)).toEqual([{ kind: 'resource', uri }] satisfies Change[])
    })
  },
}
