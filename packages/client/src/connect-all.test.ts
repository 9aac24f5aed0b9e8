import { type Change, type Connector, RpcError } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { connectorTo, scriptedServer } from '../test/scripted-server.ts'
import { connectAll } from './connect-all.ts'

function server(revision: '2025-06-18' | '2026-07-28', name: string) {
  return scriptedServer(revision, {
    capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {}, completions: {} },
    answers: {
      'tools/list': () => ({ tools: [{ name: `${name}.find`, inputSchema: { type: 'object' } }] }),
      'tools/call': ({ params }) => ({
        content: [
          { type: 'text', text: `${name} ${params.name}` },
          { type: 'resource_link', uri: 'a:/x', name: 'x' },
          { type: 'resource', resource: { uri: 'ui://view', text: '' } },
        ],
      }),
      'prompts/list': () => ({ prompts: [{ name: 'review' }] }),
      'prompts/get': ({ params }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `${name} ${params.name}` } }],
      }),
      'resources/list': () => ({ resources: [{ uri: 'config://app', name: 'app' }] }),
      'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'ui://{view}', name: 'view' }] }),
      'resources/read': ({ params }) => ({ contents: [{ uri: params.uri, text: name }] }),
      'completion/complete': ({ params }) => ({ completion: { values: [JSON.stringify(params.ref)] } }),
      'resources/subscribe': () => ({}),
      'resources/unsubscribe': () => ({}),
      'subscriptions/listen': ({ params, message, exchange }) => {
        const _meta = { 'io.modelcontextprotocol/subscriptionId': message.id }
        void exchange.notify('notifications/subscriptions/acknowledged', { notifications: params.notifications, _meta })
        void exchange.notify('notifications/resources/updated', { uri: 'a:/x', _meta })
        return new Promise(() => {})
      },
    },
  })
}

const dead: Connector = {
  connect() {
    throw new Error('no such host')
  },
}

