/** Mounted servers, and several servers behind one client. */

import { connectAll } from '@mcpx/client'
import { createServer, link, type Server } from '@mcpx/server'
import { waitForTasks } from '@mcpx/testing'
import { expect } from 'vitest'
import * as z from 'zod'
import type { Behaviours } from '../behaviour.ts'
import { errorTextOf, textOf } from '../results.ts'
import { collectChanges } from './changes.ts'

const name = z.object({ name: z.string() })
const ada = { subject: 'ada', scopes: [] }

function inner(onError?: (error: unknown) => void) {
  const server = createServer({ name: 'inner', version: '1' }, { onError })
    .tool('link', {}, () => link('note://a', 'a'))
    .tool('folders', {}, async (_args, ctx) => JSON.stringify(await ctx.roots()))
    .tool('adas', { visible: (auth) => auth?.subject === 'ada' }, () => 'for ada')
    .tool('fail', {}, () => {
      throw new Error('the password is 1234')
    })
    .prompt('greet', { args: name, complete: { name: ['Ada', 'Bob'] } }, (args) => `Hello ${args.name}`)
    .resource('note://a', { subscribe: true }, 'a')
    .resource('item://{id}', { complete: { id: ['1', '2'] } }, ({ id }) => `item ${id}`)
  return server as unknown as Server
}

const outer = (mounted: Server) => createServer({ name: 'outer', version: '1' }).mount('in', mounted)

export const mounting: Behaviours = {
  async 'a mounted server keeps its middleware, its visibility and its onError'({ connect }) {
    const errors: unknown[] = []
    const seen: string[] = []
    const mounted = inner((error) => void errors.push(error)).use((request, _ctx, next) => {
      seen.push(`${request.method} ${request.params.name ?? ''}`)
      return next()
    })
    const client = await connect(outer(mounted), { auth: ada })
    expect(textOf(await client.callTool('in.adas'))).toBe('for ada')
    expect(errorTextOf(await client.callTool('in.fail'))).toMatch(/^The tool failed \(error [0-9a-f]{8}\)$/)
    expect(errors).toMatchObject([{ message: 'the password is 1234' }])
    // An HTTP endpoint may list tools first, to find arguments that are sent as headers.
    const calls = seen.filter((each) => !each.startsWith('tools/list'))
    expect(calls).toEqual(['tools/call adas', 'tools/call fail'])
    const anonymous = await connect(outer(mounted))
    expect((await anonymous.listTools().all()).map((tool) => tool.name)).not.toContain('in.adas')
    await expect(anonymous.callTool('in.adas')).rejects.toMatchObject({
      code: -32602,
      message: 'Unknown tool: "in.adas"',
    })
  },

  async 'a mounted server sends input requests, completes arguments and links its resources'({ connect, revision }) {
    const client = await connect(outer(inner()), { roots: [{ uri: 'file:///a' }] })
    expect(textOf(await client.callTool('in.folders'))).toBe('[{"uri":"file:///a"}]')
    const argument = { name: 'name', value: 'A' }
    const byPrompt = await client.complete({ ref: { type: 'ref/prompt', name: 'in.greet' }, argument })
    expect(byPrompt.completion.values).toEqual(['Ada'])
    const [template] = await client.listResourceTemplates().all()
    const ref = { type: 'ref/resource', uri: template?.uriTemplate ?? '' } as const
    const byTemplate = await client.complete({ ref, argument: { name: 'id', value: '' } })
    expect(byTemplate.completion.values).toEqual(['1', '2'])
    const [resource] = await client.listResources().all()
    const [block] = (await client.callTool('in.link')).content
    if (revision < '2025-06-18') expect(block).toMatchObject({ text: `a: ${resource?.uri}` })
    else expect(block).toMatchObject({ type: 'resource_link', uri: resource?.uri })
    expect(await client.readResource(resource?.uri ?? '')).toMatchObject({ contents: [{ text: 'a' }] })
    expect(await client.readResource(ref.uri.replace('{id}', '7'))).toMatchObject({ contents: [{ text: 'item 7' }] })
  },

  async 'changes of a mounted server are changes of the outer server'(rig) {
    const { connect } = rig
    const mounted = inner()
    const { onChange, changes, count, forget } = collectChanges(rig)
    const client = await connect(outer(mounted), { onChange })
    const [resource] = await client.listResources().all()
    await client.subscribe(resource?.uri ?? '')
    await forget()
    mounted.resourceUpdated('note://a')
    await count(1)
    mounted.tool('more', {}, () => 'x')
    await count(2)
    expect(changes).toEqual([{ kind: 'resource', uri: resource?.uri }, { kind: 'tools' }])
    expect((await client.listTools().all()).map((tool) => tool.name)).toContain('in.more')
  },

  async 'connectAll combines several servers'({ revision, open, waitFor }) {
    const [git, mail] = [inner(), inner()]
    await using group = await connectAll(
      { git: open(git).connector, mail: open(mail).connector },
      { era: revision, roots: [{ uri: 'file:///a' }] },
    )
    expect((await group.listTools().all()).map((tool) => tool.name)).toEqual(
      ['git', 'mail'].flatMap((server) => ['link', 'folders', 'fail'].map((tool) => `${server}_${tool}`)),
    )
    expect(textOf(await group.callTool('mail_folders'))).toBe('[{"uri":"file:///a"}]')
    expect(await group.getPrompt('git_greet', { name: 'Ada' })).toMatchObject({
      messages: [{ content: { text: 'Hello Ada' } }],
    })
    const [resource] = await group.listResources().all()
    expect(await group.readResource(resource?.uri ?? '')).toMatchObject({ contents: [{ text: 'a' }] })
    const listening = group.listen({ toolsListChanged: true })
    await listening.ready
    await waitForTasks()
    mail.tool('more', {}, () => 'x')
    expect((await waitFor('a change', listening.next())).value).toEqual({ kind: 'tools' })
    listening.close()
  },
}
