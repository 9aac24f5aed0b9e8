import { type JsonObject, RpcError } from '@mcpx/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  createServer,
  defineMethod,
  defineSubscription,
  type ExtensionHost,
  type Middleware,
  type ServerExtension,
} from './index.ts'
import { closeAll, connect, connectRaw } from './peers.fixture.ts'

afterEach(closeAll)

declare module './index.ts' {
  interface ExtensionToolOptions {
    cost?: number | undefined
  }
}

const info = { name: 'test', version: '1' }
const ID = 'com.example/greetings'
const MODERN = '2026-07-28'
const LEGACY = '2025-11-25'
const declaring = { extensions: { [ID]: {} } }

const greet = defineMethod({ params: z.strictObject({ name: z.string() }) }, ({ name }, ctx) => ({
  text: `Hello, ${name}!`,
  supports: ctx.client.supports(ID),
}))

const create = (extension: Partial<ServerExtension>, id = ID) =>
  createServer(info, { extensions: [{ id, ...extension }], onError: () => {} })

const recording =
  (log: unknown[], entry: string): Middleware =>
  (_, __, next) => {
    log.push(entry)
    return next()
  }

describe.each([MODERN, LEGACY] as const)('an extension in %s', (revision) => {
  it('declares its settings', async () => {
    const server = create({ settings: { loud: true }, methods: { greet } })
    const peer = await connect(server, revision, {}, {})
    const discovered =
      revision === MODERN
        ? await peer.call('server/discover')
        : await (await connectRaw(server)).raw('initialize', {
            protocolVersion: revision,
            capabilities: {},
            clientInfo: info,
          })
    expect(discovered).toMatchObject({ capabilities: { extensions: { [ID]: { loud: true } } } })
    expect(await peer.call('greet', { name: 'Ada' })).toMatchObject({ text: 'Hello, Ada!', supports: false })
  })

  it('is not declared with settings: false', async () => {
    const server = create({ settings: false, methods: { greet } })
    const peer = await connect(server, revision, {}, {})
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: info }
    const discovered: object =
      revision === MODERN
        ? await peer.call('server/discover')
        : await (await connectRaw(server)).raw('initialize', params)
    expect(discovered).toHaveProperty('capabilities')
    expect(discovered).not.toHaveProperty('capabilities.extensions')
  })

  it('refuses invalid parameters with their place, and unknown methods', async () => {
    const peer = await connect(create({ methods: { greet } }), revision)
    expect(await peer.call('greet', { name: 7 })).toMatchObject({
      code: -32602,
      message: expect.stringContaining('params.name: '),
    })
    expect(await peer.call('greet', {})).toMatchObject({ code: -32602 })
    expect(await peer.call('greet/other', {})).toMatchObject({ code: -32601 })
  })

  it('sees what the client declared', async () => {
    const peer = await connect(create({ methods: { greet } }), revision, {}, declaring)
    expect(await peer.call('greet', { name: 'Ada' })).toMatchObject({ supports: true })
  })

  it('refuses clients that do not declare it before it looks at the parameters', async () => {
    const server = create({ methods: { greet: { ...greet, requiresDeclaration: true } } })
    const undeclared = await connect(server, revision, {}, {})
    const data = { requiredCapabilities: { extensions: { [ID]: {} } } }
    const message = expect.stringContaining(ID)
    expect(await undeclared.call('greet', { name: 7 })).toMatchObject(
      revision === MODERN ? { code: -32021, data, message } : { code: -32600, message },
    )
    const declared = await connect(server, revision, {}, declaring)
    expect(await declared.call('greet', { name: 'Ada' })).toMatchObject({ text: 'Hello, Ada!' })
  })

  it('runs methods through the middleware of the server', async () => {
    const seen: string[] = []
    const server = create({ methods: { greet } }).use((request, _, next) => {
      seen.push(request.method)
      return next({ ...request, params: { ...request.params, name: 'Grace' } })
    })
    const peer = await connect(server, revision)
    expect(await peer.call('greet', { name: 'Ada' })).toMatchObject({ text: 'Hello, Grace!' })
    expect(seen).toEqual(['greet'])
  })

  it('checks results, and keeps their other members', async () => {
    const result = z.object({ n: z.number(), unit: z.string().default('km') })
    const returning = (returned: object) => defineMethod({ result }, () => returned as { n: number })
    const errors: unknown[] = []
    const methods = { right: returning({ n: 1, _meta: { 'a.b/c': 1 } }), wrong: returning({ n: 'x' }) }
    const server = createServer(info, {
      extensions: [{ id: ID, methods }],
      onError: (error) => void errors.push(error),
    })
    const peer = await connect(server, revision, {}, {})
    expect(await peer.call('right')).toMatchObject({ n: 1, unit: 'km', _meta: { 'a.b/c': 1 } })
    expect(await peer.call('wrong')).toMatchObject({ code: -32603 })
    expect(String(errors)).toMatch(/^ResultError: wrong: result\.n: .*expected number/)
  })

  it('asks the client in a method that may ask', async () => {
    const ask = defineMethod({ mayAsk: true }, async (_, ctx) => {
      const answer = await ctx.elicit('n', { message: 'Which?', schema: z.object({ n: z.number() }) })
      return { n: answer.content?.n }
    })
    const answers = { 'elicitation/create': () => ({ action: 'accept', content: { n: 7 } }) }
    const peer = await connect(create({ methods: { ask } }), revision, answers)
    expect(await peer.call('ask')).toMatchObject({ n: 7 })
  })

  it('adds tools and resources by its handler', async () => {
    const handler = createServer(info).resource('note://1', {}, 'one').handler
    const server = create({ handler }).resource('note://2', {}, 'two')
    const peer = await connect(server, revision)
    for (const uri of ['note://1', 'note://2']) {
      expect(await peer.call('resources/read', { uri })).toMatchObject({ contents: [{ uri }] })
    }
  })
})

