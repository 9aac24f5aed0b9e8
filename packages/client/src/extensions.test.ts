import { invalidParams, type JsonObject, REVISIONS, type Revision } from '@mcpx/protocol'
import { describe, expect, it, vi } from 'vitest'
import * as zod from 'zod/mini'
import { modernServer } from '../test/listened-server.ts'
import { connectorTo, META, scriptedServer } from '../test/scripted-server.ts'
import { type ClientExtension, connect, connectAll } from './index.ts'

const GREET = 'com.example/greet'
const GREETED = 'notifications/com.example/greeted'

const greetings = {
  id: 'com.example/greetings',
  settings: { polite: true },
  methods: {
    [GREET]: { params: zod.object({ name: zod.string() }), result: zod.object({ text: zod.string() }), mayAsk: true },
    'com.example/count': { result: zod.object({ count: zod.number() }) },
  },
  notifications: { [GREETED]: zod.object({ name: zod.string() }) },
  subscriptions: { greetings: zod.boolean() },
} satisfies ClientExtension

const declared = { extensions: { [greetings.id]: { loud: false } } }

function greeter(revision: Revision, capabilities: JsonObject = declared) {
  return scriptedServer(revision, {
    capabilities,
    answers: {
      [GREET]: ({ params }) => {
        if (params.name === 'nobody') throw invalidParams('Nobody is there')
        return { text: params.name === 'wrong' ? 42 : `Hello, ${params.name}` }
      },
      'com.example/count': () => ({ count: 3 }),
    },
  })
}

describe.each(['2025-11-25', '2026-07-28'] as const)('an extension of a client of a %s server', (revision) => {
  it('sends typed requests', async () => {
    await using client = await connect(greeter(revision), { extensions: [greetings] })
    const greeted = client.extension(greetings)
    expect(greeted.settings).toEqual({ loud: false })
    const { text } = await greeted.request(GREET, { name: 'Ada' })
    expect(text).toBe('Hello, Ada')
    expect(await greeted.request('com.example/count')).toEqual({ count: 3 })
    expect(await client.request(GREET, { name: 'Bob' })).toEqual({ text: 'Hello, Bob' })
  })

  it('checks parameters and results', async () => {
    const server = greeter(revision)
    await using client = await connect(server, { extensions: [greetings] })
    const { request } = client.extension(greetings)
    const problem = 'com.example/greet: params.name: expected string, got number'
    await expect(request(GREET, { name: 3 as never })).rejects.toThrow(problem)
    await expect(client.request(GREET, { name: 3 })).rejects.toThrow(problem)
    expect(server.asked(GREET)).toHaveLength(0)
    await expect(request(GREET, { name: 'wrong' })).rejects.toMatchObject({
      reason: 'invalid-message',
      message: 'The response to com.example/greet was refused. result.text: expected string, got number',
    })
    await expect(request(GREET, { name: 'nobody' })).rejects.toMatchObject({ code: -32_602 })
  })

  it('is not used with a server that does not declare it', async () => {
    const server = greeter(revision, {})
    await using client = await connect(server, { extensions: [greetings] })
    const greeted = client.extension(greetings)
    expect(greeted.settings).toBeUndefined()
    await expect(greeted.request(GREET, { name: 'Ada' })).rejects.toMatchObject({
      reason: 'unsupported',
      message: 'com.example/greet was not sent: the server does not declare com.example/greetings',
    })
    expect(server.asked(GREET)).toHaveLength(0)
  })

  it('refuses members that it does not have', async () => {
    await using client = await connect(greeter(revision), { extensions: [greetings] })
    const greeted = client.extension(greetings) as unknown as Record<
      'request' | 'on' | 'listen',
      (all: unknown) => unknown
    >
    await expect(greeted.request('com.example/gret')).rejects.toThrow(
      'The extension com.example/greetings has no method "com.example/gret"',
    )
    expect(() => greeted.on('notifications/x')).toThrow('has no notification "notifications/x"')
    expect(() => greeted.listen({ rooms: true })).toThrow('has no subscription "rooms"')
    expect(() => client.extension({ ...greetings })).toThrow(
      'extension: the client does not have "com.example/greetings"; pass it to connect in "extensions"',
    )
  })
})

