/** Checks what mounted servers and proxies forward. */

import { type Change, eraOf } from '@mcpx/protocol'
import { createServer, type Server } from '@mcpx/server'
import { catchError, waitForTasks } from '@mcpx/testing'
import { expect } from 'vitest'
import type { Behaviours } from '../behaviour.ts'
import { deferred } from '../deferred.ts'
import { createProxy, forEachRevision, upstream } from '../proxied.ts'
import { errorTextOf, textOf } from '../results.ts'
import { hasSeparateRequests } from '../transports.ts'
import { collectChanges } from './changes.ts'

export const passingOn: Behaviours = {
  async 'a mounted server is available under its prefix'({ connect }) {
    const server = createServer({ name: 'outer', version: '1' })
      .tool('own', {}, () => 'own')
      .mount('one', upstream())
      .mount('two', upstream())
    const client = await connect(server)
    const tools = ['add', 'fail', 'talk', 'ask', 'folders']
    expect((await client.listTools().all()).map((tool) => tool.name)).toEqual([
      'own',
      ...['one', 'two'].flatMap((prefix) => tools.map((name) => `${prefix}.${name}`)),
    ])
    expect(textOf(await client.callTool('two.add', { a: 1, b: 2 }))).toBe('3')
    expect(textOf(await client.callTool('own'))).toBe('own')
    expect(await client.getPrompt('one.greet', { name: 'Ada' })).toMatchObject({
      messages: [{ content: { text: 'Hello Ada' } }],
    })
    expect((await client.listPrompts().all()).map((prompt) => prompt.name)).toEqual(['one.greet', 'two.greet'])
    const [resource] = await client.listResources().all()
    expect((await client.readResource(resource?.uri ?? '')).contents).toMatchObject([{ uri: resource?.uri, text: 'a' }])
  },

  async 'a proxy serves the tools, resources and prompts of a server of any revision'(rig) {
    await forEachRevision(async (era) => {
      const client = await rig.connect(await createProxy(rig, upstream(), era))
      expect((await client.listTools().all()).map((tool) => tool.name)).toEqual([
        'up.add',
        'up.fail',
        'up.talk',
        'up.ask',
        'up.folders',
      ])
      expect(textOf(await client.callTool('up.add', { a: 1, b: 2 }))).toBe('3')
      expect(errorTextOf(await client.callTool('up.add', { a: 'x', b: 2 }))).toMatch(/^arguments\.a: /)
      expect(errorTextOf(await client.callTool('up.fail'))).toBe('No.')
      await expect(client.callTool('up.nope')).rejects.toMatchObject({
        code: -32602,
        message: 'Unknown tool: "up.nope"',
      })
      expect(await client.getPrompt('up.greet', { name: 'Ada' })).toMatchObject({
        messages: [{ content: { text: 'Hello Ada' } }],
      })
      const [resource] = await client.listResources().all()
      expect(await client.readResource(resource?.uri ?? '')).toMatchObject({ contents: [{ text: 'a' }] })
      const [template, ...others] = await client.listResourceTemplates().all()
      expect(others).toEqual([])
      const item = (template?.uriTemplate ?? '').replace('{id}', '7')
      expect(await client.readResource(item)).toMatchObject({ contents: [{ uri: item, text: 'item 7' }] })
    })
  },

  async 'a proxy completes arguments'(rig) {
    await forEachRevision(async (era) => {
      const client = await rig.connect(await createProxy(rig, upstream(), era))
      const ref = { type: 'ref/prompt', name: 'up.greet' } as const
      const { completion } = await client.complete({ ref, argument: { name: 'name', value: 'A' } })
      expect(completion.values).toEqual(['Ada'])
    })
  },

  async 'a missing resource behind a proxy fails with the code of the client’s era'(rig) {
    await forEachRevision(async (era) => {
      const client = await rig.connect(await createProxy(rig, upstream(), era))
      const [resource] = await client.listResources().all()
      const uri = `${resource?.uri}nope`
      const code = rig.era === 'legacy' ? -32002 : -32602
      await expect(client.readResource(uri)).rejects.toMatchObject({ code, data: { uri } })
    })
  },

  async 'progress and logs pass through a proxy'(rig) {
    await forEachRevision(async (era) => {
      const client = await rig.connect(await createProxy(rig, upstream(), era), { logLevel: 'info', onLog: () => {} })
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

  async 'logs pass through a proxy to a client without a log level'(rig) {
    await forEachRevision(async (era) => {
      const seen: unknown[] = []
      const client = await rig.connect(await createProxy(rig, upstream(), era), {
        onLog: ({ data }) => void seen.push(data),
      })
      await client.callTool('up.talk')
      expect(seen).toEqual(['careful'])
    })
  },

  async 'cancelling a call stops it on the server behind a proxy'(rig) {
    await forEachRevision(async (era) => {
      const [begun, ended] = [deferred<void>(), deferred<unknown>()]
      const server = upstream().tool('wait', {}, (_args, ctx) => {
        ctx.signal.addEventListener('abort', () => ended.resolve(ctx.signal.reason))
        begun.resolve()
        return new Promise(() => {})
      })
      const client = await rig.connect(await createProxy(rig, server as unknown as Server, era))
      const stop = new AbortController()
      const call = catchError(() => client.callTool('up.wait', {}, { signal: stop.signal }))
      await rig.waitFor('the call behind the proxy', begun.promise)
      stop.abort()
      expect(await call).toMatchObject({ name: 'ConnectionError', reason: 'cancelled' })
      const reason = eraOf(era) === 'modern' && hasSeparateRequests(rig.transport, era) ? 'closed' : 'cancelled'
      expect(await rig.waitFor('the abort signal of the tool behind the proxy', ended.promise)).toMatchObject({
        name: 'ConnectionError',
        reason,
      })
    })
  },

  async 'list changes pass through a proxy'(rig) {
    await forEachRevision(async (era) => {
      const server = upstream()
      const { onChange, count } = collectChanges(rig)
      await rig.connect(await createProxy(rig, server, era), { onChange })
      await waitForTasks()
      server.tool('more', {}, () => 'x')
      expect(await count(1)).toEqual([{ kind: 'tools' }] satisfies Change[])
    })
  },

  async 'updates of resources pass through a proxy'(rig) {
    await forEachRevision(async (era) => {
      const server = upstream()
      const { onChange, changes, count } = collectChanges(rig)
      const client = await rig.connect(await createProxy(rig, server, era), { onChange })
      const [resource] = await client.listResources().all()
      const uri = resource?.uri ?? ''
      await client.subscribe(uri)
      await waitForTasks()
      // Streams over HTTP were replaced, so everything counts as changed.
      changes.length = 0
      server.resourceUpdated('note://a')
      expect(await count(1)).toEqual([{ kind: 'resource', uri }] satisfies Change[])
    })
  },
}
