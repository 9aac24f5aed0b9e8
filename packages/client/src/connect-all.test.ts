import { type Change, type Connector, RpcError } from '@mcpx/protocol'
import { describe, expect, it } from 'vitest'
import { connectorTo, scriptedServer } from '../test/scripted-server.ts'
import { connectAll } from './connect-all.ts'
import { GroupNames } from './group-names.ts'

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
    expect((await group.listTools().all()).map(({ name }) => name)).toEqual(['git_g_find', 'mail_m_find'])
    expect((await group.listPrompts().all()).map(({ name }) => name)).toEqual(['git_review', 'mail_review'])
    expect(await group.listResources().all()).toMatchObject([
      { uri: 'git.config://app', name: 'git_app' },
      { uri: 'mail.config://app', name: 'mail_app' },
    ])
    expect((await group.listResourceTemplates().all()).map(({ uriTemplate }) => uriTemplate)).toEqual([
      'ui://git/{view}',
      'ui://mail/{view}',
    ])
    const lazy: string[] = []
    for await (const { name } of group.listTools()) lazy.push(name)
    expect(lazy).toEqual(['git_g_find', 'mail_m_find'])
  })

  it('sends each call to its server', async () => {
    await using group = await connectAll({ git: server(revision, 'g'), mail: server('2026-07-28', 'm') })
    expect((await group.callTool('mail_m_find')).content).toEqual([
      { type: 'text', text: 'm m.find' },
      { type: 'resource_link', uri: 'mail.a:/x', name: 'x' },
      { type: 'resource', resource: { uri: 'ui://mail/view', text: '' } },
    ])
    expect((await group.getPrompt('git_review')).messages[0]?.content).toEqual({ type: 'text', text: 'g review' })
    expect((await group.readResource('git.config://app')).contents).toEqual([{ uri: 'git.config://app', text: 'g' }])
    expect((await group.readResource('ui://mail/view')).contents).toEqual([{ uri: 'ui://mail/view', text: 'm' }])
    const argument = { name: 'a', value: '' }
    const byPrompt = await group.complete({ ref: { type: 'ref/prompt', name: 'git_review' }, argument })
    const byTemplate = await group.complete({ ref: { type: 'ref/resource', uri: 'ui://git/{view}' }, argument })
    expect([byPrompt, byTemplate].flatMap(({ completion }) => completion.values)).toEqual([
      '{"type":"ref/prompt","name":"review"}',
      '{"type":"ref/resource","uri":"ui://{view}"}',
    ])
  })

  it('names its servers when a name is unknown', async () => {
    await using group = await connectAll({ git: server(revision, 'g') })
    for (const name of ['find', 'svn_find', 'git.find', '_find', '']) {
      await expect(group.callTool(name)).rejects.toMatchObject({
        reason: 'unsupported',
        hint: 'Names begin with one of git_',
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
    await expect(group.callTool({ name: 'git_find' } as never)).rejects.toThrow('expected string first, got object')
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

  it('names the server in the lines of `debug`', async () => {
    const lines: string[] = []
    const debug = (line: string) => void lines.push(line)
    await using group = await connectAll({ git: server(revision, 'g'), mail: server('2026-07-28', 'm') }, { debug })
    lines.length = 0
    await group.clients.mail?.callTool('m.find')
    expect(lines.map((line) => line.slice(0, 16))).toEqual(['mcpx client mail', 'mcpx client mail'])
    expect(lines[0]).toContain('mcpx client mail -> {"jsonrpc"')
  })

  it('names the tools alike whether they were listed or not', async () => {
    const tool = (...names: string[]) =>
      scriptedServer(revision, {
        answers: {
          'tools/list': () => ({ tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) }),
          'tools/call': ({ params }) => ({ content: [{ type: 'text', text: `${names.length} ${params.name}` }] }),
        },
      })
    const servers = [
      ['a', tool('b_c', 'x')],
      ['a_b', tool('c')],
      ['ab', tool('c', 'd', 'e')],
    ] as const
    for (const targets of [Object.fromEntries(servers), Object.fromEntries(servers.toReversed())]) {
      await using listed = await connectAll(targets)
      const names = (await listed.listTools().all()).map(({ name }) => name)
      for (const first of names) {
        await using fresh = await connectAll(targets)
        for (const name of [first, ...names]) {
          expect([name, (await fresh.callTool(name)).content]).toEqual([name, (await listed.callTool(name)).content])
        }
      }
    }
  })

  it('may have servers that are named like members of every object', async () => {
    await using group = await connectAll({ constructor: server(revision, 'c'), toString: server('2026-07-28', 't') })
    expect((await group.listTools().all()).map(({ name }) => name)).toEqual(['constructor_c_find', 'toString_t_find'])
    expect((await group.callTool('constructor_c_find')).content[0]).toEqual({ type: 'text', text: 'c c.find' })
    expect(Object.keys(group.failures)).toEqual([])
  })

  it.each([
    [undefined, 'connectAll: expected an object of connectors by the names of their servers, got nothing'],
    [[dead], 'connectAll: expected an object of connectors by the names of their servers, got array'],
    [dead, 'connectAll: expected an object of connectors by the names of their servers, got one connector'],
    [server(revision, 'g'), 'got one connector; write connectAll({ git: connector })'],
  ])('refuses %s in the place of several targets', async (targets, message) => {
    await expect(connectAll(targets as never)).rejects.toThrow(message)
  })

  it.each([
    [{ connectTimeout: 0 }, 'connectAll: servers.git: connectTimeout: expected a positive number of ms'],
    [{ era: 'old' }, 'connectAll: servers.git: era: expected auto, modern'],
  ])('names the server whose options are wrong: %j', async (own, message) => {
    await expect(connectAll({ git: server(revision, 'g') }, { servers: { git: own as never } })).rejects.toThrow(
      message,
    )
  })

  it('closes all clients', async () => {
    const group = await connectAll({ git: server(revision, 'g'), mail: server('2026-07-28', 'm') })
    await group.close()
    await expect(group.callTool('git_find')).rejects.toMatchObject({ reason: 'closed' })
    await expect(group.callTool('mail_find')).rejects.toMatchObject({ reason: 'closed' })
  })

  it.each(['', 'a.b', 'a/b', '1a', 'a+b', 'a'.repeat(41)])('refuses a server named %j', async (name) => {
    await expect(connectAll({ [name]: server(revision, 'g') })).rejects.toThrow(RangeError)
  })
})

/** A server with tools and prompts of these names, and one resource. */
function named(...names: readonly string[]) {
  return scriptedServer('2026-07-28', {
    answers: {
      'tools/list': () => ({ tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) }),
      'tools/call': ({ params }) => ({ content: [{ type: 'text', text: params.name }] }),
      'prompts/list': () => ({ prompts: names.map((name) => ({ name })) }),
      'prompts/get': ({ params }) => ({ messages: [{ role: 'user', content: { type: 'text', text: params.name } }] }),
      'resources/list': () => ({ resources: [{ uri: 'a://b', name: 'x'.repeat(100) }] }),
      'resources/read': ({ params }) => ({ contents: [{ uri: params.uri, text: '' }] }),
    },
  })
}

describe('a name in a group', () => {
  const long = (end: string) => `${'long.'.repeat(20)}${end}`
  const servers = () => ({
    a: named('b_c', 'x.y', 'x_y', 'é', long('1'), long('2')),
    a_b: named('c', long('1'), '-_'),
    'my-server': named('c', ''),
  })

  it('is accepted by model APIs, unique, and leads back to its tool', async () => {
    await using group = await connectAll(servers())
    const names = (await group.listTools().all()).map(({ name }) => name)
    expect(names).toHaveLength(11)
    expect(new Set(names).size).toBe(11)
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    const called = await Promise.all(names.map(async (name) => (await group.callTool(name)).content))
    const expected = ['b_c', 'x.y', 'x_y', 'é', long('1'), long('2'), 'c', long('1'), '-_', 'c', '']
    expect(called).toEqual(expected.map((text) => [{ type: 'text', text }]))
    expect(names.slice(0, 2)).toEqual(['a_b_c', 'a_x_y'])
    expect(names[6]).toMatch(/^a_b_c_[0-9a-f]{8}$/)
    expect((await group.listTools().all()).map(({ name }) => name)).toEqual(names)
    const prompts = (await group.listPrompts().all()).map(({ name }) => name)
    expect(prompts).toEqual(names)
    expect((await group.getPrompt(names[1] ?? '')).messages[0]?.content).toEqual({ type: 'text', text: 'x.y' })
  })

  it('can be called before it was listed, also if it was changed', async () => {
    const listed = await connectAll(servers())
    const names = (await listed.listTools().all()).map(({ name }) => name)
    await listed.close()
    const targets = servers()
    await using group = await connectAll(targets)
    expect((await group.callTool(names[4] ?? '')).content).toEqual([{ type: 'text', text: long('1') }])
    await group.callTool('a_unlisted')
    await group.callTool('a_hidden')
    expect(targets.a.asked('tools/list')).toHaveLength(1)
    expect(targets['my-server'].asked('tools/list')).toHaveLength(0)
    expect((await group.callTool('a_b_secret')).content).toEqual([{ type: 'text', text: 'secret' }])
  })

  it('stays the same in a new process, where it was cut', async () => {
    const namesOf = async (...names: string[]) => {
      await using group = await connectAll({ a: named(...names) })
      return (await group.listTools().all()).map(({ name }) => name)
    }
    expect((await namesOf(long('1'), long('2')))[1]).toBe((await namesOf(long('2')))[0])
  })

  it('has the separator that was chosen', async () => {
    await using group = await connectAll(servers(), { separator: '__' })
    expect((await group.listTools().all()).map(({ name }) => name)).toContain('a_b__c')
    expect((await group.callTool('a_b__c')).content).toEqual([{ type: 'text', text: 'c' }])
    for (const separator of ['', '.', '/', 'é', '_'.repeat(9), 3]) {
      const options = { separator } as { separator: string }
      await expect(connectAll(servers(), options)).rejects.toThrow(/^separator: expected 1 to 8 letters, digits, "_"/)
    }
  })

  it('may begin with underscores of the server, which are `+` in URIs', async () => {
    await using group = await connectAll(servers())
    const uris = (await group.listResources().all()).map(({ uri }) => uri)
    expect(uris).toEqual(['a.a://b', 'a+b.a://b', 'my-server.a://b'])
    expect(uris.every((uri) => URL.canParse(uri))).toBe(true)
    expect((await group.readResource('a+b.a://b')).contents).toEqual([{ uri: 'a+b.a://b', text: '' }])
    await expect(group.readResource('b.a://b')).rejects.toMatchObject({ reason: 'unsupported' })
  })

  it('is forgotten when its server lists 10,000 others', () => {
    const names = new GroupNames(['a', 'b'], '_')
    names.add('b', 'kept')
    for (let index = 0; index <= 10_000; index++) names.add('a', `t${index}`)
    expect(names.find('a_t0')).toBeUndefined()
    expect(names.find('a_t1')).toEqual({ member: 'a', name: 't1' })
    expect(names.find('b_kept')).toEqual({ member: 'b', name: 'kept' })
  })
})

describe('the options of one server in a group', () => {
  it('replace those for all', async () => {
    const stuck = scriptedServer('2026-07-28', { answers: { 'tools/call': () => new Promise(() => {}) } })
    const other = scriptedServer('2026-07-28', { answers: { 'tools/call': () => new Promise(() => {}) } })
    await using group = await connectAll(
      { stuck, other },
      { timeout: 60_000, servers: { stuck: { timeout: 20 }, other: undefined } },
    )
    await expect(group.callTool('stuck_x')).rejects.toThrow('No response to tools/call "x" within 20 ms')
    const stopped = group.callTool('other_x', {}, { signal: AbortSignal.timeout(60) })
    await expect(stopped).rejects.toMatchObject({ reason: 'cancelled' })
  })

  it('must name a server, and exist', async () => {
    const one = scriptedServer('2026-07-28')
    const wrongName = { servers: { oen: {} } } as object
    await expect(connectAll({ one }, wrongName)).rejects.toThrow(
      'connectAll: servers: there is no option "oen"; did you mean "one"?',
    )
    const wrongOption = { servers: { one: { timeuot: 3 } } } as object
    await expect(connectAll({ one }, wrongOption)).rejects.toThrow(
      'connectAll: servers.one: there is no option "timeuot"; did you mean "timeout"?',
    )
    await expect(connectAll({ one }, { seperator: '-' } as object)).rejects.toThrow('did you mean "separator"?')
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