describe('the declaration of an extension', () => {
  it.each(REVISIONS)('is sent where revision %s has a place for it', async (revision) => {
    const server = greeter(revision)
    const modernOnly = { id: 'com.example/new', eras: ['modern'] } satisfies ClientExtension
    await using client = await connect(server, {
      era: revision,
      extensions: [greetings, modernOnly],
      capabilities: { extensions: { 'com.example/other': { a: 1 } } },
    })
    await client.request('com.example/count')
    const other = { 'com.example/other': { a: 1 } }
    const own = { [greetings.id]: { polite: true } }
    if (revision === '2026-07-28') {
      const extensions = { ...other, [`${META}tasks`]: {}, ...own, [modernOnly.id]: {} }
      for (const { params } of server.heard.filter((each) => 'id' in each)) {
        expect(params?._meta).toMatchObject({ [`${META}clientCapabilities`]: { extensions } })
      }
    } else {
      const extensions = revision === '2025-11-25' ? { ...other, ...own } : other
      expect(server.asked('initialize')[0]?.params).toHaveProperty('capabilities.extensions', extensions)
    }
  })

  it('is sent with capabilities of a call', async () => {
    const server = greeter('2026-07-28')
    await using client = await connect(server, { extensions: [greetings] })
    await client.request(GREET, { name: 'Ada' }, { capabilities: { roots: {} } })
    expect(server.asked(GREET)[0]?.params?._meta).toMatchObject({
      [`${META}clientCapabilities`]: { roots: {}, extensions: { [greetings.id]: { polite: true } } },
    })
  })
})

describe('an invalid extension', () => {
  const id = 'com.example/x'
  const schema = zod.object({})
  const complete = async () => ({})
  it.each([
    [
      { id: 'greetings' },
      'extensions[1].id: expected a prefix and a name, such as com.example/greetings, got "greetings"',
    ],
    [{}, 'extensions[1].id: expected a prefix and a name, such as com.example/greetings, got nothing'],
    [{ id, metods: {} }, 'extensions[1]: there is no option "metods"; did you mean "methods"?'],
    ['x', 'extensions[1]: expected an object of options, got string'],
    [{ id: greetings.id }, 'extensions[1].id: the client has the extension "com.example/greetings" already'],
    [{ id: `${META}tasks` }, 'the client has the extension "io.modelcontextprotocol/tasks" already'],
    [{ id, methods: { 'tools/call': {} } }, 'extensions[1]: the method "tools/call" belongs to the protocol'],
    [{ id, methods: { 'tasks/list': {} } }, 'the method "tasks/list" belongs to the protocol'],
    [
      { id, methods: { 'tasks/get': {} }, eras: ['modern'] },
      'the method "tasks/get" belongs to io.modelcontextprotocol/tasks',
    ],
    [{ id, methods: { [GREET]: {} } }, 'the method "com.example/greet" belongs to com.example/greetings'],
    [{ id, notifications: { [GREETED]: schema } }, 'belongs to com.example/greetings'],
    [
      { id, notifications: { 'notifications/message': schema } },
      'the notification "notifications/message" belongs to the protocol',
    ],
    [
      { id, subscriptions: { toolsListChanged: schema } },
      'the subscription "toolsListChanged" belongs to the protocol',
    ],
    [{ id, subscriptions: { taskIds: schema } }, 'the subscription "taskIds" belongs to io.modelcontextprotocol/tasks'],
    [
      { id, resultTypes: { complete: { 'tools/call': complete } } },
      'the result type "complete of tools/call" belongs to the protocol',
    ],
    [{ id, resultTypes: { task: { 'tools/call': complete } } }, 'belongs to io.modelcontextprotocol/tasks'],
  ])('is refused by name: %j', async (extension, message) => {
    const options = { extensions: [greetings, extension as ClientExtension] }
    await expect(connect(greeter('2026-07-28'), options)).rejects.toThrow(message)
    await expect(connectAll({ a: greeter('2026-07-28') }, options)).rejects.toThrow(message)
  })

  it('is refused as a list', async () => {
    const message = 'extensions: expected an array of extensions, got object'
    await expect(connect(greeter('2026-07-28'), { extensions: greetings as never })).rejects.toThrow(message)
  })

  it('may have the members of tasks if those are turned off', async () => {
    const tasks = { id: `${META}tasks`, methods: { 'tasks/get': {} }, eras: ['modern'] } satisfies ClientExtension
    await using client = await connect(greeter('2026-07-28'), { tasks: false, extensions: [tasks] })
    expect(client.extension(tasks).settings).toBeUndefined()
  })
})