describe('an extension of one era', () => {
  const modern = () => create({ eras: ['modern'], methods: { greet } })

  it('does not exist in the other era', async () => {
    const legacy = await connect(modern(), LEGACY, {}, declaring)
    expect(await legacy.call('greet', { name: 'Ada' })).toMatchObject({ code: -32601 })
    const server = modern().tool('supports', {}, (_, ctx) => String(ctx.client.supports(ID)))
    for (const [revision, text] of [
      [LEGACY, 'false'],
      [MODERN, 'true'],
    ] as const) {
      const peer = await connect(server, revision, {}, declaring)
      expect(await peer.call('tools/call', { name: 'supports' })).toMatchObject({ content: [{ text }] })
    }
  })

  it('does not exist in revisions without extensions', async () => {
    const peer = await connect(create({ methods: { greet } }), '2025-06-18', {}, declaring)
    expect(await peer.call('greet', { name: 'Ada' })).toMatchObject({ code: -32601 })
  })

  it('may have methods that the other era has', () => {
    expect(() => create({ eras: ['modern'], methods: { 'tasks/get': greet } })).not.toThrow()
    expect(() => create({ methods: { 'tasks/get': greet } })).toThrow(
      'createServer, extensions: "com.example/greetings" has the method "tasks/get", which belongs to the protocol',
    )
  })
})

describe('a method of an extension that may ask', () => {
  it('receives no answers and no state that a legacy client has made up', async () => {
    const ask = defineMethod({ mayAsk: true }, (_, ctx) => ({
      seen: [ctx.requestState, ctx.inputResponses].map(String),
    }))
    const peer = await connect(create({ methods: { ask } }), LEGACY)
    const forged = { requestState: 'admin', inputResponses: { approved: { action: 'accept' } } }
    expect(await peer.call('ask', forged)).toMatchObject({ seen: ['undefined', 'undefined'] })
  })
})