describe.each(['2025-06-18', '2026-07-28'] as const)('a group of servers, the first one of %s', (revision) => {
  it('prefixes names and URIs with the names of the servers [C-107]', async () => {
    await using group = await connectAll({ git: server(revision, 'g'), mail: server('2026-07-28', 'm') })
    expect((await group.listTools().all()).map(({ name }) => name)).toEqual(['git.g.find', 'mail.m.find'])
    expect((await group.listPrompts().all()).map(({ name }) => name)).toEqual(['git.review', 'mail.review'])
    expect(await group.listResources().all()).toMatchObject([
      { uri: 'git.config://app', name: 'git.app' },
      { uri: 'mail.config://app', name: 'mail.app' },
    ])
    expect((await group.listResourceTemplates().all()).map(({ uriTemplate }) => uriTemplate)).toEqual([
      'ui://git/{view}',
      'ui://mail/{view}',
    ])
    const lazy: string[] = []
    for await (const { name } of group.listTools()) lazy.push(name)
    expect(lazy).toEqual(['git.g.find', 'mail.m.find'])
  })

  it('sends each call to its server', async () => {
    await using group = await connectAll({ git: server(revision, 'g'), mail: server('2026-07-28', 'm') })
    expect((await group.callTool('mail.m.find')).content).toEqual([
      { type: 'text', text: 'm m.find' },
      { type: 'resource_link', uri: 'mail.a:/x', name: 'x' },
      { type: 'resource', resource: { uri: 'ui://mail/view', text: '' } },
    ])
    expect((await group.getPrompt('git.review')).messages[0]?.content).toEqual({ type: 'text', text: 'g review' })
    expect((await group.readResource('git.config://app')).contents).toEqual([{ uri: 'git.config://app', text: 'g' }])
    expect((await group.readResource('ui://mail/view')).contents).toEqual([{ uri: 'ui://mail/view', text: 'm' }])
    const argument = { name: 'a', value: '' }
    const byPrompt = await group.complete({ ref: { type: 'ref/prompt', name: 'git.review' }, argument })
    const byTemplate = await group.complete({ ref: { type: 'ref/resource', uri: 'ui://git/{view}' }, argument })
    expect([byPrompt, byTemplate].flatMap(({ completion }) => completion.values)).toEqual([
      '{"type":"ref/prompt","name":"review"}',
      '{"type":"ref/resource","uri":"ui://{view}"}',
    ])
  })

  it('names its servers when a name is unknown', async () => {
    await using group = await connectAll({ git: server(revision, 'g') })
    for (const name of ['find', 'svn.find', '.find', '']) {
      await expect(group.callTool(name)).rejects.toMatchObject({
        reason: 'unsupported',
        hint: 'Names begin with one of git.',
      })
    }
  })

  it('works without servers that cannot be connected to, and reports them', async () => {
    const problems: string[] = []
    const onWarning = ({ message }: Error) => problems.push(message)
    await using group = await connectAll({ dead, git: server(revision, 'g') }, { onWarning })
    expect(Object.keys(group.clients)).toEqual(['git'])
    expect(group.failures.dead?.message).toBe('no such host')
    expect(problems).toEqual(['The server "dead" could not be connected to'])
    expect(await group.listTools().all()).toHaveLength(1)
    await expect(connectAll({ dead })).rejects.toMatchObject({ name: 'AggregateError' })
  })

  it('lists the items of the other servers when one fails', async () => {
    const problems: string[] = []
    const broken = scriptedServer('2026-07-28', {
      answers: {
        'tools/list': () => {
          throw new RpcError(-32603, 'Internal error')
        },
      },
    })
    const onWarning = ({ message }: Error) => problems.push(message)
    await using group = await connectAll({ broken, git: server(revision, 'g') }, { onWarning })
    expect(await group.listTools().all()).toHaveLength(1)
    const lazy = []
    for await (const tool of group.listTools()) lazy.push(tool)
    expect(lazy).toHaveLength(1)
    expect(problems).toEqual(['The server "broken" failed', 'The server "broken" failed'])
  })

  it('rejects cancelled lists, and calls with wrong arguments', async () => {
    await using group = await connectAll({ git: server(revision, 'g'), mail: server('2026-07-28', 'm') })
    const stop = new AbortController()
    stop.abort()
    const cancelled = { reason: 'cancelled' }
    await expect(group.listTools({ signal: stop.signal }).all()).rejects.toMatchObject(cancelled)
    await expect(group.listTools({ signal: stop.signal })[Symbol.asyncIterator]().next()).rejects.toMatchObject(
      cancelled,
    )
    expect(() => group.listTools({ timeuot: 3 } as never)).toThrow('there is no option "timeuot"')
    await expect(group.callTool({ name: 'git.find' } as never)).rejects.toThrow('expected string first, got object')
  })

  it('reports that changes are not read', async () => {
    const git = connectorTo(() => server('2025-06-18', 'g'))
    await using group = await connectAll({ git })
    const listening = group.listen({ resourceSubscriptions: ['git.a:/'] })
    await listening.ready
    for (let index = 0; index <= 10_000; index++) {
      void git.server.notify('notifications/resources/updated', { uri: `a:/${index}` })
    }
    const readAll = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      for await (const _ of listening);
    }
    await expect(readAll()).rejects.toMatchObject({ reason: 'limit' })
  })

  it('closes all clients', async () => {
    const group = await connectAll({ git: server(revision, 'g'), mail: server('2026-07-28', 'm') })
    await group.close()
    await expect(group.callTool('git.find')).rejects.toMatchObject({ reason: 'closed' })
    await expect(group.callTool('mail.find')).rejects.toMatchObject({ reason: 'closed' })
  })

  it.each(['', 'a.b', 'a/b', '1a'])('refuses a server named %j', async (name) => {
    await expect(connectAll({ [name]: server(revision, 'g') })).rejects.toThrow(RangeError)
  })
})

describe('a group with a legacy server', () => {
  it('reports changes of all servers', async () => {
    const git = connectorTo(() => server('2025-06-18', 'g'))
    await using group = await connectAll({ git, mail: server('2026-07-28', 'm') })
    const listening = group.listen({ toolsListChanged: true, resourceSubscriptions: ['mail.a:/x', 'git.a:/y'] })
    expect(await listening.ready).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ['git.a:/y', 'mail.a:/x'],
    })
    void git.server.notify('notifications/resources/updated', { uri: 'a:/y/z' })
    const heard: Change[] = [(await listening.next()).value, (await listening.next()).value]
    expect(heard).toContainEqual({ kind: 'resource', uri: 'mail.a:/x' })
    expect(heard).toContainEqual({ kind: 'resource', uri: 'git.a:/y/z' })
    listening.close()
    expect(await listening.next()).toEqual({ done: true, value: undefined })
  })
})
