/** Servers within servers, and servers behind clients: mounts and proxies, each hop in a revision of its own. */

import { type Client, type ElicitAsk, proxy } from '@mcpx/client'
import { type Change, REVISIONS, type Revision } from '@mcpx/protocol'
import { createServer, type Server, ToolError } from '@mcpx/server'
import { caught, settled } from '@mcpx/testkit'
import { expect } from 'vitest'
import * as z from 'zod'
import type { Behaviours } from '../behaviour.ts'
import type { Rig } from '../rig.ts'
import { textOf } from './calling-tools.ts'
import { heard } from './changes.ts'

const name = z.object({ name: z.string() })

/** What stands behind a proxy. */
function upstream() {
  return createServer({ name: 'upstream', version: '1' }, { pageSize: 2 })
    .tool('add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => String(a + b))
    .tool('fail', {}, () => {
      throw new ToolError('No.')
    })
    .tool('talk', {}, async (_args, ctx) => {
      await ctx.progress(1, 2)
      await ctx.log.warning('careful', 'up')
      await ctx.progress(2, 2)
      return 'talked'
    })
    .tool('ask', {}, async (_args, ctx) => {
      const first = await ctx.elicit('first', { message: 'First?', schema: name })
      const second = await ctx.elicit('second', { message: 'Second?', schema: name })
      return `${first.content?.name} ${second.content?.name}`
    })
    .tool('folders', {}, async (_args, ctx) => JSON.stringify(await ctx.roots()))
    .prompt('greet', { args: name, complete: { name: ['Ada', 'Bob'] } }, (args) => `Hello ${args.name}`)
    .resource('note://a', { subscribe: true }, 'a')
    .resource('item://{id}', {}, ({ id }) => `item ${id}`)
}

/** As a client without callbacks has to declare it to a legacy server, so that it may ask. */
const capabilities = { elicitation: { form: {} }, roots: {} }

async function proxied(rig: Rig, server: Server, era: Revision): Promise<Server> {
  const client: Client = (await rig.connect(server, { era, capabilities })) as Client
  return createServer({ name: 'proxy', version: '1' }).mount('up', proxy(client))
}

async function inEach(run: (era: Revision) => Promise<void>, eras: readonly Revision[] = REVISIONS): Promise<void> {
  for (const era of eras) {
    try {
      await run(era)
    } catch (error) {
      throw new Error(`With an upstream of ${era}: ${(error as Error).message}`, { cause: error })
    }
  }
}

/** A question that reaches a modern client ends the call behind the proxy, which counts as a fault there. */
function forgiveQuestions({ reports }: Rig): void {
  const others = reports.splice(0).filter((report) => report.name !== 'InputRequired')
  reports.push(...others)
}

const canElicit = REVISIONS.filter((revision) => revision >= '2025-06-18')

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

  async 'questions pass through a proxy'(rig) {
    await inEach(async (era) => {
      const client = await rig.connect(await proxied(rig, upstream(), era), {
        onElicit: ({ message }: ElicitAsk) => ({ action: 'accept', content: { name: `to ${message}` } }),
      })
      expect(textOf(await client.callTool('up.ask'))).toBe('to First? to Second?')
    }, canElicit)
    forgiveQuestions(rig)
  },

  async 'the folders of the client in front are known behind a proxy'(rig) {
    await inEach(async (era) => {
      const roots = [{ uri: 'file:///a', name: 'A' }]
      const client = await rig.connect(await proxied(rig, upstream(), era), { roots })
      expect(JSON.parse(textOf(await client.callTool('up.folders')))).toEqual(roots)
    })
    forgiveQuestions(rig)
  },

  async 'a question that passes through a proxy is no fault'(rig) {
    await inEach(async (era) => {
      const client = await rig.connect(await proxied(rig, upstream(), era), { roots: [] })
      await client.callTool('up.folders')
      expect(rig.reports.splice(0)).toEqual([])
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

  async 'two proxies in a row, one of each era, are as one'(rig) {
    for (const [near, far] of [
      ['2025-11-25', '2026-07-28'],
      ['2026-07-28', '2025-11-25'],
    ] as const) {
      const middle = await proxied(rig, upstream(), far)
      const client = await rig.connect(await proxied(rig, middle, near), { roots: [{ uri: 'file:///a' }] })
      expect((await client.listTools().all()).map((tool) => tool.name)).toContain('up.up.add')
      expect(textOf(await client.callTool('up.up.add', { a: 1, b: 2 }))).toBe('3')
      expect(textOf(await client.callTool('up.up.folders'))).toBe('[{"uri":"file:///a"}]')
      const seen: number[] = []
      await client.callTool('up.up.talk', {}, { onProgress: ({ progress }) => void seen.push(progress) })
      expect(seen).toEqual([1, 2])
    }
    forgiveQuestions(rig)
  },

  async 'questions pass through two proxies in a row'(rig) {
    for (const [near, far] of [
      ['2025-11-25', '2026-07-28'],
      ['2026-07-28', '2025-11-25'],
    ] as const) {
      const middle = await proxied(rig, upstream(), far)
      const client = await rig.connect(await proxied(rig, middle, near), {
        onElicit: ({ message }: ElicitAsk) => ({ action: 'accept', content: { name: `to ${message}` } }),
      })
      expect(textOf(await client.callTool('up.up.ask'))).toBe('to First? to Second?')
    }
    forgiveQuestions(rig)
  },
}