describe('results and errors of an extension', () => {
  it('have its result types on the methods that it names', async () => {
    const resultTypes = { later: ['tools/call'] }
    const server = create({ resultTypes, methods: { other: defineMethod({}, () => ({ resultType: 'later' })) } }).use(
      (request, _, next) => (request.method === 'tools/call' ? { resultType: 'later', id: '1' } : next()),
    )
    const peer = await connect(
      server.tool('t', {}, () => ''),
      MODERN,
    )
    expect(await peer.call('tools/call', { name: 't' })).toMatchObject({ resultType: 'later', id: '1' })
    expect(await peer.call('other')).toMatchObject({ code: -32603 })
  })

  it('have its error codes; other reserved codes are replaced', async () => {
    const fail = (code: number) =>
      defineMethod({}, () => {
        throw new RpcError(code, 'no')
      })
    const peer = await connect(create({ errorCodes: [-32040], methods: { a: fail(-32040), b: fail(-32041) } }), MODERN)
    expect(await peer.call('a')).toMatchObject({ code: -32040, message: 'no' })
    expect(await peer.call('b')).toMatchObject({ code: -32603, message: 'no' })
  })

  it('have cache hints if the method is cacheable', async () => {
    const peer = await connect(create({ methods: { greet: { ...greet, cacheable: true } } }), MODERN)
    expect(await peer.call('greet', { name: 'Ada' })).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
  })
})

describe('the middleware of an extension', () => {
  const marking = (mark: string): Partial<ServerExtension> => ({
    middleware: async (_, __, next) => ({ ...(await next()), [mark]: true }),
  })

  it('runs inside of the middleware of the server', async () => {
    const order: string[] = []
    const server = create({ middleware: recording(order, 'extension') })
      .use(recording(order, 'server'))
      .tool('t', {}, () => '')
    await (await connect(server, MODERN)).call('tools/call', { name: 't' })
    expect(order).toEqual(['server', 'extension'])
  })

  it('does not run in a mounted server; that of the outer server does', async () => {
    const inner = create(marking('inner')).tool('t', {}, () => '')
    const outer = create(marking('outer')).mount('inner', inner)
    const result = await (await connect(outer, MODERN)).call('tools/call', { name: 'inner.t' })
    expect(result).toHaveProperty('outer', true)
    expect(result).not.toHaveProperty('inner')
  })
})

describe('tool options of an extension', () => {
  const costs = (seen: unknown[]): Partial<ServerExtension> => ({
    toolOptions: {
      cost: {
        check: (value) => (typeof value === 'number' ? undefined : 'expected a number'),
        define: (tool, value) => ({ ...tool, _meta: { ...tool._meta, 'com.example/cost': value } }),
      },
    },
    install: (host) => ({
      middleware(request, ctx, next) {
        seen.push(host.toolOptions(String(request.params.name), ctx))
        return next()
      },
    }),
  })

  it('are checked, and change the definition that clients see', async () => {
    const server = create(costs([])).tool('t', { cost: 3 }, () => '')
    const { tools } = (await (await connect(server, MODERN)).call('tools/list')) as unknown as { tools: JsonObject[] }
    expect(tools).toMatchObject([{ name: 't', _meta: { 'com.example/cost': 3 } }])
    expect(() => server.tool('u', { cost: 'x' as never }, () => '')).toThrow('Tool "u", cost: expected a number')
  })

  it('are visible to the extension, also through mounted servers', async () => {
    const seen: unknown[] = []
    const inner = create(costs([])).tool('t', { cost: 3 }, () => '')
    const middle = createServer(info).mount('inner', inner)
    const outer = create(costs(seen))
      .mount('middle', middle)
      .tool('free', {}, () => '')
    const peer = await connect(outer, MODERN)
    for (const name of ['middle.inner.t', 'free', 'none']) await peer.call('tools/call', { name })
    expect(seen).toEqual([{ cost: 3 }, undefined, undefined])
  })

  it('are hidden from callers who may not call the tool', async () => {
    const seen: unknown[] = []
    const server = create(costs(seen))
      .tool('hidden', { cost: 3, visible: () => false }, () => '')
      .tool('scoped', { cost: 3, scopes: ['a'] }, () => '')
    const peer = await connect(server, MODERN)
    for (const name of ['hidden', 'scoped']) await peer.call('tools/call', { name })
    expect(seen).toEqual([undefined, undefined])
  })

  it('are refused without the extension', () => {
    const server = createServer(info)
    expect(() => server.tool('t', { cost: 3 }, () => '')).toThrow('Tool "t": there is no option "cost"')
    expect(() => server.tool('t', { task: 'auto' } as never, () => '')).toThrow(
      'Tool "t": the option "task" belongs to an extension; pass tasks() of @mcpx/tasks to createServer(info, { extensions: [...] })',
    )
  })
})