describe('a result type of an extension', () => {
  const later = {
    id: 'com.example/later',
    methods: { 'com.example/fetch': {} },
    resultTypes: {
      later: {
        'tools/call': async ({ ticket }, call) => {
          const { action } = (await call.answer(
            { method: 'elicitation/create', params: form },
            call.signal,
          )) as JsonObject
          return {
            content: [{ type: 'text', text: `${call.label} ${action}` }],
            ...(await call.request('com.example/fetch', { ticket })),
          }
        },
      },
    },
  } satisfies ClientExtension
  const form = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } } as const

  function server(result: JsonObject, fetched: JsonObject = {}) {
    return scriptedServer('2026-07-28', {
      capabilities: { tools: {}, prompts: {} },
      answers: {
        'tools/call': () => result,
        'prompts/get': () => ({ messages: [], ...result }),
        'com.example/fetch': ({ params }) => ({ structuredContent: params.ticket, ...fetched }),
      },
    })
  }

  it('is completed by a function, whose result is checked', async () => {
    const options = { extensions: [later], onElicit: () => ({ action: 'decline' }) as const }
    await using client = await connect(server({ resultType: 'later', ticket: 7 }), options)
    expect(await client.callTool('add')).toMatchObject({
      content: [{ type: 'text', text: 'tools/call "add" decline' }],
      structuredContent: 7,
    })
    await using wrong = await connect(server({ resultType: 'later', ticket: 7 }, { content: 3 }), options)
    await expect(wrong.callTool('add')).rejects.toThrow('result.content: expected array, got number')
  })

  it('is returned as it is to a caller that supports it', async () => {
    await using client = await connect(server({ resultType: 'later', ticket: 7 }), { extensions: [later] })
    const result = await client.request('tools/call', { name: 'add' }, { resultTypes: ['later'] })
    expect(result).toMatchObject({ resultType: 'later', ticket: 7 })
  })

  it('is refused for other methods, and without the extension', async () => {
    await using client = await connect(server({ resultType: 'later' }), { extensions: [later] })
    const message = 'result.resultType: expected a type that this request allows'
    await expect(client.getPrompt('hello')).rejects.toThrow(message)
    await using other = await connect(server({ resultType: 'later' }))
    await expect(other.callTool('add')).rejects.toThrow(message)
  })

  it('ends with the signal of the call', async () => {
    const options = { extensions: [later], onElicit: () => new Promise<never>(() => {}) }
    await using client = await connect(server({ resultType: 'later', ticket: 7 }), options)
    const called = client.callTool('add', {}, { signal: AbortSignal.timeout(20) })
    await expect(called).rejects.toMatchObject({ reason: 'cancelled' })
  })
})

describe('input requests of a method of an extension', () => {
  const answers = {
    [GREET]: ({ params }: { params: JsonObject }) =>
      params.inputResponses === undefined
        ? { resultType: 'input_required', inputRequests: { a: { method: 'roots/list' } } }
        : { text: 'Hello' },
  }

  it('are answered if the method allows them', async () => {
    const roots = [{ uri: 'file:///a' }]
    const server = scriptedServer('2026-07-28', { capabilities: declared, answers })
    await using client = await connect(server, { extensions: [greetings], roots })
    expect(await client.extension(greetings).request(GREET, { name: 'Ada' })).toEqual({ text: 'Hello' })
    const silent = { ...greetings, methods: { [GREET]: { result: zod.object({ text: zod.string() }) } } }
    await using other = await connect(server, { extensions: [silent], roots })
    await expect(other.request(GREET, { name: 'Ada' })).rejects.toThrow('result.resultType: expected a type')
  })
})