describe('subscriptions of an extension', () => {
  const ticks = (log: string[] = []) => {
    let notify: ((n: number) => Promise<void>) | undefined
    const extension: Partial<ServerExtension> = {
      notifications: ['notifications/tick'],
      subscriptions: {
        ticks: defineSubscription(
          { value: z.array(z.string()), requiresDeclaration: true },
          async (names, { notify: send }) => {
            notify = (n) => send('notifications/tick', { n })
            void notify(0)
            if (names.includes('none')) return undefined
            if (names.includes('fail')) throw new Error('secret')
            return { acknowledged: names.filter((name) => name !== 'x'), close: () => void log.push('closed') }
          },
        ),
      },
    }
    return { extension, tick: (n: number) => notify?.(n) }
  }
  const listen = (notifications: JsonObject) => ({ notifications })

  it('are acknowledged in part, and notify after the acknowledgement', async () => {
    const { extension, tick } = ticks()
    const server = create(extension)
    const peer = await connect(server, MODERN, {}, declaring)
    const ended = peer.call('subscriptions/listen', listen({ ticks: ['a', 'x'], other: true }), { progress: true })
    await expect.poll(() => peer.heard.length).toBe(2)
    await tick(1)
    expect(peer.heard.map(({ method, params }) => [method, params?.notifications ?? params?.n])).toEqual([
      ['notifications/subscriptions/acknowledged', { ticks: ['a'] }],
      ['notifications/tick', 0],
      ['notifications/tick', 1],
    ])
    expect(peer.heard[1]?.params?._meta).toMatchObject({ 'io.modelcontextprotocol/subscriptionId': expect.anything() })
    server.close()
    expect(await ended).toMatchObject({ resultType: 'complete' })
  })

  it('end with the stream', async () => {
    const log: string[] = []
    const { extension, tick } = ticks(log)
    const abort = new AbortController()
    const peer = await connect(create(extension), MODERN, {}, declaring)
    void peer.call('subscriptions/listen', listen({ ticks: ['a'] }), { progress: true, signal: abort.signal })
    await expect.poll(() => peer.heard.length).toBe(2)
    abort.abort()
    await expect.poll(() => log).toEqual(['closed'])
    await tick(1)
    expect(peer.heard).toHaveLength(2)
  })

  it('are refused without the declaration, and for an invalid value', async () => {
    const server = create(ticks().extension)
    const undeclared = await connect(server, MODERN, {}, {})
    expect(await undeclared.call('subscriptions/listen', listen({ ticks: 7 }))).toMatchObject({ code: -32021 })
    const declared = await connect(server, MODERN, {}, declaring)
    expect(await declared.call('subscriptions/listen', listen({ ticks: 7 }))).toMatchObject({
      code: -32602,
      message: expect.stringContaining('params.notifications.ticks: '),
    })
    const failed = await declared.call('subscriptions/listen', listen({ ticks: ['fail'] }))
    expect(failed).toMatchObject({ code: -32603, message: expect.not.stringContaining('secret') })
  })

  it('release their place in the limit when they are refused', async () => {
    const { extension } = ticks()
    const server = createServer(info, { extensions: [{ id: ID, ...extension }], limits: { listens: 1 } })
    const peer = await connect(server, MODERN, {}, declaring)
    for (let n = 0; n < 3; n++) {
      expect(await peer.call('subscriptions/listen', listen({ ticks: 7 }))).toMatchObject({ code: -32602 })
    }
  })

  it('send only listed notifications', async () => {
    let problem: unknown
    const server = create({
      subscriptions: {
        all: defineSubscription({ value: z.boolean() }, (_, { notify }) => {
          problem = notify('notifications/other', {}).catch((error) => error.message)
          return { acknowledged: true, close() {} }
        }),
      },
    })
    const peer = await connect(server, MODERN)
    void peer.call('subscriptions/listen', listen({ all: true }), { progress: true })
    await expect.poll(() => peer.heard.length).toBe(1)
    expect(await problem).toBe(`The extension ${ID} sent "notifications/other"; list it in its \`notifications\``)
  })
})