describe('notifications of an extension', () => {
  it('arrive on a subscription, until the listener is removed', async () => {
    const { server, open, tell } = modernServer(declared)
    const onWarning = vi.fn()
    await using client = await connect(server, { extensions: [greetings], onWarning })
    const greeted = client.extension(greetings)
    const names: string[] = []
    const remove = greeted.on(GREETED, ({ name }) => void names.push(name))
    const stream = greeted.listen({ greetings: true })
    expect(await stream.ready).toEqual({ greetings: true })
    expect([...open.values()][0]?.filter).toEqual({ greetings: true })
    tell('com.example/greeted', { name: 'Ada' })
    tell('com.example/greeted', { name: 7 })
    tell('com.example/greeted', { name: 'Bob' })
    await vi.waitFor(() => expect(names).toEqual(['Ada', 'Bob']))
    expect(onWarning.mock.calls.map(([warning]) => String(warning.message))).toEqual([
      `${GREETED} was ignored. params.name: expected string, got number`,
    ])
    remove()
    tell('com.example/greeted', { name: 'Cid' })
    stream.close()
    await vi.waitFor(() => expect(open.size).toBe(0))
    expect(names).toEqual(['Ada', 'Bob'])
  })

  it('can be listened to with changes, and without a server that declares it are not', async () => {
    const tools = { tools: { listChanged: true } }
    const both = modernServer({ ...declared, ...tools })
    await using client = await connect(both.server, { extensions: [greetings] })
    const filter = { toolsListChanged: true, greetings: true }
    expect(await client.listen(filter).ready).toEqual(filter)
    const other = modernServer(tools)
    await using second = await connect(other.server, { extensions: [greetings] })
    expect(await second.listen(filter).ready).toEqual({ toolsListChanged: true })
    await expect(client.extension(greetings).listen({ greetings: undefined as never }).ready).rejects.toMatchObject({
      reason: 'unsupported',
    })
    await expect(second.extension(greetings).listen({ greetings: true }).ready).rejects.toMatchObject({
      reason: 'unsupported',
    })
  })

  it('arrive in a legacy session without a subscription', async () => {
    const connector = connectorTo(() => greeter('2025-11-25'))
    await using client = await connect(connector, { extensions: [greetings] })
    const greeted = client.extension(greetings)
    const names: string[] = []
    greeted.on(GREETED, ({ name }) => void names.push(name))
    expect(await greeted.listen({ greetings: true }).ready).toEqual({ greetings: true })
    await connector.server.notify(GREETED, { name: 'Ada' })
    await vi.waitFor(() => expect(names).toEqual(['Ada']))
  })

  it('arrive during a call', async () => {
    const server = scriptedServer('2026-07-28', {
      capabilities: declared,
      answers: {
        async [GREET]({ exchange }) {
          await exchange.notify(GREETED, { name: 'Ada' })
          return { text: '' }
        },
      },
    })
    const onLog = vi.fn()
    await using client = await connect(server, { extensions: [greetings] })
    const names: string[] = []
    client.extension(greetings).on(GREETED, ({ name }) => void names.push(name))
    await client.extension(greetings).request(GREET, { name: 'x' })
    await client.extension(greetings).request(GREET, { name: 'x' }, { onLog })
    await vi.waitFor(() => expect(names).toEqual(['Ada', 'Ada']))
    expect(onLog).not.toHaveBeenCalled()
  })
})

describe('a schema', () => {
  /** A library that is not zod, converts values, and works asynchronously. */
  const upper = {
    '~standard': {
      version: 1,
      vendor: 'example',
      types: undefined as { input: { name: string }; output: { name: string } } | undefined,
      async validate(value: unknown) {
        const { name } = value as { name?: unknown }
        if (typeof name === 'string') return { value: { name: name.toUpperCase() } }
        return { issues: [{ message: 'must be a string', path: ['name', { key: 0 }] }] }
      },
    },
  } as const

  it('may throw: the notification is ignored with a warning', async () => {
    const validate = () => {
      throw new Error('a bug')
    }
    const faulty = {
      id: greetings.id,
      notifications: { [GREETED]: { '~standard': { version: 1, vendor: 'example', validate } } },
    } satisfies ClientExtension
    const onWarning = vi.fn<(warning: Error) => void>()
    const connector = connectorTo(() => greeter('2025-11-25'))
    await using client = await connect(connector, { extensions: [faulty], onWarning })
    client.extension(faulty).on(GREETED, () => {})
    await connector.server.notify(GREETED, { name: 'Ada' })
    await vi.waitFor(() =>
      expect(onWarning.mock.calls[0]?.[0].message).toMatch(/was ignored: the schema of its extension/),
    )
  })

  it('may be of any library, and converts results', async () => {
    const extension = { id: 'com.example/upper', methods: { 'com.example/up': { params: upper, result: upper } } }
    const server = scriptedServer('2026-07-28', {
      capabilities: { extensions: { [extension.id]: {} } },
      answers: { 'com.example/up': ({ params }) => ({ name: params.name }) },
    })
    await using client = await connect(server, { extensions: [extension] })
    expect(await client.extension(extension).request('com.example/up', { name: 'ada' })).toEqual({ name: 'ADA' })
    expect(server.asked('com.example/up')[0]?.params?.name).toBe('ada')
    await expect(client.request('com.example/up', { name: 3 })).rejects.toThrow(
      'com.example/up: params.name[0]: must be a string',
    )
  })
})