describe('the host of an extension', () => {
  const install = (server: Partial<Parameters<typeof createServer>[1]> = {}) => {
    let host: ExtensionHost | undefined
    const extension: ServerExtension = {
      id: ID,
      install(given) {
        host = given
        return undefined
      },
    }
    const created = createServer(info, { ...server, extensions: [extension] } as never)
    return { server: created, host: host as unknown as ExtensionHost }
  }

  it('seals data for one binding and one time', async () => {
    const { host } = install({ secrets: ['a secret of the test'] })
    const other = install({ secrets: ['a secret of the test'] }).host
    const sealed = await host.seal({ a: 1 }, 'b', 60_000)
    expect(await other.open(sealed, 'b')).toMatchObject({ a: 1 })
    await expect(other.open(sealed, 'c')).rejects.toThrow()
    await expect(host.open(await host.seal({ a: 1 }, 'b', 0), 'b')).rejects.toThrow()
  })

  it('runs requests with a context of its own through the middleware and the handler', async () => {
    const { server, host } = install()
    const log: unknown[] = []
    server.use(recording(log, 'middleware')).tool('t', {}, async (_, ctx) => {
      await ctx.progress(1, 2, 'half')
      const step = await ctx.step('s', () => ({ at: new Date(0) }))
      const { yes } = await ctx.ask({
        yes: { method: 'elicitation/create', params: { mode: 'url', message: 'm', url: 'https://a.example' } },
      })
      return `${JSON.stringify(step)} ${yes?.action} ${ctx.auth?.subject} ${ctx.client.supports(ID)}`
    })
    const request = { method: 'tools/call', params: { name: 't' } }
    const ctx = host.createContext({
      request,
      signal: new AbortController().signal,
      auth: { subject: 'ada', scopes: [] },
      client: { info: undefined, capabilities: { elicitation: { url: {} }, extensions: { [ID]: {} } } },
      async ask(key, { method }) {
        log.push(key, method)
        return { action: 'accept' }
      },
      step(key, run) {
        log.push(key)
        return run()
      },
      progress: (...progress) => void log.push(progress),
    })
    expect(await host.run(request, ctx)).toEqual({
      content: [{ type: 'text', text: '{"at":"1970-01-01T00:00:00.000Z"} accept ada true' }],
    })
    expect(log).toEqual(['middleware', [1, 2, 'half'], 's', 'yes', 'elicitation/create'])
  })

  it('asks again with another key if the content does not fit', async () => {
    const { server, host } = install()
    const schema = z.object({ n: z.number() })
    server.tool('t', {}, async (_, ctx) => JSON.stringify(await ctx.elicit('n', { message: 'Which?', schema })))
    const keys: string[] = []
    const ctx = host.createContext({
      request: { method: 'tools/call', params: {} },
      signal: new AbortController().signal,
      auth: undefined,
      client: { info: undefined, capabilities: { elicitation: {} } },
      ask: async (key) => ({ action: 'accept', content: { n: keys.push(key) === 1 ? 'x' : 7 } }),
      step: (_, run) => run(),
      progress() {},
    })
    const result = await host.run({ method: 'tools/call', params: { name: 't' } }, ctx)
    expect(result).toMatchObject({ content: [{ text: '{"action":"accept","content":{"n":7}}' }] })
    expect(keys).toEqual(['n', 'n#2'])
  })

  it('is notified when the server closes', () => {
    const { server, host } = install()
    expect(host.closing.aborted).toBe(false)
    server.close()
    expect(host.closing.aborted).toBe(true)
  })
})

describe('createServer refuses', () => {
  const run = () => ({})
  const at = `createServer, extensions, "${ID}"`
  it.each<[string, unknown, string]>([
    ['a value that is not a list', {}, 'createServer, extensions: expected an array, got object'],
    ['a value that is not an extension', [7], 'createServer, extensions: expected objects with an id, got number'],
    ['an invalid id', [{ id: 'greetings' }], 'expected an id such as "com.example/greetings", got "greetings"'],
    ['an id that is used twice', [{ id: ID }, { id: ID }], `two of them have the id "${ID}"; pass it once`],
    ['an unknown member', [{ id: ID, method: {} }], `${at}: there is no option "method"; did you mean "methods"?`],
    [
      'an unknown era',
      [{ id: ID, eras: ['old'] }],
      `${at}, eras: expected ["legacy"], ["modern"] or both, got ["old"]`,
    ],
    [
      'settings that are not an object',
      [{ id: ID, settings: true }],
      `${at}, settings: expected an object, got boolean`,
    ],
    ['an install that is not a function', [{ id: ID, install: {} }], `${at}, install: expected a function, got object`],
    ['a method of the protocol', [{ id: ID, methods: { 'tools/call': { run } } }], 'which belongs to the protocol'],
    [
      'a method without run',
      [{ id: ID, methods: { a: {} } }],
      `${at}, methods, "a", run: expected a function, got null`,
    ],
    [
      'a schema that is JSON Schema',
      [{ id: ID, methods: { a: { run, params: { type: 'object' } } } }],
      `${at}, methods, "a", params: expected a schema of zod or another library, got object`,
    ],
    [
      'a subscription without a schema',
      [{ id: ID, subscriptions: { a: { open: run } } }],
      `${at}, subscriptions, "a", value: expected a schema`,
    ],
    [
      'a notification of the protocol',
      [{ id: ID, notifications: ['notifications/message'] }],
      'belongs to the protocol',
    ],
    [
      'two extensions with one notification',
      [
        { id: ID, notifications: ['notifications/a'] },
        { id: 'com.example/b', notifications: ['notifications/a'] },
      ],
      'both have the notification "notifications/a"; remove one of them',
    ],
    [
      'notifications that are not names',
      [{ id: ID, notifications: [7] }],
      'notifications: expected a string, got number',
    ],
    ['an async install', [{ id: ID, install: async () => ({}) }], 'install: expected members, got a promise'],
    ['a result type of the protocol', [{ id: ID, resultTypes: { complete: [] } }], 'the result type "complete"'],
    ['an error code of the protocol', [{ id: ID, errorCodes: [-32021] }], 'the error code "-32021"'],
    [
      'a filter of the protocol',
      [{ id: ID, subscriptions: { toolsListChanged: {} } }],
      'the subscription "toolsListChanged"',
    ],
    [
      'two extensions with one method',
      [
        { id: ID, methods: { a: { run } } },
        { id: 'com.example/b', methods: { a: { run } } },
      ],
      '"com.example/b" and "com.example/greetings" both have the method "a"; remove one of them',
    ],
    [
      'an unknown member of install',
      [{ id: ID, install: () => ({ method: {} }) }],
      `${at}, install: there is no option`,
    ],
  ])('%s', (_, extensions, message) => {
    expect(() => createServer(info, { extensions: extensions as ServerExtension[] })).toThrow(message)
  })
})
